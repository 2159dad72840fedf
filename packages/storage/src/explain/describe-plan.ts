/**
 * `winningPlan`, `rejectedPlans` and `executionStages` of explain on a mongod, and the plan summary
 * of logs. Server: query/plan_explainer_impl.cpp. Manual page: reference/explain-results.
 */
import { BsonType, DocumentWriter, findField, type RawValue } from '@shardlab/bson'
import { formatDocument, formatValue, type Interval, type SortPattern } from '@shardlab/query'
import { inputsOf, stagesOf, type IndexEntry, type IndexScan, type PlanStage } from '../plans/plan-stage.js'
import type { QueryPlan } from '../plans/query-plan.js'
import { sortMemoryLimitBytes } from '../stages/sorter.js'
import { singlePointsOf } from '../stages/scan-range.js'
import type { Stage } from '../stages/stage.js'
import { expressOf, writeExpress, type ExplainStyle } from './describe-express.js'
import { describeFilter } from './describe-filter.js'

export function describePlan(root: PlanStage, style: ExplainStyle = {}): Uint8Array {
  const writer = new DocumentWriter(512)
  writeRoot(writer, root, null, style)
  return writer.finish()
}

export function describeExecution(root: Stage, style: ExplainStyle = {}): Uint8Array {
  const writer = new DocumentWriter(1024)
  writeRoot(writer, root.plan, root, style)
  return writer.finish()
}

/** The leaves of the plan: `IXSCAN { a: 1 }`, `COLLSCAN`, …. */
export function planSummary({ root }: QueryPlan, style: ExplainStyle = {}): string {
  const express = expressOf(root, null, style)
  if (express !== null) return `EXPRESS_IXSCAN ${express.keyPattern}`
  const leaves = [...stagesOf(root)].filter((stage) => inputsOf(stage).length === 0)
  return leaves
    .map((leaf) => ('scan' in leaf ? `${leaf.stage} ${formatDocument(leaf.scan.entry.keyPattern)}` : leaf.stage))
    .join(', ')
}

function writeRoot(writer: DocumentWriter, plan: PlanStage, run: Stage | null, style: ExplainStyle): void {
  if (style.isCached === true) writer.bool('isCached', false)
  const express = expressOf(plan, run, style)
  if (express === null) writeStage(writer, plan, run, style)
  else writeExpress(writer, express, run)
}

function writeStage(writer: DocumentWriter, plan: PlanStage, run: Stage | null, style: ExplainStyle): void {
  const invalidated = style.invalidated === true
  writer.string('stage', invalidated && plan.stage.startsWith('PROJECTION') ? 'PROJECTION' : plan.stage)
  if ('filter' in plan && plan.filter !== null) writer.document('filter', describeFilter(plan.filter.root))
  if (run !== null) writeCommon(writer, run, invalidated)
  if (invalidated && plan.stage === 'SORT') return writeOldSort(writer, plan, run, style)
  writeOwn(writer, plan, run)
  if (invalidated && plan.stage === 'IXSCAN' && run !== null) writer.int32('seenInvalidated', 0)
  const inputs = inputsOf(plan)
  const stageOf = (i: number): Stage | null => (run === null ? null : run.inputs[i]!)
  if (inputs.length === 1) {
    writer.startDocument('inputStage')
    writeStage(writer, inputs[0]!, stageOf(0), style)
    writer.end()
  } else if (inputs.length > 1) {
    writer.startArray('inputStages')
    inputs.forEach((input, i) => {
      writer.startDocument(String(i))
      writeStage(writer, input, stageOf(i), style)
      writer.end()
    })
    writer.end()
  }
}

/** Until 4.0 a stage of its own made the sort keys, with one unit of work before the first. */
function writeOldSort(
  writer: DocumentWriter,
  { sort, limit, input }: Extract<PlanStage, { stage: 'SORT' }>,
  run: Stage | null,
  style: ExplainStyle,
): void {
  const sorted = run === null ? null : run.inputs[0]!
  writer.document('sortPattern', sortDocument(sort))
  if (run !== null) {
    const counters = new Map(run.counters())
    writer.integer('memUsage', Number(counters.get('totalDataSizeSorted') ?? 0)).int32('memLimit', sortMemoryLimitBytes)
  }
  if (limit > 0) writer.integer('limitAmount', limit)
  writer.startDocument('inputStage').string('stage', 'SORT_KEY_GENERATOR')
  if (sorted !== null) writeCommon(writer, sorted, true, sorted.works + 1)
  writer.startDocument('inputStage')
  writeStage(writer, input, sorted, style)
  writer.end().end()
}

function writeCommon(writer: DocumentWriter, run: Stage, invalidated: boolean, works = run.works): void {
  const { rows, isEof } = run
  const needTime = Math.max(0, works - rows - (isEof ? 1 : 0))
  writer.int32('nReturned', rows).int32('executionTimeMillisEstimate', 0).int32('works', works).int32('advanced', rows)
  writer
    .int32('needTime', needTime)
    .int32('needYield', 0)
    .int32('saveState', 0)
    .int32('restoreState', 0)
    .int32('isEOF', isEof ? 1 : 0)
  if (invalidated) writer.int32('invalidates', 0)
}

function writeOwn(writer: DocumentWriter, plan: PlanStage, run: Stage | null): void {
  const counters = (): void => {
    for (const [name, value] of run?.counters() ?? []) {
      if (typeof value === 'boolean') writer.bool(name, value)
      else writer.integer(name, value)
    }
  }
  switch (plan.stage) {
    case 'COLLSCAN':
      writer.string('direction', plan.reverse ? 'backward' : 'forward')
      return counters()
    case 'COUNT_SCAN':
      counters()
      writeIndex(writer, plan.scan.entry)
      return writeCountBounds(writer, plan.scan)
    case 'IXSCAN':
    case 'DISTINCT_SCAN':
      writeIndex(writer, plan.scan.entry)
      writer.string('direction', plan.scan.reverse ? 'backward' : 'forward')
      writeBounds(writer, plan.scan)
      return counters()
    case 'SORT':
      writer.document('sortPattern', sortDocument(plan.sort)).int32('memLimit', sortMemoryLimitBytes)
      if (plan.limit > 0) writer.integer('limitAmount', plan.limit)
      writer.string('type', plan.simple ? 'simple' : 'default')
      return counters()
    case 'SORT_MERGE':
      writer.document('sortPattern', sortDocument(plan.sort))
      return counters()
    case 'SKIP':
      writer.integer('skipAmount', plan.amount)
      return
    case 'LIMIT':
      writer.integer('limitAmount', plan.amount)
      return
    case 'PROJECTION_COVERED':
    case 'PROJECTION_DEFAULT':
    case 'PROJECTION_SIMPLE':
      if (plan.projection.document !== undefined) writer.document('transformBy', plan.projection.document)
      return
    default:
      return counters()
  }
}

function sortDocument(sort: SortPattern): Uint8Array {
  const writer = new DocumentWriter(64)
  for (const { path, descending } of sort.parts) writer.int32(path.dotted, descending ? -1 : 1)
  return writer.finish()
}

function writeIndex(writer: DocumentWriter, entry: IndexEntry): void {
  const { index } = entry
  writer.document('keyPattern', entry.keyPattern).string('indexName', index.name)
  if (index.collation !== null) writer.document('collation', index.collation)
  writer.bool('isMultiKey', entry.multikey)
  if (!entry.pattern.some(({ direction }) => direction === 'hashed')) writeMultikeyPaths(writer, entry)
  writer
    .bool('isUnique', index.unique)
    .bool('isSparse', index.sparse)
    .bool('isPartial', index.partialFilter !== null)
    .int32('indexVersion', findField(index.spec, 'v')!.asNumber())
}

/** Indexes with a hashed field have none. */
function writeMultikeyPaths(writer: DocumentWriter, entry: IndexEntry): void {
  writer.startDocument('multiKeyPaths')
  entry.pattern.forEach(({ path }, i) => {
    const parts = path.split('.')
    writer.startArray(path)
    ;[...entry.multikeyPaths[i]!]
      .sort((a, b) => a - b)
      .forEach((component, j) => writer.string(String(j), parts.slice(0, component + 1).join('.')))
    writer.end()
  })
  writer.end()
}

function writeBounds(writer: DocumentWriter, { entry, bounds, reverse, between }: IndexScan): void {
  writer.startDocument('indexBounds')
  if (between !== null) {
    const keyOf = (values: readonly RawValue[]): Uint8Array => {
      const key = new DocumentWriter(64)
      entry.pattern.forEach(({ path }, i) => key.value(path, values[i]!))
      return key.finish()
    }
    writer
      .document(reverse ? 'endKey' : 'startKey', keyOf(between.min))
      .document(reverse ? 'startKey' : 'endKey', keyOf(between.max))
      .end()
    return
  }
  entry.pattern.forEach(({ path, direction }, i) => {
    const descends = (direction === -1) !== reverse
    const intervals = bounds.fields[i]!.intervals.map((interval) =>
      intervalText(interval, descends, entry.index.collation !== null),
    )
    writer.startArray(path)
    ;(descends ? intervals.reverse() : intervals).forEach((text, j) => writer.string(String(j), text))
    writer.end()
  })
  writer.end()
}

function writeCountBounds(writer: DocumentWriter, scan: IndexScan): void {
  const { start, startInclusive, end, endInclusive } = singlePointsOf(scan)
  const keyOf = (values: readonly RawValue[]): Uint8Array => {
    const key = new DocumentWriter(64)
    scan.entry.pattern.forEach(({ path }, i) => key.value(path, values[i]!))
    return key.finish()
  }
  writer.startDocument('indexBounds').document('startKey', keyOf(start)).bool('startKeyInclusive', startInclusive)
  writer.document('endKey', keyOf(end)).bool('endKeyInclusive', endInclusive).end()
}

function intervalText(
  { low, lowInclusive, high, highInclusive }: Interval,
  descends: boolean,
  collated: boolean,
): string {
  const [first, firstInclusive, last, lastInclusive] = descends
    ? [high, highInclusive, low, lowInclusive]
    : [low, lowInclusive, high, highInclusive]
  const text = (value: RawValue): string =>
    collated && value.type === BsonType.string
      ? `CollationKey(0x${Buffer.from(value.bytes.subarray(value.start + 4, value.end - 1)).toString('hex')})`
      : formatValue(value)
  return `${firstInclusive ? '[' : '('}${text(first)}, ${text(last)}${lastInclusive ? ']' : ')'}`
}

/**
 * Manual: reference/explain-results. Server: explain.cpp, generatePlannerInfo and
 * generateExecutionInfo.
 */
import { CommandError, DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import type { Filter, SortPattern } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import {
  allStages,
  describeExecution,
  describeFilter,
  describePlan,
  type Collection,
  type ExecuteOptions,
  type ExplainStyle,
  type PlanExecutor,
  type PlanTrial,
  type QueryPlan,
} from '@shardlab/storage'
import type { QuerySettings, Verbosity } from '@shardlab/member'
import { readWhile } from '../../cursors/resume-source.js'
import type { NodeHost, NodeInvocation } from '../../host/node-host.js'
import { newSlice } from '../new-slice.js'
import { PlanSource } from '../read-source.js'
import { planCacheKey, queryHash, type ShapeWithCollation } from './query-hash.js'

export interface ExplainedPlan {
  readonly ns: string
  readonly filter: Filter
  readonly sort: SortPattern | null
  readonly projection: Uint8Array | null
  /** With all fields; null: the simple collation */
  readonly collation: Uint8Array | null
  /** Null: the collection does not exist. */
  readonly collection: Collection | null
  readonly plan: QueryPlan | null
  readonly execute?: ExecuteOptions
  /** Called with each row's document; false: no further ones are read. Default: reads all rows. */
  readonly visit?: (document: Uint8Array) => boolean
  readonly executed?: ExecutedPlan
  /** Stage of a write above the plan. Default: none. */
  readonly above?: StageAbove
  /**
   * Lookups for which an emulated server with EXPRESS stages uses one: by `_id`, or also by another
   * unique value. Default: by `_id`.
   */
  readonly express?: 'none' | 'id' | 'equality'
}

export interface ExecutedPlan {
  readonly plan: QueryPlan
  readonly executor: PlanExecutor
  readonly durationMs: number
  /** Null: the plan ran to its end. */
  readonly failure: CommandError | null
}

/** A stage that `@shardlab/storage` does not have, above its plan. */
export interface StageAbove {
  readonly stage: string
  /** Name of the EXPRESS stage for a write by `_id`; absent: there is none. */
  readonly express?: string
  outcome(): { readonly returned: number; readonly counters: readonly (readonly [name: string, value: number])[] }
}

/** Fields `queryPlanner` and, unless the verbosity is `queryPlanner`, `executionStats`. */
export async function writePlanExplanation(
  writer: DocumentWriter,
  invocation: NodeInvocation,
  explained: ExplainedPlan,
  verbosity: Verbosity,
): Promise<DocumentWriter> {
  const { host, querySettings } = invocation
  writePlanner(writer, host, explained, querySettings)
  if (verbosity === 'queryPlanner') return writer
  return writeExecution(
    writer,
    host,
    explained,
    verbosity,
    explained.executed ?? (await execute(invocation, explained)),
  )
}

function writePlanner(
  writer: DocumentWriter,
  { behaviours }: NodeHost,
  explained: ExplainedPlan,
  querySettings: QuerySettings | undefined,
): void {
  const { ns, filter, collation, collection } = explained
  const { explainIsVersioned, explainShowsPlanCache } = behaviours
  writer.startDocument('queryPlanner')
  if (!explainIsVersioned) writer.int32('plannerVersion', 1)
  writer.string('namespace', ns)
  if (!explainShowsPlanCache) writer.bool('indexFilterSet', explained.plan?.isFiltered === true)
  writer.document('parsedQuery', describeFilter(filter.root))
  if (collation !== null) writer.document('collation', collation)
  if (querySettings !== undefined) writer.document('querySettings', querySettings.document)
  if (explainShowsPlanCache)
    writer.bool('indexFilterSet', querySettings === undefined && explained.plan?.isFiltered === true)
  if (collection !== null && behaviours.explainHasQueryHash) {
    const shape: ShapeWithCollation = {
      filter: filter.root,
      sort: explained.sort,
      projection: explained.projection,
      collation,
    }
    const hash = queryHash(shape)
    writer.string('queryHash', hash)
    if (explainShowsPlanCache) writer.string('planCacheShapeHash', hash)
    writer.string('planCacheKey', planCacheKey(shape, collection))
  }
  if (behaviours.explainTimesOptimization) writer.int32('optimizationTimeMillis', 0)
  if (explainIsVersioned) {
    writer
      .bool('maxIndexedOrSolutionsReached', false)
      .bool('maxIndexedAndSolutionsReached', false)
      .bool('maxScansToExplodeReached', false)
  }
  if (explainShowsPlanCache) writer.bool('prunedSimilarIndexes', false)
  const { above, plan } = explained
  const style = styleOf(behaviours, explained)
  writer.document(
    'winningPlan',
    withTop(behaviours, above, plan === null ? eofPlan(style) : describePlan(plan.root, style)),
  )
  // The stage of the write is above the MULTI_PLAN stage, so the candidates have none.
  const candidate = candidateStyle(behaviours)
  writer.documents('rejectedPlans', plan?.rejected.map((root) => describePlan(root, candidate)) ?? []).end()
}

function writeExecution(
  writer: DocumentWriter,
  { behaviours }: NodeHost,
  explained: ExplainedPlan,
  verbosity: Verbosity,
  executed: ExecutedPlan | null,
): DocumentWriter {
  const { above } = explained
  const failure = executed?.failure ?? null
  const stats = executed?.executor.stats
  const style = styleOf(behaviours, explained)
  const stages = executed === null ? eofPlan(style, true) : describeExecution(executed.executor.root, style)
  writer.startDocument('executionStats').bool('executionSuccess', failure === null)
  if (failure !== null) writer.string('errorMessage', failure.message).int32('errorCode', failure.code)
  writer
    .int32('nReturned', above === undefined ? (stats?.returned ?? 0) : above.outcome().returned)
    .int32('executionTimeMillis', executed?.durationMs ?? 0)
    .int32('totalKeysExamined', stats?.keysExamined ?? 0)
    .int32('totalDocsExamined', stats?.docsExamined ?? 0)
    .document('executionStages', withTop(behaviours, above, stages, true))
  if (verbosity === 'allPlansExecution') writer.documents('allPlansExecution', trialsOf(explained.plan, behaviours))
  return writer.end()
}

async function execute(invocation: NodeInvocation, explained: ExplainedPlan): Promise<ExecutedPlan | null> {
  const { plan, execute: options = {} } = explained
  if (plan === null) return null
  const { host } = invocation
  const startedMs = host.context.now()
  const source = new PlanSource(plan, { slice: newSlice(host), execute: options, host })
  const failure = await runOf(invocation, explained, source)
  return { plan, executor: source.executor, failure, durationMs: host.context.now() - startedMs }
}

/** As on the server, an operation that is killed or out of time explains what it has done. */
async function runOf(
  invocation: NodeInvocation,
  { visit }: ExplainedPlan,
  source: PlanSource,
): Promise<CommandError | null> {
  try {
    await readWhile(invocation, source, visit ?? (() => true))
    return null
  } catch (error) {
    if (error instanceof CommandError) return error
    throw error
  }
}

/**
 * Statistics of the candidates during their trial: the winner, then the others in the order of
 * `rejectedPlans`.
 */
function trialsOf(plan: QueryPlan | null, behaviours: Behaviours): Uint8Array[] {
  const [winner, ...others] = plan?.trials ?? []
  if (plan === null || winner === undefined) return []
  const rejected = plan.rejected.flatMap((root) => others.filter((trial) => trial.root.plan === root))
  return [winner, ...rejected].map((trial) => describeTrial(trial, behaviours))
}

function describeTrial({ root, score }: PlanTrial, behaviours: Behaviours): Uint8Array {
  const stages = [...allStages(root)]
  const sum = (count: 'keysExamined' | 'docsExamined'): number =>
    stages.reduce((total, stage) => total + stage[count], 0)
  const writer = new DocumentWriter(1024)
    .int32('nReturned', root.rows)
    .int32('executionTimeMillisEstimate', 0)
    .int32('totalKeysExamined', sum('keysExamined'))
    .int32('totalDocsExamined', sum('docsExamined'))
  if (behaviours.explainHasScores) writer.double('score', score)
  return writer.document('executionStages', describeExecution(root, candidateStyle(behaviours))).finish()
}

/**
 * Since 8.0 the top stage shows `isCached`, which is always false in an explain, and lookups by
 * `_id` have an EXPRESS stage.
 */
function styleOf(behaviours: Behaviours, { above, express = 'id' }: ExplainedPlan): ExplainStyle {
  const { expressPlans } = behaviours
  const style = candidateStyle(behaviours)
  if (above !== undefined)
    return expressPlans && above.express !== undefined ? { ...style, express: 'id' } : { ...style, isCached: false }
  return expressPlans && express !== 'none' ? { ...style, express } : style
}

function candidateStyle({ explainShowsPlanCache, explainStages }: Behaviours): ExplainStyle {
  return { isCached: explainShowsPlanCache, invalidated: explainStages === 'invalidated' }
}

function withTop(behaviours: Behaviours, above: StageAbove | undefined, input: Uint8Array, ran = false): Uint8Array {
  if (above === undefined) return input
  const { expressPlans, explainShowsPlanCache } = behaviours
  if (expressPlans && above.express !== undefined && findField(input, 'stage')?.asString() === 'EXPRESS_IXSCAN')
    return expressAbove(above.express, above, input, ran)
  const top = stageAbove(behaviours, above, input, ran)
  return explainShowsPlanCache ? new DocumentWriter(top.length + 16).bool('isCached', false).fields(top).finish() : top
}

/** One EXPRESS stage that reads and writes: the fields of the reading stage under another name. */
function expressAbove(stage: string, above: StageAbove, input: Uint8Array, ran: boolean): Uint8Array {
  const writer = new DocumentWriter(input.length + 128)
  const { returned, counters } = above.outcome()
  for (const it = new FieldIterator(input); it.next();) {
    const name = it.name()
    if (name === 'stage') writer.string(name, stage)
    else if (name === 'nReturned') writer.int32(name, returned)
    else writer.value(name, it.value())
  }
  if (!ran) return writer.finish()
  const count = (wanted: string): number => counters.find(([name]) => name === wanted)?.[1] ?? 0
  for (const name of ['nWouldModify', 'nWouldUpsert', 'nWouldDelete']) writer.int32(name, count(name))
  return writer.finish()
}

function stageAbove({ explainStages }: Behaviours, above: StageAbove, input: Uint8Array, ran: boolean): Uint8Array {
  const writer = new DocumentWriter(input.length + 256).string('stage', above.stage)
  if (ran) {
    const { returned, counters } = above.outcome()
    const works = findField(input, 'works')?.asNumber() ?? 0
    writer
      .int32('nReturned', returned)
      .int32('executionTimeMillisEstimate', 0)
      .int32('works', works)
      .int32('advanced', returned)
      .int32('needTime', Math.max(0, works - returned - 1))
      .int32('needYield', 0)
      .int32('saveState', 0)
      .int32('restoreState', 0)
      .int32('isEOF', 1)
    if (explainStages === 'invalidated') writer.int32('invalidates', 0)
    for (const [name, value] of counters) writer.int32(name, value)
  }
  return writer.document('inputStage', input).finish()
}

function eofPlan({ isCached, invalidated }: ExplainStyle, ran = false): Uint8Array {
  const writer = new DocumentWriter(256)
  if (isCached === true) writer.bool('isCached', false)
  writer.string('stage', 'EOF')
  if (!ran) return writer.finish()
  writer
    .int32('nReturned', 0)
    .int32('executionTimeMillisEstimate', 0)
    .int32('works', 1)
    .int32('advanced', 0)
    .int32('needTime', 0)
    .int32('needYield', 0)
    .int32('saveState', 0)
    .int32('restoreState', 0)
    .int32('isEOF', 1)
  if (invalidated === true) writer.int32('invalidates', 0)
  return writer.finish()
}

/** How a query will be answered, and how explain shows it. */
import { DocumentWriter, findField, type RawValue } from '@shardlab/bson'
import { formatValue, type Filter, type Interval, type KeyBounds, type SortPattern } from '@shardlab/query'
import type { ScanRange } from './index-ranges.js'
import type { Collection, Index } from './types.js'

/** A scan of one index over its ranges. */
export interface IndexScan {
  readonly index: Index
  readonly bounds: KeyBounds
  readonly ranges: readonly ScanRange[]
  readonly reverse: boolean
}

/** What makes rows out of documents; a compiled projection. */
export interface RowProjection {
  apply(document: Uint8Array): Uint8Array
}

/** Where the documents come from. */
export type PlanSource =
  | { readonly stage: 'EOF' }
  | { readonly stage: 'COLLSCAN'; readonly reverse: boolean }
  | { readonly stage: 'IDHACK'; readonly id: RawValue }
  | { readonly stage: 'IXSCAN'; readonly scan: IndexScan }
  | { readonly stage: 'OR'; readonly scans: readonly IndexScan[] }

/** One query on one collection, ready to be executed once or more. */
export interface QueryPlan {
  readonly collection: Collection
  readonly filter: Filter
  readonly source: PlanSource
  /** To be sorted by after the filter; null when the source is in order, or no order is wanted. */
  readonly sort: SortPattern | null
  readonly skip: number
  /** 0 = none. */
  readonly limit: number
  readonly projection: RowProjection | null
}

/**
 * The plan as a tree of stages, as explain's `winningPlan` on a mongod. `filter` is the query as it is to be shown
 * at the stage that filters; default: not shown.
 */
export function describePlan(
  plan: QueryPlan,
  options: { filter?: Uint8Array; sort?: Uint8Array; rowFilterStage?: string } = {},
): Uint8Array {
  const { source } = plan
  let stage: Uint8Array
  switch (source.stage) {
    case 'EOF':
      return new DocumentWriter(32).string('stage', 'EOF').finish()
    case 'COLLSCAN':
      stage = withFilter(new DocumentWriter().string('stage', 'COLLSCAN'), options.filter)
        .string('direction', source.reverse ? 'backward' : 'forward')
        .finish()
      break
    case 'IDHACK':
      stage = new DocumentWriter(32).string('stage', 'IDHACK').finish()
      break
    case 'IXSCAN':
      stage = withFilter(new DocumentWriter().string('stage', 'FETCH'), options.filter)
        .document('inputStage', describeScan(source.scan))
        .finish()
      break
    case 'OR': {
      const or = new DocumentWriter().string('stage', 'OR').documents('inputStages', source.scans.map(describeScan)).finish()
      stage = withFilter(new DocumentWriter().string('stage', 'FETCH'), options.filter).document('inputStage', or).finish()
    }
  }
  const wrap = (name: string, more: (writer: DocumentWriter) => unknown = () => undefined): void => {
    const writer = new DocumentWriter(stage.length + 128).string('stage', name)
    more(writer)
    stage = writer.document('inputStage', stage).finish()
  }
  if (options.rowFilterStage !== undefined) wrap(options.rowFilterStage)
  if (plan.sort !== null) {
    wrap('SORT', (writer) => {
      if (options.sort !== undefined) writer.document('sortPattern', options.sort)
      writer.int32('memLimit', 104_857_600)
      if (plan.limit > 0) writer.int32('limitAmount', plan.limit + plan.skip)
      writer.string('type', 'simple')
    })
  }
  if (plan.skip > 0) wrap('SKIP', (writer) => writer.int32('skipAmount', plan.skip))
  if (plan.limit > 0 && plan.sort === null) wrap('LIMIT', (writer) => writer.int32('limitAmount', plan.limit))
  if (plan.projection !== null) wrap('PROJECTION_DEFAULT')
  return stage
}

function withFilter(writer: DocumentWriter, filter: Uint8Array | undefined): DocumentWriter {
  return filter === undefined || filter.length <= 5 ? writer : writer.document('filter', filter)
}

function describeScan({ index, bounds, reverse }: IndexScan): Uint8Array {
  const writer = new DocumentWriter().string('stage', 'IXSCAN').document('keyPattern', index.key).string('indexName', index.name)
  writer.bool('isMultiKey', index.multikey).startDocument('multiKeyPaths')
  index.pattern.forEach(({ path }, i) => {
    const parts = path.split('.')
    writer.startArray(path)
    ;[...index.multikeyPaths[i]!]
      .sort((a, b) => a - b)
      .forEach((component, j) => writer.string(String(j), parts.slice(0, component + 1).join('.')))
    writer.end()
  })
  writer
    .end()
    .bool('isUnique', index.unique)
    .bool('isSparse', index.sparse)
    .bool('isPartial', index.partialFilter !== null)
  writer.int32('indexVersion', findField(index.spec, 'v')!.asNumber())
  writer.string('direction', reverse ? 'backward' : 'forward').startDocument('indexBounds')
  index.pattern.forEach(({ path, direction }, i) => {
    const descends = (direction === -1) !== reverse
    const intervals = bounds.fields[i]!.intervals.map((interval) => intervalText(interval, descends))
    writer.startArray(path)
    ;(descends ? intervals.reverse() : intervals).forEach((text, j) => writer.string(String(j), text))
    writer.end()
  })
  return writer.end().finish()
}

function intervalText({ low, lowInclusive, high, highInclusive }: Interval, descends: boolean): string {
  const [first, firstInclusive, last, lastInclusive] = descends
    ? [high, highInclusive, low, lowInclusive]
    : [low, lowInclusive, high, highInclusive]
  return `${firstInclusive ? '[' : '('}${formatValue(first)}, ${formatValue(last)}${lastInclusive ? ']' : ')'}`
}

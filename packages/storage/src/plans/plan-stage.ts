/** Server: query/query_solution.h, exec/. Manual page: reference/explain-results. */
import type { RawValue } from '@shardlab/bson'
import type { Filter, KeyBounds, KeyPattern, SortPattern } from '@shardlab/query'
import type { MultikeyPaths } from '../indexes/index-keys.js'
import type { Index } from '../engine/types.js'

/** An index as one query uses it: a wildcard index counts as an index on one path of the query. */
export interface IndexEntry {
  readonly index: Index
  /** `$_path` and the path for a wildcard index. */
  readonly pattern: KeyPattern
  readonly keyPattern: Uint8Array
  readonly multikeyPaths: MultikeyPaths
  readonly multikey: boolean
  readonly wildcardPath: string | null
}

export interface IndexScan {
  readonly entry: IndexEntry
  /** Over labels if the index has a collation. */
  readonly bounds: KeyBounds
  readonly reverse: boolean
  /**
   * Replaces the bounds for the options `min` and `max`: keys at or above `min` and below `max`.
   * Null: use the bounds.
   */
  readonly between: { readonly min: readonly RawValue[]; readonly max: readonly RawValue[] } | null
}

/** Whether the scan may return a record more than once. */
export function mayRepeat({ entry, bounds }: IndexScan): boolean {
  return entry.multikey || (entry.wildcardPath !== null && bounds.fields[0]!.intervals.length > 1)
}

/** A compiled projection. */
export interface RowProjection {
  /** The specification as the client sent it. Without it no index can cover the projection. */
  readonly document?: Uint8Array
  apply(document: Uint8Array): Uint8Array
}

export interface ShardFilter {
  /** Of the shard key. An index that has all its fields identifies orphans without documents. */
  readonly pattern: KeyPattern
  /** Whether an index may have the hash of a field instead. */
  readonly hashesCover: boolean
  owns(document: Uint8Array): boolean
}

export type ProjectionStage = 'PROJECTION_SIMPLE' | 'PROJECTION_COVERED' | 'PROJECTION_DEFAULT'

export type PlanStage =
  | { readonly stage: 'EOF' }
  | {
      readonly stage: 'COLLSCAN'
      readonly filter: Filter | null
      readonly reverse: boolean
      readonly after: number | null
    }
  | { readonly stage: 'IDHACK'; readonly id: RawValue }
  | { readonly stage: 'IXSCAN'; readonly scan: IndexScan; readonly filter: Filter | null }
  | { readonly stage: 'FETCH'; readonly filter: Filter | null; readonly input: PlanStage }
  | { readonly stage: 'OR'; readonly inputs: readonly PlanStage[] }
  | {
      readonly stage: 'SORT_MERGE'
      readonly sort: SortPattern
      readonly dedup: boolean
      readonly inputs: readonly PlanStage[]
    }
  | { readonly stage: 'SHARDING_FILTER'; readonly shardFilter: ShardFilter; readonly input: PlanStage }
  | {
      readonly stage: 'SORT'
      readonly sort: SortPattern
      readonly limit: number
      readonly simple: boolean
      readonly input: PlanStage
    }
  | { readonly stage: 'SKIP'; readonly amount: number; readonly input: PlanStage }
  | { readonly stage: 'LIMIT'; readonly amount: number; readonly input: PlanStage }
  | { readonly stage: ProjectionStage; readonly projection: RowProjection; readonly input: PlanStage }
  | { readonly stage: 'RETURN_KEY'; readonly input: PlanStage }
  | { readonly stage: 'COUNT'; readonly skip: number; readonly limit: number; readonly input: PlanStage }
  | { readonly stage: 'COUNT_SCAN'; readonly scan: IndexScan }
  | { readonly stage: 'RECORD_STORE_FAST_COUNT'; readonly skip: number; readonly limit: number }
  | {
      readonly stage: 'DISTINCT_SCAN'
      readonly scan: IndexScan
      readonly fieldCount: number
      readonly shardFilter: ShardFilter | null
    }

export function inputsOf(stage: PlanStage): readonly PlanStage[] {
  if ('inputs' in stage) return stage.inputs
  return 'input' in stage ? [stage.input] : []
}

/** In preorder. */
export function stagesOf(stage: PlanStage): PlanStage[] {
  const stages: PlanStage[] = []
  const add = (each: PlanStage): void => {
    stages.push(each)
    if ('input' in each) add(each.input)
    else if ('inputs' in each) each.inputs.forEach(add)
  }
  add(stage)
  return stages
}

/** False: the rows are only index keys. Server: `QuerySolutionNode::fetched`. */
export function isFetched(stage: PlanStage): boolean {
  switch (stage.stage) {
    case 'IXSCAN':
    case 'COUNT_SCAN':
    case 'DISTINCT_SCAN':
      return false
    default: {
      const inputs = inputsOf(stage)
      return stage.stage === 'FETCH' || inputs.every(isFetched)
    }
  }
}

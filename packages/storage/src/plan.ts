/**
 * How a query will be answered: a tree of stages with the server's names. Server: query/query_solution.h, exec/.
 * Manual page: reference/explain-results.
 */
import type { RawValue } from '@shardlab/bson'
import type { Filter, KeyBounds, KeyPattern, SortPattern } from '@shardlab/query'
import type { MultikeyPaths } from './index-keys.js'
import type { Stage } from './stages/stage.js'
import type { Collection, Index } from './types.js'

/** An index as one query sees it: a wildcard index stands for one path of the query. */
export interface IndexEntry {
  readonly index: Index
  /** The fields of the keys; `$_path` and the path for a wildcard index. */
  readonly pattern: KeyPattern
  readonly keyPattern: Uint8Array
  readonly multikeyPaths: MultikeyPaths
  readonly multikey: boolean
  /** Null when the index is no wildcard index. */
  readonly wildcardPath: string | null
}

/** A scan of one index. */
export interface IndexScan {
  readonly entry: IndexEntry
  /** Over labels when the index has a collation. */
  readonly bounds: KeyBounds
  readonly reverse: boolean
  /** Instead of the bounds: keys from the first on and below the second, as the options `min` and `max` say. */
  readonly between: { readonly min: readonly RawValue[]; readonly max: readonly RawValue[] } | null
}

/** May the scan meet a record more than once? */
export function mayRepeat({ entry, bounds }: IndexScan): boolean {
  return entry.multikey || (entry.wildcardPath !== null && bounds.fields[0]!.intervals.length > 1)
}

/** What makes rows out of documents; a compiled projection. */
export interface RowProjection {
  /** The specification, as it came; without it no index can cover the projection. */
  readonly document?: Uint8Array
  apply(document: Uint8Array): Uint8Array
}

/** Which documents of a sharded collection the shard owns. */
export interface ShardFilter {
  /** Paths of the shard key: where an index has them all, orphans are found without their documents. */
  readonly paths: readonly string[]
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

/** One query on one collection, ready to be executed once or more. */
export interface QueryPlan {
  readonly collection: Collection
  readonly filter: Filter
  readonly root: PlanStage
  /** The query's collation. */
  readonly strings: Filter['strings']
  /** The other candidates, as explain's `rejectedPlans` tells of them. */
  readonly rejected: readonly PlanStage[]
  /** How the candidates did while they were tried, the winner first; none when there was one candidate. For `allPlansExecution`. */
  readonly trials: readonly PlanTrial[]
}

/** What one candidate did before the best was chosen. */
export interface PlanTrial {
  /** Its stages, with what they counted. */
  readonly root: Stage
  readonly score: number
}

/** The inputs of a stage; none for those that read. */
export function inputsOf(stage: PlanStage): readonly PlanStage[] {
  if ('inputs' in stage) return stage.inputs
  return 'input' in stage ? [stage.input] : []
}

/** The stage and all below it, from the top. */
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

/** Does the tree have documents, or only index keys? Server: `QuerySolutionNode::fetched`. */
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

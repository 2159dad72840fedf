/** What a planner is asked. */
import type { StringComparator } from '@shardlab/bson'
import type { Filter, SortPattern } from '@shardlab/query'
import type { RowProjection, ShardFilter } from '../plan.js'

export interface QueryRequest {
  readonly filter: Filter
  readonly sort?: SortPattern
  /** Name or key pattern of an index, or `{ $natural: ±1 }`. */
  readonly hint?: string | Uint8Array
  /** Default 0. */
  readonly skip?: number
  /** Default 0: no limit. */
  readonly limit?: number
  /** With its `document` an index may cover the query; rows then come in the order of the index's fields. */
  readonly projection?: RowProjection
  /** First key of the hinted index: all fields of its key pattern in their order. Manual page: method/cursor.min. */
  readonly min?: Uint8Array
  /** First key behind the range. Manual page: method/cursor.max. */
  readonly max?: Uint8Array
  /** Rows are index keys, `{}` where no index was used; the projection is passed over. Default false. */
  readonly returnKey?: boolean
  /**
   * Orphans do not exist for this query. Plans of a sharded collection show a SHARDING_FILTER and are ranked with it; the `rowFilter` of
   * `executePlan` filters too, unseen.
   */
  readonly shardFilter?: ShardFilter
  /** A tailable cursor: only a forward collection scan will do, from the record behind this id; 0 for all of them. */
  readonly after?: number
  /** The query's collation, when it is not simple; the filter's by default. */
  readonly strings?: StringComparator
}

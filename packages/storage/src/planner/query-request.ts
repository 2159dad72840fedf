/** The input of the planner. */
import type { StringComparator } from '@shardlab/bson'
import type { Filter, SortPattern } from '@shardlab/query'
import type { RowProjection, ShardFilter } from '../plans/plan-stage.js'

export interface QueryRequest {
  readonly filter: Filter
  readonly sort?: SortPattern
  /** Name or key pattern of an index, or `{ $natural: ±1 }`. */
  readonly hint?: string | Uint8Array
  /** Default 0. */
  readonly skip?: number
  /** Default 0: no limit. */
  readonly limit?: number
  /**
   * With its `document` an index may cover the query; the fields of rows are then in the order of
   * the index.
   */
  readonly projection?: RowProjection
  /**
   * First key of the hinted index: all fields of its key pattern in their order. Manual page:
   * method/cursor.min.
   */
  readonly min?: Uint8Array
  /** First key after the range. Manual page: method/cursor.max. */
  readonly max?: Uint8Array
  /** Rows are index keys, `{}` if no index was used; the projection is ignored. Default false. */
  readonly returnKey?: boolean
  /**
   * Excludes orphans from this query. Plans of a sharded collection show a SHARDING_FILTER and are
   * ranked with it; the `rowFilter` of `executePlan` filters without showing in plans.
   */
  readonly shardFilter?: ShardFilter
  /**
   * For a tailable cursor: a forward collection scan from the record after this id; 0: all records.
   */
  readonly after?: number
  /** The query's collation, if it is not simple. Default: the filter's. */
  readonly strings?: StringComparator
}

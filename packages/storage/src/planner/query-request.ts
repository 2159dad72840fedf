import type { StringComparator } from '@shardlab/bson'
import type { Filter, SortPattern } from '@shardlab/query'
import type { RowProjection, ShardFilter } from '../plans/plan-stage.js'

/**
 * The first index with the fields of `min` and `max`; `ordered`: in which `min` is not after `max`.
 */
export type BoundsFindTheirIndex = 'compatible' | 'ordered'

export interface QueryRequest {
  readonly filter: Filter
  readonly sort?: SortPattern
  /** Name or key pattern of an index, or `{ $natural: ±1 }`. */
  readonly hint?: string | Uint8Array
  /**
   * By query settings: the only indexes, by name or key pattern, and scans, as `{ $natural: ±1 }`.
   * `hint` and index filters are ignored unless no plan can use them. Default: no restriction.
   */
  readonly allowed?: readonly (string | Uint8Array)[]
  /** Default 0. */
  readonly skip?: number
  /** Default 0: unlimited. */
  readonly limit?: number
  /**
   * An index can cover the query only if this has a `document`. Rows then have fields in the order
   * of the index.
   */
  readonly projection?: RowProjection
  /**
   * First key of the hinted index, with all fields of its key pattern in their order. Manual page:
   * method/cursor.min.
   */
  readonly min?: Uint8Array
  /** Without a hint, `min` and `max` select such an index. Default: they need a hint. */
  readonly boundsFindTheirIndex?: BoundsFindTheirIndex
  /** First key after the range. Manual page: method/cursor.max. */
  readonly max?: Uint8Array
  /** Rows are index keys, `{}` without an index; the projection is ignored. Default false. */
  readonly returnKey?: boolean
  /**
   * Excludes orphans. Plans of a sharded collection show a SHARDING_FILTER and are ranked with it;
   * the `rowFilter` of `executePlan` does not show in plans.
   */
  readonly shardFilter?: ShardFilter
  /** For a tailable cursor: a forward collection scan after this record id; 0: all records. */
  readonly after?: number
  /** The collation, unless it is simple. Default: the filter's. */
  readonly strings?: StringComparator
}

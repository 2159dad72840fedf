import type { RawValue, StringComparator } from '@shardlab/bson'

/**
 * What evaluation may know of the world. Query code has no clock and no dice of its own: the caller's actor
 * context gives them.
 */
export interface EvaluationContext {
  /** Milliseconds since the epoch: `$$NOW`, `$currentDate`. */
  readonly nowMs: number
  /** A number in [0, 1): `$rand`. */
  random(): number
  /** The command's `let`. */
  readonly variables?: ReadonlyMap<string, RawValue>
  /** The collation's comparison of strings; absent = by bytes. */
  readonly strings?: StringComparator
  /** Twelve bytes for a new ObjectId. */
  newObjectId?(): Uint8Array
  /** Cluster time for `$currentDate` with type timestamp and for `$$CLUSTER_TIME`; absent = `nowMs` in seconds, increment 1. */
  clusterTime?(): readonly [seconds: number, increment: number]
}

/** How far a row of one of the operator tables is built. */
export type OperatorStatus = 'complete' | 'partial'

/** What every operator table tells about its rows. */
export interface OperatorRow {
  readonly name: string
  /** Page of the MongoDB manual, below `reference/operator` unless it says more. */
  readonly manualPage: string
  readonly status: OperatorStatus
  /** What is missing, for `partial` rows. */
  readonly note?: string
}

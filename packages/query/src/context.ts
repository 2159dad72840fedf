import { nullValue, type RawValue, type StringComparator } from '@shardlab/bson'

/**
 * What evaluation may know of the world. Query code has no clock and no dice of its own: the caller's actor
 * context gives them.
 */
export interface EvaluationContext {
  /** Milliseconds since the epoch: `$$NOW`, `$currentDate`. */
  readonly nowMs: number
  /** A number in [0, 1): `$rand`. */
  random(): number
  /** The command's `let`; a value that came to nothing is `undefined`. */
  readonly variables?: ReadonlyMap<string, RawValue | undefined>
  /** The collation's comparison of strings; absent = by bytes. */
  readonly strings?: StringComparator
  /** The release whose language is spoken, such as 5.2: operators and stages that are newer are unknown. Absent = the newest. */
  readonly languageVersion?: number
  /** The old type undefined equals null in predicates, as before 8.0. Default false. */
  readonly undefinedMatchesNull?: boolean
  /** Twelve bytes for a new ObjectId. */
  newObjectId?(): Uint8Array
  /** Cluster time for `$currentDate` with type timestamp and for `$$CLUSTER_TIME`; absent = `nowMs` in seconds, increment 1. */
  clusterTime?(): readonly [seconds: number, increment: number]
}

/** Stands in `variables` for a variable whose value is not known yet: expressions that use it can be compiled, to see whether they are valid. */
export const unboundVariable: RawValue = nullValue.detached()

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
  /** First release that has it, such as 5.2; absent = every emulated one. */
  readonly since?: number
}

/** Does the emulated release have this operator? */
export function isKnown(row: OperatorRow | undefined, context: EvaluationContext): row is OperatorRow {
  return row !== undefined && (row.since ?? 0) <= (context.languageVersion ?? Infinity)
}

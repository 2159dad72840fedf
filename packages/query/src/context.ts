import { CommandError, nullValue, type RawValue, type StringComparator } from '@shardlab/bson'

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
  /** The release whose language is spoken, such as 5.2: operators that are newer are unknown. Absent = the newest. */
  readonly languageVersion?: number
  /** Refuse operators and stages whose results silently lack something that the server's have. Default false. */
  readonly strict?: boolean
  /** The old type undefined equals null in predicates, as before 8.0. Default false. */
  readonly undefinedMatchesNull?: boolean
  /** Which comparisons within `$expr` tell a router where documents can be. Absent = all, as from 5.0 on. */
  readonly exprComparisonsGiveBounds?: 'none' | 'equality' | 'all'
  /** `$in` with an empty list is known to match nothing before any bounds are looked for, as from 8.0 on. Default true. */
  readonly emptyInIsFalse?: boolean
  /** Asked for each document that is looked at; throws what is to end the work, such as MaxTimeMSExpired. Absent = nothing ends it. */
  readonly checkForInterrupt?: () => void
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
  /** `complete`: neither {@link missing} nor {@link lacks}. */
  readonly status: OperatorStatus
  /** What is refused with an error when it is asked for, one phrase. */
  readonly missing?: string
  /** What the result silently has less of than the server's, one phrase. Refused where evaluation is strict. */
  readonly lacks?: string
  /** First release that has it, such as 5.2; absent = every emulated one. */
  readonly since?: number
}

/**
 * The row of an operator; undefined: the emulated release has none of this name.
 * @throws CommandError 115 CommandNotSupported in strict evaluation, when the row lacks something
 */
export function findOperator<R extends OperatorRow>(
  table: ReadonlyMap<string, R>,
  name: string,
  { languageVersion, strict }: Pick<EvaluationContext, 'languageVersion' | 'strict'>,
): R | undefined {
  const row = table.get(name)
  if (row === undefined || (row.since ?? 0) > (languageVersion ?? Infinity)) return undefined
  if (strict === true && row.lacks !== undefined)
    throw new CommandError('CommandNotSupported', `${name} is refused in strict mode, as it lacks ${row.lacks}`)
  return row
}

import { CommandError, nullValue, type RawValue, type StringComparator } from '@shardlab/bson'

/**
 * The inputs of evaluation from outside. Query code has no clock and no random numbers of its own;
 * the caller takes them from its actor context.
 */
export interface EvaluationContext {
  /** Milliseconds since the epoch, for `$$NOW` and `$currentDate`. */
  readonly nowMs: number
  /** A number in [0, 1), for `$rand`. */
  random(): number
  /** The command's `let`; a missing value is `undefined`. */
  readonly variables?: ReadonlyMap<string, RawValue | undefined>
  /** The collation's string comparison. Absent: by bytes. */
  readonly strings?: StringComparator
  /** The emulated release, such as 5.2: newer operators are unknown. Absent: the newest. */
  readonly languageVersion?: number
  /**
   * Refuse operators and stages whose results silently lack something compared with the server's.
   * Default false.
   */
  readonly strict?: boolean
  /** Undefined equals null in predicates, as before 8.0. Default false. */
  readonly undefinedMatchesNull?: boolean
  /** Which comparisons in `$expr` give bounds for targeting. Absent: all, as since 5.0. */
  readonly exprComparisonsGiveBounds?: 'none' | 'equality' | 'all'
  /**
   * An `$in` with an empty list is recognized as matching nothing before bounds are built, as since
   * 8.0. Default true.
   */
  readonly emptyInIsFalse?: boolean
  /**
   * Called for each document that is examined. Throws to abort the work, for example with
   * MaxTimeMSExpired. Absent: the work cannot be aborted.
   */
  readonly checkForInterrupt?: () => void
  /** Twelve bytes for a new ObjectId. */
  newObjectId?(): Uint8Array
  /**
   * Cluster time for `$currentDate` with type timestamp and for `$$CLUSTER_TIME`. Absent: `nowMs`
   * in seconds, increment 1.
   */
  clusterTime?(): readonly [seconds: number, increment: number]
}

/**
 * The value in `variables` of a variable that is not known yet. Expressions that use it can be
 * compiled to check that they are valid.
 */
export const unboundVariable: RawValue = nullValue.detached()

/** Whether a row of an operator table is fully implemented. */
export type OperatorStatus = 'complete' | 'partial'

/** The columns that all operator tables have. */
export interface OperatorRow {
  readonly name: string
  /**
   * Page of the MongoDB manual, relative to `reference/operator` unless it contains a folder of its
   * own.
   */
  readonly manualPage: string
  /** `complete`: neither {@link missing} nor {@link lacks}. */
  readonly status: OperatorStatus
  /** Uses that are refused with an error, as one phrase. */
  readonly missing?: string
  /**
   * Content that the result silently lacks compared with the server's, as one phrase. Refused in
   * strict evaluation.
   */
  readonly lacks?: string
  /** The first release that has it, such as 5.2. Absent: every emulated release. */
  readonly since?: number
}

/**
 * The row of an operator; undefined: the emulated release has no operator of this name.
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

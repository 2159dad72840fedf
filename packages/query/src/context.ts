import { CommandError, nullValue, type RawValue, type StringComparator } from '@shardlab/bson'
import { newestLanguage, type FeatureKind, type Language } from './language/language.js'

/**
 * Query code has no clock and no random numbers of its own: an actor passes those of its context.
 */
export interface EvaluationContext {
  /** Milliseconds since 1970, for `$$NOW` and `$currentDate`: the same during a command. */
  readonly now: () => number
  /**
   * `$$NOW` and `$$CLUSTER_TIME` are known and have no value: 51144 when evaluated. Default false.
   */
  readonly lacksRuntimeConstants?: boolean
  /** In [0, 1), for `$rand`. */
  random(): number
  /** The command's `let`; a missing value is `undefined`. */
  readonly variables?: ReadonlyMap<string, RawValue | undefined>
  /** The collation's string comparison. Absent: by bytes. */
  readonly strings?: StringComparator
  /** Of the emulated release. Absent: of the newest. */
  readonly language?: Language
  /** Refuse operators and stages whose results silently lack something. Default false. */
  readonly strict?: boolean
  /** Names that start with $ can be stored, as since 5.0. Default true. */
  readonly dollarFieldsCanBeStored?: boolean
  /**
   * Receives the error of an expression that is constant and fails; the expression then fails when
   * it is evaluated. Absent: the compilation fails.
   */
  readonly onFoldError?: (error: CommandError) => void
  /** Undefined equals null in predicates, as before 8.0. Default false. */
  readonly undefinedMatchesNull?: boolean
  /** For targeting. Absent: all, as since 5.0. */
  readonly exprComparisonsGiveBounds?: 'none' | 'equality' | 'all'
  /**
   * An `$in` with an empty list is known to match nothing before bounds are built. Default true, as
   * since 8.0.
   */
  readonly emptyInIsFalse?: boolean
  /**
   * Called for each document that is examined, and now and then during long work on one. Throws to
   * abort the work, for example with MaxTimeMSExpired.
   */
  readonly checkForInterrupt?: () => void
  newObjectId?(): Uint8Array
  /**
   * For `$currentDate` with type timestamp and for `$$CLUSTER_TIME`. Absent: `now()` in seconds,
   * increment 1.
   */
  clusterTime?(): readonly [seconds: number, increment: number]
}

/** @throws CommandError the error, when nothing receives it */
export function reportFoldError({ onFoldError }: Pick<EvaluationContext, 'onFoldError'>, error: CommandError): void {
  if (onFoldError === undefined) throw error
  onFoldError(error)
}

/** For what the server only parses: a constant that fails does so when it is evaluated. */
export function withoutOptimization(context: EvaluationContext): EvaluationContext {
  return { ...context, onFoldError: () => {} }
}

/**
 * Marks a variable without a value yet. Expressions that use it can be compiled, which checks them.
 */
export const unboundVariable: RawValue = nullValue.detached()

export type OperatorStatus = 'complete' | 'partial'

export interface OperatorRow {
  readonly name: string
  /** Relative to `reference/operator` unless it contains a folder of its own. */
  readonly manualPage: string
  /** `complete`: no {@link missing}, {@link lacks} or {@link deviations}. */
  readonly status: OperatorStatus
  /** Uses that are refused with an error, as one phrase. */
  readonly missing?: string
  /**
   * Content that the result silently lacks compared with the server's, as one phrase. Refused in
   * strict evaluation.
   */
  readonly lacks?: string
  /** Numbers in docs/reference/deviations.md, such as D302. */
  readonly deviations?: readonly string[]
}

/** The row of an operator whose results differ from the server's. */
export const deviating = <R extends OperatorRow>(row: R, ...deviations: readonly string[]): R => ({
  ...row,
  status: 'partial',
  deviations,
})

/**
 * Undefined: the emulated release has no operator of this name.
 * @throws CommandError 115 CommandNotSupported in strict evaluation, when the row lacks something
 */
export function findOperator<R extends OperatorRow>(
  kind: FeatureKind,
  table: ReadonlyMap<string, R>,
  name: string,
  { language, strict }: Pick<EvaluationContext, 'language' | 'strict'>,
): R | undefined {
  const row = table.get(name)
  if (row === undefined || !(language ?? newestLanguage).has(kind, name)) return undefined
  if (strict === true && row.lacks !== undefined)
    throw new CommandError('CommandNotSupported', `${name} is refused in strict mode, as it lacks ${row.lacks}`)
  return row
}

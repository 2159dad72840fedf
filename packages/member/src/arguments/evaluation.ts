import type { CommandArguments } from '@shardlab/actor'
import { isEmptyDocument } from '@shardlab/bson'
import { compileCollation, letVariables, type EvaluationContext } from '@shardlab/query'
import type { RunningOperation } from '../operations/running-operation.js'

export interface EvaluationHost {
  evaluation(): EvaluationContext
}

/**
 * @param args arguments of a command or of one statement; `collation` and `let` are read
 * @param defaultCollation of the collection, used when the command has none
 * @throws CommandError the errors of {@link compileCollation} and {@link letVariables}
 */
export function evaluationOf(
  host: EvaluationHost,
  args: CommandArguments,
  defaultCollation: Uint8Array | null = null,
): EvaluationContext {
  return withLet(withCollation(host.evaluation(), args.document('collation'), defaultCollation), args.document('let'))
}

/** An empty or absent collation selects the collection's. */
export function withCollation(
  context: EvaluationContext,
  collation: Uint8Array | undefined,
  defaultCollation: Uint8Array | null,
): EvaluationContext {
  const effective = collation === undefined || isEmptyDocument(collation) ? defaultCollation : collation
  const compiled = effective === null ? null : compileCollation(effective)
  return compiled === null ? context : { ...context, strings: compiled.compare }
}

export function withTimeLimit(
  context: EvaluationContext,
  { timeLimit }: Pick<RunningOperation, 'timeLimit'>,
): EvaluationContext {
  return timeLimit === null ? context : { ...context, checkForInterrupt: () => timeLimit.check() }
}

export function withLet(context: EvaluationContext, variables: Uint8Array | undefined): EvaluationContext {
  return variables === undefined ? context : { ...context, variables: letVariables(variables, context) }
}

/** @throws CommandError the errors of {@link letVariables} */
export function writeEvaluation(host: EvaluationHost, args: CommandArguments): EvaluationContext {
  return withLet(host.evaluation(), args.document('let'))
}

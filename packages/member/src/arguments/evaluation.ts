/** What a command's expressions see and how its strings compare: `let` and `collation`. */
import type { CommandArguments } from '@shardlab/actor'
import { isEmptyDocument } from '@shardlab/bson'
import { compileCollation, letVariables, type EvaluationContext } from '@shardlab/query'
import type { RunningOperation } from '../operations/running-operation.js'

/** Whoever gives evaluation its clock and dice: a storage node, a router. */
export interface EvaluationHost {
  evaluation(): EvaluationContext
}

/**
 * @param args a command's arguments, or those of one statement: `collation` and `let` are read
 * @param defaultCollation the collection's own, which holds when the command names none
 * @throws CommandError what {@link compileCollation} and {@link letVariables} throw
 */
export function evaluationOf(
  host: EvaluationHost,
  args: CommandArguments,
  defaultCollation: Uint8Array | null = null,
): EvaluationContext {
  return withLet(withCollation(host.evaluation(), args.document('collation'), defaultCollation), args.document('let'))
}

/** The context under the collation of an operation; an empty or absent one stands for the collection's. */
export function withCollation(
  context: EvaluationContext,
  collation: Uint8Array | undefined,
  defaultCollation: Uint8Array | null,
): EvaluationContext {
  const effective = collation === undefined || isEmptyDocument(collation) ? defaultCollation : collation
  const compiled = effective === null ? null : compileCollation(effective)
  return compiled === null ? context : { ...context, strings: compiled.compare }
}

/** The context under the time limit of the operation that uses it. */
export function withTimeLimit(
  context: EvaluationContext,
  { timeLimit }: Pick<RunningOperation, 'timeLimit'>,
): EvaluationContext {
  return timeLimit === null ? context : { ...context, checkForInterrupt: () => timeLimit.check() }
}

/** The context with further variables. */
export function withLet(context: EvaluationContext, variables: Uint8Array | undefined): EvaluationContext {
  return variables === undefined ? context : { ...context, variables: letVariables(variables, context) }
}

/** What the expressions of a write command see. @throws CommandError 40415 where the emulated version has no `let`, and those of `let` */
export function writeEvaluation(host: EvaluationHost, args: CommandArguments): EvaluationContext {
  return withLet(host.evaluation(), args.document('let'))
}

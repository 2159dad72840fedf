/** The `let` of commands: constants that expressions see as `$$name`. Server: `Variables::seedVariablesWithLetParameters`. */
import { emptyDocument, FieldIterator, type RawValue } from '@shardlab/bson'
import type { EvaluationContext } from '../context.js'
import { compileExpression } from './expressions/compile.js'

/**
 * Evaluates the fields of a `let` (or of an update's `c`); later ones see earlier ones. Missing values are left out.
 * @throws CommandError what compiling or evaluating the expressions throws
 */
export function letVariables(document: Uint8Array, context: EvaluationContext): ReadonlyMap<string, RawValue> {
  const variables = new Map(context.variables)
  for (const it = new FieldIterator(document); it.next();) {
    const value = compileExpression(it.value(), { ...context, variables }).evaluateOn(emptyDocument)
    if (value !== undefined) variables.set(it.name(), value.detached())
  }
  return variables
}

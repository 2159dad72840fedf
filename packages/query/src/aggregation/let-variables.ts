/** The `let` of commands. Server: `Variables::seedVariablesWithLetParameters`. */
import { CommandError, emptyDocument, FieldIterator, type RawValue } from '@shardlab/bson'
import type { EvaluationContext } from '../context.js'
import { compileExpression } from './expressions/compile.js'
import { checkVariableName } from './expressions/variable-name.js'

/** The server sets these itself; only members of the cluster may send them. */
const systemVariables = new Set(['NOW', 'CLUSTER_TIME', 'JS_SCOPE', 'IS_MR', 'USER_ROLES'])

/**
 * For a `let` or an update's `c`; later fields see earlier ones. A missing value is `undefined`.
 * @throws CommandError 4890500 for an expression that reads the document, 4738901 for a system
 *   variable, FailedToParse (9) for a bad name, and the errors of the expressions
 */
export function letVariables(
  document: Uint8Array,
  context: EvaluationContext,
): ReadonlyMap<string, RawValue | undefined> {
  const variables = new Map(context.variables)
  for (const it = new FieldIterator(document); it.next();) {
    const name = it.name()
    checkName(name)
    const expression = compileExpression(it.value(), { ...context, variables })
    if (expression.readsDocument)
      throw new CommandError(
        4890500,
        'Command let Expression tried to access a field, but this is not allowed becauseCommand let Expressions run before the query examines any documents.',
      )
    variables.set(name, expression.evaluateOn(emptyDocument)?.detached())
  }
  return variables
}

function checkName(name: string): void {
  if (systemVariables.has(name)) throw new CommandError(4738901, `Attempt to set internal constant: ${name}`)
  try {
    checkVariableName(name)
  } catch (error) {
    throw error instanceof CommandError
      ? new CommandError(error.code, `Invalid 'let' parameter :: caused by :: ${error.message}`)
      : error
  }
}

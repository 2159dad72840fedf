import { CommandError } from '@shardlab/bson'
import type { EvaluationContext } from '../context.js'
import { newestLanguage } from '../language/language.js'

/**
 * The error of a query that could not be parsed, with the code and text that older servers put
 * around it.
 */
export function wrappedError(
  error: unknown,
  { language = newestLanguage }: Pick<EvaluationContext, 'language'>,
  code: number,
  text: string,
): unknown {
  if (language.filterErrors === 'plain' || !(error instanceof CommandError)) return error
  // An assertion of the server passes through.
  if (error.codeName.startsWith('Location')) return error
  return new CommandError(code, `${text}: ${error.codeName} ${error.message}`, { cause: error })
}

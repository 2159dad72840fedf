import { CommandError } from '@shardlab/bson'

/** A CommandError with `context` before its message; any other error is returned unchanged. */
export function withContext(error: unknown, context: string): unknown {
  if (!(error instanceof CommandError)) return error
  const { code, message, errorLabels, extra } = error
  return new CommandError(code, `${context} :: caused by :: ${message}`, { errorLabels, extra })
}

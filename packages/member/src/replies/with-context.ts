import { CommandError } from '@shardlab/bson'

export function withContext(error: unknown, context: string): unknown {
  if (!(error instanceof CommandError)) return error
  const { code, message, errorLabels, extra } = error
  return new CommandError(code, `${context} :: caused by :: ${message}`, { errorLabels, extra })
}

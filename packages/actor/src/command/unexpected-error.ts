import { CommandError } from '@shardlab/bson'
import type { ActorContext } from '../contract/context.js'
import { StepFailedError } from '../contract/errors.js'

/**
 * The error that a client gets. An unexpected exception is a defect of this program: it is logged
 * with its stack and answered with InternalError (1), and the member keeps running. That is safe
 * because each change is applied completely or not at all.
 */
export function commandErrorOf(error: unknown, command: string, context: Pick<ActorContext, 'log'>): CommandError {
  if (error instanceof CommandError) return error
  if (error instanceof StepFailedError) return new CommandError('OperationFailed', error.message)
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  context.log('error', `${command} failed unexpectedly`, { error: message, stack: stack ?? '' })
  return new CommandError('InternalError', message)
}

import { CommandError } from '@shardlab/bson'
import type { ActorContext } from '../contract/context.js'
import { StepFailedError } from '../contract/errors.js'

/**
 * What a command failed with, as the client hears it. An error that no command should end with is a defect of this program: it is logged with
 * its stack and answered with InternalError (1), so that the member lives on; changes are applied one by one, each wholly or not at all.
 */
export function commandErrorOf(error: unknown, command: string, context: Pick<ActorContext, 'log'>): CommandError {
  if (error instanceof CommandError) return error
  if (error instanceof StepFailedError) return new CommandError('OperationFailed', error.message)
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  context.log('error', `${command} failed unexpectedly`, { error: message, stack: stack ?? '' })
  return new CommandError('InternalError', message)
}

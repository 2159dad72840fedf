import { isRequestFailure, StepFailedError } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'

/**
 * What a retry does not change. A fault that makes a step fail is for the client to see.
 * @throws the error itself if a retry may help
 */
export function finalFailure(error: unknown): CommandError | StepFailedError {
  if (error instanceof StepFailedError || (error instanceof CommandError && !isRequestFailure(error))) return error
  throw error
}

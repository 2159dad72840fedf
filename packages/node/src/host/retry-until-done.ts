import { isRequestFailure, RequestFailedError, StepFailedError, type ActorContext } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { NodeHost } from './node-host.js'

const retryPauseMs = 250

/**
 * Repeats work that is already committed while members are unreachable or a fault makes a step
 * fail.
 * @param isTransient whether another error of the work is worth a retry; default: none
 * @throws RequestFailedError only when this member shuts down; other errors of the work
 */
export function retryUntilDone<T>(
  node: NodeHost,
  work: () => Promise<T>,
  isTransient: (error: CommandError) => boolean = none,
): Promise<T> {
  return work().catch((error: unknown) => again(node, work, isTransient, error))
}

async function again<T>(
  { context, stopping }: NodeHost,
  work: () => Promise<T>,
  isTransient: (error: CommandError) => boolean,
  failure: unknown,
): Promise<T> {
  for (let error = failure; ;) {
    if (!isInterruption(error) && !(error instanceof CommandError && isTransient(error))) throw error
    await context.sleep(retryPauseMs, stopping.signal)
    try {
      return await work()
    } catch (next) {
      error = next
    }
  }
}

/** Ignores a fault that makes the step fail, because committed work must continue. */
export function reachIgnoringFault(
  context: ActorContext,
  step: string,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  return context.reach(step, details).catch(unlessStepFailed)
}

function unlessStepFailed(error: unknown): void {
  if (!(error instanceof StepFailedError)) throw error
}

function isInterruption(error: unknown): boolean {
  if (error instanceof RequestFailedError) return error.reason !== 'cancelled'
  return error instanceof StepFailedError || (error instanceof CommandError && isRequestFailure(error))
}

function none(): boolean {
  return false
}

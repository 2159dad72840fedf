/** How work that is decided goes on, whoever is away and whatever a fault makes fail. */
import { RequestFailedError, StepFailedError, type ActorContext } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { NodeHost } from './node-host.js'

/** Pause before the next attempt. */
const retryPauseMs = 250

/** Repeats the work until nobody is in its way. @throws RequestFailedError only when this member shuts down; other errors of the work */
export function untilDone<T>(node: NodeHost, work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => again(node, work, error))
}

async function again<T>({ context, stopping }: NodeHost, work: () => Promise<T>, failure: unknown): Promise<T> {
  for (let error = failure; ;) {
    if (!isPassing(error)) throw error
    await context.sleep(retryPauseMs, stopping.signal)
    try {
      return await work()
    } catch (next) {
      error = next
    }
  }
}

/** Passes a named step, and ignores a fault that makes it fail. */
export function reachAnyway(
  context: ActorContext,
  step: string,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  return context.reach(step, details).catch(unlessStepFailed)
}

function unlessStepFailed(error: unknown): void {
  if (!(error instanceof StepFailedError)) throw error
}

/** Does it say that a member is away, or that a fault has broken something off? */
function isPassing(error: unknown): boolean {
  if (error instanceof RequestFailedError) return error.reason !== 'cancelled'
  return (
    error instanceof StepFailedError || (error instanceof CommandError && error.code === failedToSatisfyReadPreference)
  )
}

const failedToSatisfyReadPreference = 133

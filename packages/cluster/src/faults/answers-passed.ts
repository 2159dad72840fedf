import { RequestFailedError, type Address } from '@shardlab/actor'
import type { Runtime } from '@shardlab/runtime'

const timeoutMs = 1000

/** Of no client, so the member has nothing to do. */
const connectionId = 0

/**
 * Resolves when the member has passed on, to its clients, what was sent to it before: it takes
 * messages in order. At the latest after two seconds, or when the member is down.
 */
export async function answersPassed(runtime: Runtime, member: Address): Promise<void> {
  // The first request may travel with the answer, the second one follows it.
  for (let i = 0; i < 2; i++) {
    try {
      await runtime.background.request(member, 'client.disconnected', { connectionId }, { timeoutMs })
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      return
    }
  }
}

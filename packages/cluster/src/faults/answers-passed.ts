import { RequestFailedError, type Address, type RequestOf } from '@shardlab/actor'
import { encode } from '@shardlab/bson'
import type { Runtime } from '@shardlab/runtime'

const timeoutMs = 1000

const ping: RequestOf<'client.command'> = {
  connectionId: 0,
  body: encode({ ping: 1, $db: 'admin' }),
  sequences: [],
  legacy: false,
  remote: 'cluster',
}

/**
 * Resolves when the member has passed on, to its clients, what was sent to it before: it takes
 * messages in order. At the latest after a second, or when the member is down.
 */
export async function answersPassed(runtime: Runtime, member: Address): Promise<void> {
  // The first one may travel with the answer, the second one follows it.
  for (let i = 0; i < 2; i++) {
    try {
      await runtime.background.request(member, 'client.command', ping, { timeoutMs })
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      return
    }
  }
}

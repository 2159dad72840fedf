/** Many conversations with one server, several at a time. */
import { createRandom } from '@shardlab/actor'
import { conversationOf, HostileClient } from './conversation.js'
import { kinds } from './kinds/all.js'

const clients = 8
const findingsMax = 30

export interface Campaign {
  readonly endpoints: readonly string[]
  readonly seed: string
  /** The number of messages. */
  readonly total: number
  /** Called with the number of messages so far. */
  readonly onProgress?: (sent: number) => void
}

export interface CampaignResult {
  readonly sent: number
  /** How many messages of each kind there were. */
  readonly counts: ReadonlyMap<string, number>
  /** Each with the seed that repeats it. */
  readonly findings: readonly string[]
}

export async function attack({ endpoints, seed, total, onProgress }: Campaign): Promise<CampaignResult> {
  const counts = new Map<string, number>()
  const findings: string[] = []
  let sent = 0
  let next = 0
  const converse = async (endpoint: string): Promise<void> => {
    let client: HostileClient | null = null
    while (sent < total && findings.length < findingsMax) {
      const number = next++
      // A seed of its own, so that each conversation can be repeated alone.
      const random = createRandom(`${seed} ${number}`)
      // Rare kinds are sent in short campaigns, too.
      const conversation = conversationOf(random, kinds[number])
      sent += conversation.names.length
      for (const name of conversation.names) counts.set(name, (counts.get(name) ?? 0) + 1)
      client ??= await HostileClient.connect(endpoint)
      const wrong = await client.have(conversation, random)
      if (wrong !== null) findings.push(`conversation ${number} [${conversation.names.join(', ')}]: ${wrong}`)
      if (wrong !== null || conversation.end !== 'open') {
        client.close()
        client = null
      }
      onProgress?.(sent)
    }
    client?.close()
  }
  await Promise.all(Array.from({ length: clients }, (_, i) => converse(endpoints[i % endpoints.length]!)))
  return { sent, counts, findings }
}

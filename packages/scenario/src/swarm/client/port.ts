import { RequestFailedError, type Address } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import { createClient } from '../../client/index.js'
import type { Timeline } from '../timeline/timeline.js'
import { nameOf } from './errors.js'

/** null: the outcome is unknown. */
export type Reply = Document | null

export interface SwarmPort {
  readonly routers: readonly Address[]
  /**
   * Sends a command once to a member; `to` null: to any mongos, with a driver's retry. Virtual time
   * passes until the reply.
   */
  run(command: Document, to: Address | null): Promise<Reply>
  wait(ms: number): Promise<void>
}

/** Short, because a mongos may be down. */
const serverSelectionTimeoutMs = 1000
/**
 * Commands notice failures of a mongos; frequent heartbeats would only slow down runs of many
 * hours.
 */
const heartbeatMs = 3_600_000

interface Observed {
  /** Unanswered commands as texts. */
  readonly waiting: Set<string>
  readonly timeline: Timeline | null
}

export function connect(cluster: SimulatedCluster, name: string, { waiting, timeline }: Observed): SwarmPort {
  const { mongos } = cluster
  const client = createClient(cluster, { serverSelectionTimeoutMs, heartbeatMs })
  let sent = 0
  const viaRouter = async (command: Document, to: Address | null): Promise<Reply> =>
    (await cluster.during(client.run(command, to === null ? {} : { to, retryable: false }))).reply
  const directly = async (command: Document, to: Address): Promise<Reply> => {
    try {
      return decode(await cluster.command(encode(command), { to }), { promoteLongs: true })
    } catch (error) {
      if (error instanceof RequestFailedError) return null
      throw error
    }
  }
  return {
    routers: mongos,
    async run(command, to) {
      const what = `${name}, ${++sent}, to ${to ?? 'any mongos'}: ${nameOf(command)}`
      waiting.add(what)
      const answered = timeline?.command(name, command, to)
      try {
        const reply = await (to === null || mongos.includes(to) ? viaRouter(command, to) : directly(command, to))
        answered?.(reply)
        return reply
      } finally {
        waiting.delete(what)
      }
    },
    wait: (ms) => cluster.advance(ms),
  }
}

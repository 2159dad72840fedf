/** How clients of a swarm reach its cluster. */
import { RequestFailedError, type Address } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import { createClient } from '../../client/index.js'
import { nameOf } from './errors.js'

/** A reply, or null: nobody knows what became of the command. */
export type Reply = Document | null

export interface SwarmPort {
  /** The mongoses. */
  readonly routers: readonly Address[]
  /**
   * Sends a command to a member, once; null: to any mongos, and once more when a driver would. Time
   * passes until it is answered.
   */
  run(command: Document, to: Address | null): Promise<Reply>
  /** Lets that many virtual milliseconds pass. */
  wait(ms: number): Promise<void>
}

/** Nobody waits long for a mongos that is down. */
const serverSelectionTimeoutMs = 1000
/** A mongos that goes away is noticed all the same; runs let hours pass. */
const heartbeatMs = 3_600_000

/**
 * A client of its own on the network. `waiting`: what has been sent and not been answered, in
 * words.
 */
export function connect(cluster: SimulatedCluster, name: string, waiting: Set<string>): SwarmPort {
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
      try {
        return await (to === null || mongos.includes(to) ? viaRouter(command, to) : directly(command, to))
      } finally {
        waiting.delete(what)
      }
    },
    wait: (ms) => cluster.advance(ms),
  }
}

/** How clients of a swarm reach its cluster. */
import { RequestFailedError, type Address } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import { nameOf } from './errors.js'

/** A reply, or null: nobody knows what became of the command. */
export type Reply = Document | null

export interface SwarmPort {
  /** The mongoses. */
  readonly routers: readonly Address[]
  /** Sends a command to a member, once; time passes until it is answered. */
  run(command: Document, to: Address): Promise<Reply>
  /** Lets that many virtual milliseconds pass. */
  wait(ms: number): Promise<void>
}

/** A connection of its own to each member. `waiting`: what has been sent and not been answered, in words. */
export function connect(cluster: SimulatedCluster, connectionId: number, waiting: Set<string>): SwarmPort {
  let sent = 0
  return {
    routers: cluster.mongos,
    async run(command, to) {
      const what = `${connectionId}.${++sent} to ${to}: ${nameOf(command)}`
      waiting.add(what)
      try {
        return decode(await cluster.command(encode(command), { to, connectionId }), { promoteLongs: true })
      } catch (error) {
        if (error instanceof RequestFailedError) return null
        throw error
      } finally {
        waiting.delete(what)
      }
    },
    wait: (ms) => cluster.advance(ms),
  }
}

import { RequestFailedError, type Address } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import { LoginError, type Login, type SimulatedCluster } from '@shardlab/cluster'
import { createClient } from '../../client/index.js'
import type { ReplicaSets } from '../../sets/replica-sets.js'
import type { Timeline } from '../timeline/timeline.js'
import type { DirectConnections } from './direct-connections.js'
import { nameOf } from './errors.js'
import { MajoritySession } from './majority-session.js'

/** null: the outcome is unknown. */
export type Reply = Document | null

export interface SwarmPort {
  readonly routers: readonly Address[]
  /**
   * Sends a command once to a member or to the primary of a set; `to` null: to any mongos, with a
   * driver's retry. Virtual time passes until the reply.
   */
  run(command: Document, to: Address | null): Promise<Reply>
  wait(ms: number): Promise<void>
}

/** Short, because a mongos may be down. */
const serverSelectionTimeoutMs = 1000
/**
 * Commands notice most failures of a mongos; more frequent heartbeats would only slow down runs of
 * many hours. After a heartbeat a client continues that was cut off from its routers, or that a
 * router of 4.4 told that a shard is not primary: until then it does not ask that router again.
 */
const heartbeatMs = 30_000

interface Surroundings {
  readonly cluster: SimulatedCluster
  readonly direct: DirectConnections
  readonly sets: ReplicaSets
  /** Unanswered commands as texts. */
  readonly waiting: Set<string>
  readonly timeline: Timeline | null
}

export function connect(world: Surroundings, name: string, login: Login | null): SwarmPort {
  const { cluster, direct, sets, waiting, timeline } = world
  const { mongos } = cluster
  const session = sets.areSeveral ? new MajoritySession() : null
  const client = createClient(cluster, {
    serverSelectionTimeoutMs,
    heartbeatMs,
    ...(login === null ? {} : { login }),
  })
  let sent = 0
  const viaRouter = async (command: Document, to: Address | null): Promise<Reply> =>
    (await cluster.during(client.run(command, to === null ? {} : { to, retryable: false }))).reply
  const directly = async (command: Document, to: Address): Promise<Reply> => {
    const member = sets.isSet(to) ? await sets.primaryOf(to) : to
    if (member === null) return null
    try {
      return await direct.run(command, member)
    } catch (error) {
      if (error instanceof RequestFailedError || error instanceof LoginError) return null
      throw error
    }
  }
  return {
    routers: mongos,
    async run(plain, to) {
      const command = session?.withConcerns(plain) ?? plain
      const what = `${name}, ${++sent}, to ${to ?? 'any mongos'}: ${nameOf(command)}`
      waiting.add(what)
      const answered = timeline?.command(name, command, to)
      try {
        const reply = await (to === null || mongos.includes(to) ? viaRouter(command, to) : directly(command, to))
        answered?.(reply)
        if (reply !== null) session?.learn(reply)
        return reply
      } finally {
        waiting.delete(what)
      }
    },
    wait: (ms) => cluster.advance(ms),
  }
}

/** Clusters on every runtime for the table of faults: commands and replies are documents. */
import { RequestFailedError } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import {
  createSimulatedCluster,
  ShardedCluster,
  type ClusterOptions,
  type Faults,
  type MemberInfo,
} from '@shardlab/cluster'
import { RawClient } from '../support/raw-client.js'
import { hasNats, liveOptions, type LiveRuntime } from './live-options.js'

export interface FaultWorld {
  readonly name: string
  readonly faults: Faults
  members(): MemberInfo[]
  /**
   * Sends a command to the router, or to another member. null: the connection broke before the
   * answer.
   */
  ask(command: Document, to?: string): Promise<Document | null>
  stop(): Promise<void>
}

/** Short timeouts, so that the whole table takes a few seconds. */
const options = {
  shards: 3,
  seed: 7,
  findReplicaSetHostTimeoutMs: 40,
  networkTimeoutMs: 40,
  serverTimings: true,
} satisfies ClusterOptions

export const faultWorlds: Readonly<Record<string, () => Promise<FaultWorld>>> = {
  threads: () => startLive('threads'),
  inline: () => startLive('inline'),
  simulated: startSimulated,
  ...(hasNats ? { nats: () => startLive('nats') } : {}),
}

async function startLive(runtime: LiveRuntime): Promise<FaultWorld> {
  const live = await liveOptions(runtime)
  const cluster = await ShardedCluster.start({ ...options, ...live.options })
  const clients = new Map<string, RawClient>()
  const close = (member: string): void => {
    clients.get(member)?.close()
    clients.delete(member)
  }
  return {
    name: runtime,
    faults: cluster.faults,
    members: () => cluster.members(),
    async ask(command, to = 'mongos01') {
      try {
        const endpoint = cluster.members().find(({ address }) => address === to)!.endpoint
        if (!clients.has(to)) clients.set(to, await RawClient.connect(endpoint))
        return await clients.get(to)!.command(command)
      } catch {
        close(to)
        return null
      }
    },
    async stop() {
      for (const member of [...clients.keys()]) close(member)
      await cluster.stop()
      await live.close()
    },
  }
}

async function startSimulated(): Promise<FaultWorld> {
  const cluster = await createSimulatedCluster(options)
  return {
    name: 'simulated',
    faults: cluster.faults,
    members: () => cluster.members(),
    async ask(command, to = 'mongos01') {
      try {
        return decode(await cluster.command(encode(command), { to }), { promoteLongs: true })
      } catch (error) {
        if (error instanceof RequestFailedError) return null
        throw error
      }
    },
    stop: () => cluster.stop(),
  }
}

/** One interface to the three runtimes: commands and replies as bytes. */
import { createSimulatedCluster, ShardedCluster, type ClusterOptions, type MemberInfo } from '@shardlab/cluster'
import { RawClient } from '../support/raw-client.js'
import { hasNats, liveOptions, type LiveRuntime } from './live-options.js'

export type Sequences = readonly (readonly [string, readonly Uint8Array[]])[]

export interface World {
  readonly name: string
  /** Sends a command to a member that clients can reach, on one connection per member. */
  command(to: string, body: Uint8Array, sequences: Sequences): Promise<Uint8Array>
  members(): MemberInfo[]
  crash(member: string): Promise<void>
  restart(member: string): Promise<void>
  stop(): Promise<void>
}

/** The same options and seed for every runtime, so that random values are equal too. */
const options = {
  shards: 3,
  seed: 20,
  findReplicaSetHostTimeoutMs: 200,
  serverTimings: true,
  emulate: '8.0',
} satisfies ClusterOptions

export const worlds: Readonly<Record<string, () => Promise<World>>> = {
  threads: () => startLive('threads'),
  inline: () => startLive('inline'),
  simulated: startSimulated,
  ...(hasNats ? { nats: () => startLive('nats') } : {}),
}

async function startLive(runtime: LiveRuntime): Promise<World> {
  const live = await liveOptions(runtime)
  const cluster = await ShardedCluster.start({ ...options, ...live.options })
  const clients = new Map<string, RawClient>()
  const clientOf = async (member: string): Promise<RawClient> => {
    const known = clients.get(member)
    if (known !== undefined) return known
    const client = await RawClient.connect(cluster.members().find(({ address }) => address === member)!.endpoint)
    clients.set(member, client)
    return client
  }
  return {
    name: runtime,
    command: async (to, body, sequences) => (await clientOf(to)).commandBytes(body, sequences),
    members: () => cluster.members(),
    async crash(member) {
      clients.get(member)?.close()
      clients.delete(member)
      await cluster.crash(member)
    },
    restart: (member) => cluster.restart(member),
    async stop() {
      for (const client of clients.values()) client.close()
      await cluster.stop()
      await live.close()
    },
  }
}

async function startSimulated(): Promise<World> {
  const cluster = await createSimulatedCluster(options)
  return {
    name: 'simulated',
    command: (to, body, sequences) => cluster.command(body, { to, sequences }),
    members: () => cluster.members(),
    crash: (member) => cluster.crash(member),
    restart: (member) => cluster.restart(member),
    stop: () => cluster.stop(),
  }
}

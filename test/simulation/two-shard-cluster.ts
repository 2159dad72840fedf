/** A simulated cluster with documents on two shards, for tests of faults. */
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster, type SimulatedClusterOptions } from '@shardlab/cluster'
import type { Test } from 'tap'
import { anyMembers } from '../support/members.js'

export const ns = 'app.things'

export async function ask(cluster: SimulatedCluster, command: Document, to = 'mongos01'): Promise<Document> {
  return decode(await cluster.command(encode({ ...command, $db: command['$db'] ?? 'app' }), { to }), {
    promoteLongs: true,
  })
}

export const admin = (cluster: SimulatedCluster, command: Document, to = 'mongos01') =>
  ask(cluster, { ...command, $db: 'admin' }, to)

/** Two shards; keys below 0 on the first, others on the second. */
export async function start(t: Test, options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
  const cluster = await createSimulatedCluster({ seed: 1, shards: 2, mongos: 2, ...anyMembers, ...options })
  t.teardown(() => cluster.stop())
  for (const command of [
    { enableSharding: 'app', primaryShard: 'shard01' },
    { shardCollection: ns, key: { x: 1 } },
    { split: ns, middle: { x: 0 } },
    { moveChunk: ns, find: { x: 1 }, to: 'shard02', _waitForDelete: true },
    // The commands of the balancer are new in 3.4.
    ...(options.emulate === '2.6' ? [] : [{ balancerStop: 1 }]),
  ])
    t.match(await admin(cluster, command), { ok: 1 })
  t.match(await ask(cluster, { insert: 'things', documents: [-2, -1, 1, 2].map((x) => ({ _id: x, x })) }), { n: 4 })
  return cluster
}

export const find = (cluster: SimulatedCluster, x: number, to = 'mongos01') =>
  ask(cluster, { find: 'things', filter: { x } }, to)
export const insert = (cluster: SimulatedCluster, x: number, rest: Document = {}, to = 'mongos01') =>
  ask(cluster, { insert: 'things', documents: [{ _id: x, x }], ...rest }, to)

export async function tookMs(cluster: SimulatedCluster, work: () => Promise<unknown>): Promise<number> {
  const began = cluster.now()
  await work()
  return cluster.now() - began
}

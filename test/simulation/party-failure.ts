/**
 * How a party of an operation fails: its only member, or the primary of its replica set, which
 * another member then replaces.
 */
import type { Random } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster, type SimulatedClusterOptions } from '@shardlab/cluster'
import { memberDifferences, ReplicaSets } from '@shardlab/scenario'

export type PartyFailure = 'restart' | 'failover' | 'step-down'

/** With sets of three, for failures that need them. Orphans are then deleted without a delay. */
export async function createClusterFor(
  failure: PartyFailure | null,
  options: SimulatedClusterOptions,
): Promise<SimulatedCluster> {
  if (failure !== 'failover' && failure !== 'step-down') return createSimulatedCluster(options)
  const cluster = await createSimulatedCluster({ ...options, members: 3, serverTimings: false })
  await setOnShards(cluster, { orphanCleanupDelaySecs: 0 })
  return cluster
}

export const twoShardsFor = (failure: PartyFailure, seed: number): Promise<SimulatedCluster> =>
  createClusterFor(failure, { seed, shards: 2, emulate: '8.0', findReplicaSetHostTimeoutMs: 1000 })

export async function setOnShards(cluster: SimulatedCluster, parameters: Document): Promise<void> {
  for (const to of cluster.shards.flatMap((shard) => cluster.membersOf(shard)))
    await cluster.command(encode({ setParameter: 1, ...parameters, $db: 'admin' }), { to })
}

/** Longer than an election. */
const electionMs = 6000

/** @param heal releases the step at which a member is held */
export async function failParty(
  cluster: SimulatedCluster,
  party: string,
  failure: PartyFailure,
  random: Random,
  heal: () => Promise<void>,
): Promise<void> {
  const member = failure === 'restart' ? party : await primaryOf(cluster, party)
  if (failure === 'step-down') await cluster.faults.apply(`step down ${member} for ${electionMs}ms`)
  else await cluster.crash(member)
  await heal()
  if (failure === 'step-down') return
  await cluster.advance(failure === 'restart' ? random.fraction() * 300 : electionMs)
  // A slow disk lengthens the time in which the member does not know what its majority has.
  if (random.chance(1, 2)) await cluster.faults.apply(`slow disk of ${member} by 30ms for 500ms`)
  await cluster.restart(member)
}

export async function primaryOf(cluster: SimulatedCluster, set: string): Promise<string> {
  const primary = await new ReplicaSets(cluster).primaryOf(set)
  if (primary === null) throw new Error(`${set} has no primary`)
  return primary
}

/** All documents that are stored on a shard. */
export async function storedOn(
  cluster: SimulatedCluster,
  shard: string,
  db: string,
  collection: string,
): Promise<Document[]> {
  const to = await primaryOf(cluster, shard)
  const reply = decode(await cluster.command(encode({ find: collection, batchSize: 10_000, $db: db }), { to }))
  return reply['cursor']['firstBatch'] as Document[]
}

/** One sentence for each difference between members of a set after they have come to rest. */
export async function differencesInSets(cluster: SimulatedCluster): Promise<string[]> {
  const sets = new ReplicaSets(cluster)
  const wrong = await sets.settle()
  if (wrong.length > 0) return wrong
  for (const set of sets.names)
    for (const { sentence } of await memberDifferences(cluster, set, sets.membersOf(set))) wrong.push(sentence)
  return wrong
}

/** The operations of the control port, one row each; the OpenAPI description follows from them. */
import { OptionError, type ShardedCluster } from '@shardlab/cluster'
import { z } from 'zod'
import type { ControlledCluster, ControlledClusters } from './controlled-clusters.js'

export interface Operation {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** `{cluster}` and `{id}` stand for one part. */
  readonly path: string
  /** In OpenAPI: operationId. */
  readonly name: string
  readonly summary: string
  /** Of the body, with GET of the query. Null: the operation has no parameters. */
  readonly input: z.ZodObject | null
  /** What to send, for errors. Only of operations with parameters. */
  readonly example?: string
  readonly run: (call: Call) => Promise<unknown>
}

export interface Call {
  readonly clusters: ControlledClusters
  /** The cluster of the path. */
  readonly target: ControlledCluster
  readonly clusterId: string
  /** The part `{id}` of the path. */
  readonly id: string
  readonly input: Readonly<Record<string, unknown>>
}

const duration = z.union([z.string(), z.number()]).meta({ description: 'A time such as 15m; a number: milliseconds.' })

export const operations: readonly Operation[] = [
  {
    ...{ method: 'GET', path: '/clusters', name: 'listClusters', input: null },
    summary: 'The cluster main and its forks.',
    run: async ({ clusters }) => ({ clusters: clusters.ids.map((id) => infoOf(id, clusters.find(id)!.cluster)) }),
  },
  {
    ...{ method: 'GET', path: '/clusters/{cluster}', name: 'getCluster', input: null },
    summary: 'Connection string, members and time of a cluster.',
    run: async ({ clusterId, target }) => infoOf(clusterId, target.cluster),
  },
  {
    ...{ method: 'POST', path: '/clusters/{cluster}/fork', name: 'forkCluster', input: null },
    summary: 'Starts a copy of the cluster on other ports.',
    run: async ({ clusters, clusterId }) => {
      const id = await clusters.fork(clusterId)
      return infoOf(id, clusters.find(id)!.cluster)
    },
  },
  {
    ...{ method: 'DELETE', path: '/clusters/{cluster}', name: 'stopFork', input: null },
    summary: 'Stops a fork.',
    run: async ({ clusters, clusterId }) => clusters.stop(clusterId),
  },
  {
    ...{ method: 'POST', path: '/clusters/{cluster}/snapshots', name: 'takeSnapshot', input: null },
    summary: 'Keeps the state of the cluster in memory.',
    run: async ({ target }) => {
      const snapshot = await target.cluster.snapshot()
      target.snapshots.set(snapshot.id, snapshot)
      return { id: snapshot.id }
    },
  },
  {
    ...{ method: 'POST', path: '/clusters/{cluster}/snapshots/{id}/restore', name: 'restoreSnapshot', input: null },
    summary: 'Returns to a snapshot. Clients stay connected.',
    run: async ({ target, id }) => {
      const snapshot = target.snapshots.get(id)
      if (snapshot === undefined) throw new OptionError(`there is no snapshot ${id} of this cluster.`)
      await target.cluster.restore(snapshot)
    },
  },
  {
    ...{ method: 'POST', path: '/clusters/{cluster}/keep', name: 'keepState', input: null },
    summary: 'Makes the present state the one to which reset returns.',
    run: async ({ target }) => target.keepState(),
  },
  {
    ...{ method: 'POST', path: '/clusters/{cluster}/reset', name: 'reset', input: null },
    summary: 'Returns to the kept state. Clients stay connected.',
    run: async ({ target }) => target.reset(),
  },
  {
    ...{ method: 'POST', path: '/clusters/{cluster}/advance', name: 'advanceClock' },
    summary: 'Moves a manual clock (up --clock manual); what is due happens in order.',
    input: z.strictObject({ duration }),
    example: '{ "duration": "15m" }',
    run: async ({ target, input }) => {
      await target.cluster.advance(input['duration'] as string | number)
      return { nowMs: target.cluster.now() }
    },
  },
  {
    ...{ method: 'POST', path: '/clusters/{cluster}/members', name: 'addMember' },
    summary: 'Starts one more member of a replica set, which rs.add(host) on the primary makes it take part in.',
    input: z.strictObject({ set: z.string().meta({ description: 'Such as rs0, shard02 or config.' }) }),
    example: '{ "set": "shard02" }',
    run: async ({ target, input }) => target.cluster.addMember(input['set'] as string),
  },
  {
    ...{ method: 'DELETE', path: '/clusters/{cluster}/members/{id}', name: 'removeMember', input: null },
    summary: 'Ends and forgets a member that rs.remove(host) has taken out of its set.',
    run: async ({ target, id }) => target.cluster.removeMember(id),
  },
  {
    ...{ method: 'GET', path: '/clusters/{cluster}/faults', name: 'listFaults', input: null },
    summary: 'The faults that are applied.',
    run: async ({ target }) => ({ faults: target.cluster.faults.list() }),
  },
  {
    ...{ method: 'POST', path: '/clusters/{cluster}/faults', name: 'applyFault' },
    summary: 'Breaks a part of the cluster.',
    input: z.strictObject({ fault: z.string().meta({ description: 'Such as: crash shard02 for 5s.' }) }),
    example: '{ "fault": "crash shard02 for 5s" }',
    run: async ({ target, input }) => target.cluster.faults.apply(input['fault'] as string),
  },
  {
    ...{ method: 'DELETE', path: '/clusters/{cluster}/faults', name: 'healFaults', input: null },
    summary: 'Heals all faults.',
    run: async ({ target }) => void (await target.cluster.faults.heal()),
  },
  {
    ...{ method: 'DELETE', path: '/clusters/{cluster}/faults/{id}', name: 'healFault', input: null },
    summary: 'Heals one fault.',
    run: async ({ target, id }) => void (await target.cluster.faults.heal(id)),
  },
  {
    ...{ method: 'POST', path: '/clusters/{cluster}/marks', name: 'setMark', input: null },
    summary: 'Marks the present position in the list of routed operations.',
    run: async ({ target }) => ({ mark: await target.mark() }),
  },
  {
    ...{ method: 'GET', path: '/clusters/{cluster}/routed', name: 'getRouted' },
    summary: 'Operations since a mark: collection, command, kind and shards.',
    input: z.strictObject({ since: z.coerce.number().int().min(0).meta({ description: 'The mark of setMark.' }) }),
    example: '?since=MARK, with the mark of a POST to marks',
    run: async ({ target, input }) => ({ routed: await target.routedSince(input['since'] as number) }),
  },
]

function infoOf(id: string, cluster: ShardedCluster): object {
  const { uri, shards, mongos, seed } = cluster
  return { id, uri, shards, mongos, seed, nowMs: cluster.now(), members: cluster.members() }
}

import type { EmulatedVersion } from '@shardlab/sharding'
import { realCluster, type RealCluster, type ShardedCollection } from './real-cluster.js'

const orders: ShardedCollection = { ns: 'test.orders', field: 'x', splits: [0, 100] }
const sharded: ShardedCollection = { ns: 'test.sharded', field: 'k', splits: [2, 4] }
export const rows = Array.from({ length: 40 }, (_, _id) => ({
  _id,
  x: (_id % 20) * 10 - 50,
  k: _id % 5,
  w: 'aAbB'[_id % 4]!,
}))
const things = [0, 1, 2, 3, 4].map((k) => ({ _id: k, k, price: k * 10 }))

/** `things` is unsharded and on shard01; `far`, whose primary shard is shard02, is empty. */
export async function filled(version: EmulatedVersion = '7.0'): Promise<RealCluster> {
  const cluster = await realCluster([orders, sharded], version)
  cluster.databases.set('far', { primary: 'shard02', lastMod: 1 })
  await cluster.run({ insert: 'orders', documents: rows })
  for (const insert of ['things', 'sharded']) await cluster.run({ insert, documents: things })
  return cluster
}

export const openCursors = (cluster: RealCluster) =>
  [...cluster.nodes.values()].reduce((sum, { cursors }) => sum + cursors.size, 0)

/** One entry for each request. */
export function mergers(cluster: RealCluster): string[] {
  return ['shard01', 'shard02', 'shard03'].flatMap((shard) =>
    cluster
      .commandsTo(shard)
      .flatMap(({ name, body }) =>
        name === 'aggregate' && '$mergeCursors' in (body['pipeline'][0] ?? {}) ? [shard] : [],
      ),
  )
}

export const group = [{ $group: { _id: '$k', n: { $sum: 1 } } }]
export const lookup = (from: string) => ({ $lookup: { from, localField: 'k', foreignField: 'k', as: 'found' } })
export const graph = {
  $graphLookup: { from: 'things', startWith: '$k', connectFromField: 'none', connectToField: 'k', as: 'found' },
}
export const window = {
  $setWindowFields: {
    sortBy: { x: 1 },
    output: { sum: { $sum: '$k', window: { documents: ['unbounded', 'current'] } } },
  },
}
export const deep = { $lookup: { from: 'sharded', pipeline: group, as: 'found' } }

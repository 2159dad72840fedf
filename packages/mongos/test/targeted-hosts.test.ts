/** The expectations are those of jstests/sharding/num_hosts_targeted_metrics.js. */
import { Long, type Document } from '@shardlab/bson'
import t from 'tap'
import type { EmulatedVersion } from '@shardlab/sharding'
import { RealCluster } from './support/real-cluster.js'

/** `c` with a range on each shard, `two` on the first two shards only, `plain` unsharded. */
async function filled(emulate: EmulatedVersion): Promise<RealCluster> {
  const cluster = await RealCluster.create({ emulate })
  await cluster.shard({ ns: 'test.two', field: 'x', splits: [0, 100] }, ['shard01', 'shard02', 'shard02'])
  const documents = [-5, 5, 50, 200].map((x, _id) => ({ _id, x }))
  for (const collection of ['c', 'two', 'plain']) await cluster.run({ insert: collection, documents })
  return cluster
}

type Counts = Record<string, Record<string, number>>

async function countsOf(cluster: RealCluster): Promise<Counts> {
  const { numHostsTargeted } = (await cluster.run({ serverStatus: 1 }))['shardingStatistics']
  return JSON.parse(
    JSON.stringify(numHostsTargeted, (_, value: unknown) => (Long.isLong(value) ? value.toNumber() : value)),
  ) as Counts
}

/** Lists counters such as `find.oneShard`. */
async function added(cluster: RealCluster, command: Document): Promise<string> {
  const before = await countsOf(cluster)
  const reply = await cluster.run(command)
  if (reply['ok'] !== 1) throw new Error(JSON.stringify(reply))
  const after = await countsOf(cluster)
  return Object.keys(after)
    .flatMap((name) =>
      Object.keys(after[name]!).flatMap((hosts) =>
        Array<string>(after[name]![hosts]! - before[name]![hosts]!).fill(`${name}.${hosts}`),
      ),
    )
    .join()
}

const update = (collection: string, q: Document, multi = false): Document => ({
  update: collection,
  updates: [{ q, u: { $set: { a: 1 } }, multi }],
})
const aggregate = (collection: string, ...pipeline: Document[]): Document => ({
  aggregate: collection,
  pipeline,
  cursor: {},
})
const join = (from: string): Document => ({ $lookup: { from, localField: 'x', foreignField: 'x', as: 'found' } })

for (const emulate of ['4.4', '8.0'] as const) {
  t.test(`commands are counted by the number of their shards, ${emulate}`, async (t) => {
    const cluster = await filled(emulate)
    const cases: [Document, string][] = [
      [{ insert: 'c', documents: [{ x: 9 }] }, 'insert.oneShard'],
      [{ insert: 'c', documents: [{ x: 9 }, { x: 300 }] }, 'insert.manyShards'],
      [{ insert: 'c', documents: [{ x: -9 }, { x: 9 }, { x: 300 }] }, 'insert.allShards'],
      [{ insert: 'two', documents: [{ x: -9 }, { x: 9 }] }, 'insert.allShards'],
      [{ insert: 'plain', documents: [{ x: 1 }, { x: 2 }] }, 'insert.unsharded'],
      [update('c', { x: 5 }), 'update.oneShard'],
      [update('c', { x: { $gte: 5 } }, true), 'update.allShards'],
      [update('two', { a: 1 }, true), 'update.allShards'],
      [{ delete: 'c', deletes: [{ q: { x: { $lt: -100 } }, limit: 0 }] }, 'delete.oneShard'],
      [
        {
          delete: 'c',
          deletes: [
            { q: { x: { $gt: 1000 } }, limit: 0 },
            { q: { x: 77 }, limit: 0 },
          ],
        },
        'delete.manyShards',
      ],
      [{ delete: 'c', deletes: [{ q: { a: 77 }, limit: 0 }] }, 'delete.allShards'],
      [{ find: 'c', filter: { x: 5 } }, 'find.oneShard'],
      [{ find: 'c', filter: { x: { $gt: 8 } } }, 'find.manyShards'],
      [{ find: 'c', filter: { x: { $lt: 300 } } }, 'find.allShards'],
      [{ find: 'two', filter: { a: 1 } }, 'find.allShards'],
      [{ find: 'plain' }, 'find.unsharded'],
      [aggregate('c', { $match: { x: { $gte: 15, $lte: 50 } } }, { $sort: { x: 1 } }), 'aggregate.oneShard'],
      [aggregate('c', { $match: { x: { $gte: 15, $lte: 150 } } }, { $sort: { x: 1 } }), 'aggregate.manyShards'],
      [aggregate('c', { $match: { x: { $gte: -150 } } }), 'aggregate.allShards'],
      [aggregate('plain', { $match: { x: 1 } }), 'aggregate.unsharded'],
      [aggregate('two', join('plain')), 'aggregate.allShards'],
      [{ count: 'c', query: { x: 5 } }, ''],
      [{ distinct: 'c', key: 'x' }, ''],
      [{ findAndModify: 'c', query: { x: 5 }, remove: true }, ''],
    ]
    for (const [command, counted] of cases) t.equal(await added(cluster, command), counted, JSON.stringify(command))
  })
}

t.test('for a join of sharded collections the owners of both count', async (t) => {
  const cluster = await filled('8.0')
  t.equal(await added(cluster, aggregate('two', join('c'))), 'aggregate.manyShards', 'two shards of three')
  t.equal(await added(cluster, aggregate('plain', join('c'))), 'aggregate.oneShard', 'the primary shard is one of them')
})

t.test('bulkWrite counts each kind of write on each collection', async (t) => {
  const cluster = await filled('8.0')
  const ops = [
    { insert: 0, document: { x: 1 } },
    { insert: 0, document: { x: 101 } },
    { update: 0, filter: { x: 5 }, updateMods: { $set: { a: 2 } } },
    { insert: 1, document: { x: 1 } },
  ]
  const command = { bulkWrite: 1, ops, nsInfo: [{ ns: 'test.c' }, { ns: 'test.plain' }], ordered: false, $db: 'admin' }
  t.equal(await added(cluster, command), 'insert.manyShards,insert.unsharded,update.oneShard')
})

t.test('the section has the order of the server, and is missing before 4.4', async (t) => {
  const cluster = await filled('4.4')
  t.same(Object.keys(await countsOf(cluster)), ['find', 'insert', 'update', 'delete', 'aggregate'])
  const old = await RealCluster.create({ emulate: '4.0' })
  const status = await old.run({ serverStatus: 1 })
  t.notOk('numHostsTargeted' in status['shardingStatistics'])
  t.ok('catalogCache' in status['shardingStatistics'])
})

t.test('the routed event has the kind and shards of reads and writes', async (t) => {
  const cluster = await filled('8.0')
  const routedBy = async (command: Document) => {
    const before = cluster.routed().length
    await cluster.run(command)
    return cluster.routed().slice(before)
  }
  const all = ['shard01', 'shard02', 'shard03']
  const point = (x: number): [string, string] => [`{"x":${x}}`, `{"x":${x}}`]
  const cases: [Document, object][] = [
    [
      { find: 'c', filter: { x: 5 } },
      { kind: 'targeted', shards: ['shard02'], chunks: 1, bounds: [point(5)], shardKey: '{"x":1}' },
    ],
    [
      { find: 'c', filter: { x: { $in: [5, 200] } } },
      { kind: 'multi', shards: ['shard02', 'shard03'], chunks: 2, bounds: [point(5), point(200)] },
    ],
    [
      { find: 'c', filter: { x: { $gte: -1 } } },
      { kind: 'multi', shards: all, chunks: 3 },
    ],
    [
      { find: 'c' },
      { kind: 'broadcast', shards: all, chunks: 3, bounds: [['{"x":{"$minKey":1}}', '{"x":{"$maxKey":1}}']] },
    ],
    [
      { count: 'c', query: { x: 5 } },
      { command: 'count', kind: 'targeted', shards: ['shard02'] },
    ],
    [
      { distinct: 'c', key: 'x' },
      { command: 'distinct', kind: 'broadcast', shards: all },
    ],
    [aggregate('c', { $match: { x: 5 } }), { command: 'aggregate', kind: 'targeted', bounds: [point(5)] }],
    [
      { insert: 'c', documents: [{ x: 1 }, { x: 500 }] },
      { command: 'insert', kind: 'multi', shards: ['shard02', 'shard03'], chunks: 2, bounds: [point(1), point(500)] },
    ],
    [
      { insert: 'c', documents: [-1, 1, 500].map((x) => ({ x })) },
      { kind: 'multi', shards: all },
    ],
    [update('c', { x: 5 }), { command: 'update', kind: 'targeted', shards: ['shard02'], bounds: [point(5)] }],
    [update('c', { x: { $gte: 5 } }, true), { kind: 'broadcast', shards: all, chunks: 2 }],
    [update('c', { a: 1 }), { kind: 'broadcast', shards: all }],
    [
      { delete: 'c', deletes: [{ q: { x: 5 }, limit: 1 }] },
      { command: 'delete', kind: 'targeted', shards: ['shard02'], bounds: [point(5)] },
    ],
    [
      { findAndModify: 'c', query: { x: 5 }, remove: true },
      { command: 'findAndModify', kind: 'targeted', shards: ['shard02'] },
    ],
    [{ find: 'plain' }, { kind: 'targeted', shards: ['shard01'], chunks: 0, bounds: [], shardKey: null }],
  ]
  for (const [command, event] of cases) t.match(await routedBy(command), [event], JSON.stringify(command))
  t.same(await routedBy({ find: 'shards', $db: 'config' }), [], 'the catalog has no shard key')
})

import type { Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { drain, realCluster, type RealCluster, type ShardedCollection } from './support/real-cluster.js'

const sharded: ShardedCollection = { ns: 'test.c', field: 'x', splits: [0, 100] }

/** `v`: documents with x above 0, and `w` on it. */
async function withViews(
  collections: readonly ShardedCollection[] = [sharded],
  emulate: EmulatedVersion = '8.0',
): Promise<RealCluster> {
  const cluster = await realCluster(collections, emulate)
  const commands = [
    { insert: 'c', documents: [-50, 10, 20, 150, 250].map((x, _id) => ({ _id, x, tags: ['t', `t${_id}`] })) },
    { create: 'v', viewOn: 'c', pipeline: [{ $match: { x: { $gt: 0 } } }] },
    { create: 'w', viewOn: 'v', pipeline: [{ $project: { x: 1 } }] },
  ]
  for (const command of commands) {
    const reply = await cluster.run(command)
    if (reply['ok'] !== 1) throw new Error(JSON.stringify(reply))
  }
  return cluster
}

const batch = (reply: Document) => (reply['cursor'] as { firstBatch: Document[] }).firstBatch

t.test('views of sharded and unsharded collections can be read', async (t) => {
  for (const collections of [[sharded], []]) {
    const cluster = await withViews(collections)
    t.same(await drain(cluster, { find: 'v', sort: { _id: -1 }, projection: { _id: 1 }, batchSize: 1 }, 1), [
      { _id: 4 },
      { _id: 3 },
      { _id: 2 },
      { _id: 1 },
    ])
    t.same(batch(await cluster.run({ find: 'w', filter: { x: { $gte: 150 } }, sort: { x: 1 }, limit: 1 })), [
      { _id: 3, x: 150 },
    ])
    t.match(await cluster.run({ count: 'v' }), { n: 4, ok: 1 })
    t.match(await cluster.run({ count: 'v', query: { x: { $lt: 100 } }, skip: 1 }), { n: 1, ok: 1 })
    t.match(await cluster.run({ count: 'v', query: { x: -1 } }), { n: 0, ok: 1 })
    t.same(((await cluster.run({ distinct: 'v', key: 'tags' }))['values'] as string[]).sort(), [
      't',
      't1',
      't2',
      't3',
      't4',
    ])
    t.same((await cluster.run({ distinct: 'w', key: 'x', query: { x: { $lt: 100 } } }))['values'].sort(), [10, 20])
    t.same(
      await drain(cluster, { aggregate: 'w', pipeline: [{ $group: { _id: null, sum: { $sum: '$x' } } }], cursor: {} }),
      [{ _id: null, sum: 430 }],
    )
    t.match(await cluster.run({ explain: { find: 'v', filter: { x: 10 } }, verbosity: 'queryPlanner' }), { ok: 1 })
  }
})

for (const emulate of ['4.0', '4.4', '6.0', '7.0', '8.0'] as const) {
  t.test(
    `${emulate}: an aggregate of a view with explain: true is explained like {explain: {aggregate}}`,
    async (t) => {
      for (const collections of [[sharded], []]) {
        const cluster = await withViews(collections, emulate)
        const aggregate = { aggregate: 'w', pipeline: [{ $match: { x: 10 } }] }
        const own = await cluster.run({ ...aggregate, explain: true })
        const wrapped = await cluster.run({ explain: { ...aggregate, cursor: {} }, verbosity: 'queryPlanner' })
        t.match(own, { ok: 1 })
        const named = (reply: Document) => Object.keys(reply).filter((name) => name !== 'command')
        t.same(named(own), named(wrapped))
        t.match(JSON.stringify(own), /"x":{"\$eq":10}/, 'the plan on the collection below')
      }
    },
  )
}

t.test('a cursor on a view has the name of the view', async (t) => {
  const cluster = await withViews()
  const { cursor } = await cluster.run({ find: 'v', batchSize: 1 })
  t.equal(cursor.ns, 'test.v')
  t.notOk(cursor.id.isZero())
  t.match(await cluster.run({ getMore: cursor.id, collection: 'c' }), { code: 13 })
  t.match(await cluster.run({ getMore: cursor.id, collection: 'v' }), { cursor: { ns: 'test.v' }, ok: 1 })
})

t.test('writing or sharding a view is refused', async (t) => {
  const cluster = await withViews()
  const refused = { code: 166, errmsg: 'Namespace test.v is a view, not a collection' }
  t.match(await cluster.run({ insert: 'v', documents: [{ x: 1 }] }), { ok: 1, n: 0, writeErrors: [refused] })
  t.match(await cluster.run({ update: 'v', updates: [{ q: { x: 1 }, u: { $set: { a: 1 } } }] }), {
    ok: 1,
    n: 0,
    writeErrors: [refused],
  })
  t.match(await cluster.run({ delete: 'v', deletes: [{ q: {}, limit: 0 }] }), { ok: 1, n: 0, writeErrors: [refused] })
  t.match(await cluster.run({ findAndModify: 'v', query: {}, remove: true }), refused)
  t.match(await cluster.run({ createIndexes: 'v', indexes: [{ key: { a: 1 }, name: 'a_1' }] }), { ok: 0, code: 166 })
})

t.test('options that views do not support are refused', async (t) => {
  const cluster = await withViews()
  t.match(await cluster.run({ find: 'v', returnKey: true }), {
    code: 168,
    errmsg: 'Option returnKey not supported in aggregation.',
  })
  t.match(await cluster.run({ find: 'v', collation: { locale: 'fr' } }), { code: 167 })
})

t.test('D401 a read of a view asks the primary shard first', async (t) => {
  for (const collections of [[sharded], []]) {
    const cluster = await withViews(collections)
    await cluster.run({ count: 'v' })
    const before = cluster.world.sent.length
    await cluster.run({ find: 'v', filter: { x: { $gt: 5, $lt: 90 } } })
    const sent = cluster.world.sent.slice(before).filter(({ kind }) => kind === 'node.command')
    t.equal(sent[0]!.to, 'shard01')
    t.same(sent.length, 2, 'the view, then the collection')
  }
})

t.test('views of sharded and unsharded collections can be joined', async (t) => {
  for (const collections of [[sharded], [], [sharded, { ns: 'test.u', field: 'x', splits: [0, 100] }]]) {
    const cluster = await withViews(collections)
    await cluster.run({ insert: 'u', documents: [-50, 10, 150].map((x, _id) => ({ _id, x })) })
    const joined = await drain(cluster, {
      aggregate: 'u',
      pipeline: [
        { $lookup: { from: 'w', localField: 'x', foreignField: 'x', as: 'j' } },
        { $sort: { _id: 1 } },
        { $project: { n: { $size: '$j' } } },
      ],
      cursor: {},
    })
    t.same(
      joined,
      [0, 1, 1].map((n, _id) => ({ _id, n })),
    )
    t.same(
      await drain(cluster, {
        aggregate: 'u',
        pipeline: [{ $unionWith: 'v' }, { $group: { _id: null, n: { $sum: 1 } } }],
        cursor: {},
      }),
      [{ _id: null, n: 7 }],
    )
  }
})

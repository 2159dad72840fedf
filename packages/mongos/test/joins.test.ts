import t from 'tap'
import fc from 'fast-check'
import { Long, type Document } from '@shardlab/bson'
import type { FakeCluster } from './support/fake-cluster.js'
import { drain, realCluster, type RealCluster, type ShardedCollection } from './support/real-cluster.js'

const orders: ShardedCollection = { ns: 'test.orders', field: 'x', splits: [0, 100] }
const items: ShardedCollection = { ns: 'test.items', field: 'k', splits: [2, 4] }

const orderRows = [-5, 3, 50, 120, 200].map((x, _id) => ({ _id, x, k: _id }))
const itemRows = [0, 1, 2, 3, 4, 5].map((k) => ({ _id: `i${k}`, k, price: k * 10 }))

async function filled(sharded: readonly ShardedCollection[], version?: '5.0' | '8.0'): Promise<RealCluster> {
  const cluster = await realCluster(sharded, version)
  for (const [collection, documents] of [
    ['orders', orderRows],
    ['items', itemRows],
  ] as const) {
    const reply = await cluster.run({ insert: collection, documents: [...documents] })
    if (reply['n'] !== documents.length) throw new Error(JSON.stringify(reply))
  }
  return cluster
}

const run = (cluster: FakeCluster, pipeline: Document[], options: Document = {}) =>
  drain(cluster, { aggregate: 'orders', pipeline, cursor: {}, ...options })

const lookup = { $lookup: { from: 'items', localField: 'k', foreignField: 'k', as: 'item' } }
const priced = [lookup, { $unwind: '$item' }, { $sort: { _id: 1 } }, { $project: { _id: 1, p: '$item.price' } }]
const expected = [0, 1, 2, 3, 4].map((_id) => ({ _id, p: _id * 10 }))

function aggregated(cluster: FakeCluster, collection: string): string[] {
  return ['shard01', 'shard02', 'shard03'].filter((shard) =>
    cluster.commandsTo(shard).some(({ name, body }) => name === 'aggregate' && body['aggregate'] === collection),
  )
}

t.test('a join of unsharded collections goes to their shard unchanged', async (t) => {
  const cluster = await filled([])
  t.same(await run(cluster, priced), expected)
  const [sent] = cluster.commandsTo('shard01').filter(({ name }) => name === 'aggregate')
  t.same(sent!.body['pipeline'], priced)
  t.same(aggregated(cluster, 'items'), [])
})

t.test('D202 sharded collections are joined on the router, others on their primary shard', async (t) => {
  for (const sharded of [[orders], [items], [orders, items]]) {
    const cluster = await filled(sharded)
    t.same(await run(cluster, priced), expected)
    t.same(aggregated(cluster, 'items').length, sharded.includes(items) ? 3 : 0)
    t.same(await run(cluster, [{ $match: { x: 3 } }, ...priced]), [expected[1]], 'also when one shard has it all')
    const deep = {
      $lookup: {
        from: 'items',
        let: { k: '$k' },
        pipeline: [
          { $match: { $expr: { $gt: ['$k', '$$k'] } } },
          { $unionWith: { coll: 'orders', pipeline: [{ $match: { x: 50 } }, { $set: { mine: '$$k' } }] } },
          { $sort: { _id: 1 } },
        ],
        as: 'up',
      },
    }
    const [last] = await run(cluster, [{ $match: { _id: 4 } }, deep])
    t.same(
      last!['up'],
      [
        { _id: 2, x: 50, k: 2, mine: 4 },
        { _id: 'i5', k: 5, price: 50 },
      ],
      'variables reach pipelines inside pipelines',
    )
  }
})

t.test('$unionWith, $graphLookup and joins inside $facet read sharded collections', async (t) => {
  const cluster = await filled([orders, items])
  const ids = async (pipeline: Document[]) => (await run(cluster, pipeline)).map(({ _id }) => _id as unknown)
  t.same(
    await ids([
      { $match: { x: { $lt: 10 } } },
      { $unionWith: { coll: 'items', pipeline: [{ $match: { k: { $gte: 4 } } }] } },
      { $sort: { _id: 1 } },
    ]),
    [0, 1, 'i4', 'i5'],
  )
  t.same(await ids([{ $unionWith: 'nothing' }, { $sort: { _id: -1 } }, { $limit: 1 }]), [4])
  const graph = {
    $graphLookup: {
      from: 'items',
      startWith: '$k',
      connectFromField: 'next',
      connectToField: 'k',
      as: 'g',
      depthField: 'd',
    },
  }
  const [found] = await run(cluster, [{ $match: { _id: 3 } }, graph])
  t.same(found!['g'], [{ _id: 'i3', k: 3, price: 30, d: Long.ZERO }])
  const [facets] = await run(cluster, [
    {
      $facet: {
        n: [{ $count: 'n' }],
        joined: [{ $sort: { _id: 1 } }, lookup, { $limit: 1 }, { $project: { n: { $size: '$item' } } }],
      },
    },
  ])
  t.same(facets, { n: [{ n: 5 }], joined: [{ _id: 0, n: 1 }] })
})

t.test('the router joins when a shard reports that a joined collection is sharded', async (t) => {
  const cluster = await filled([])
  t.same(await run(cluster, priced), expected)
  t.same(aggregated(cluster, 'items'), [])
  // The router's cached route is still unsharded.
  await cluster.shard(items, ['shard01', 'shard01', 'shard01'])
  t.same(await run(cluster, priced), expected)
  t.same(aggregated(cluster, 'items'), ['shard01'], 'the router joins now')
})

t.test('before 5.1 $lookup of a sharded collection is refused', async (t) => {
  const cluster = await filled([items], '5.0')
  t.match(await cluster.run({ aggregate: 'orders', pipeline: [lookup], cursor: {} }), {
    code: 28769,
    errmsg: 'test.items cannot be sharded',
  })
  t.equal((await run(cluster, [{ $unionWith: 'items' }])).length, 11)
})

t.test('cursors over joins return batches and close the cursors on shards', async (t) => {
  const cluster = await filled([orders, items])
  t.same(await drain(cluster, { aggregate: 'orders', pipeline: priced, cursor: { batchSize: 1 } }, 2), expected)
  const union = {
    aggregate: 'orders',
    pipeline: [{ $match: { x: 3 } }, { $unionWith: 'items' }],
    cursor: { batchSize: 2 },
  }
  t.equal((await drain(cluster, union, 1)).length, 7)
  const open = await cluster.run(union)
  t.same((await cluster.run({ killCursors: 'orders', cursors: [open['cursor'].id] }))['cursorsKilled'], [
    open['cursor'].id,
  ])
})

t.test('source stages run on the router, on every shard or on the owners', async (t) => {
  const cluster = await filled([orders])
  const documents = [{ $documents: [{ a: 1 }, { a: 2 }, { a: 3 }] }, { $match: { a: { $gt: 1 } } }]
  t.same(await drain(cluster, { aggregate: 1, pipeline: documents, cursor: {} }), [{ a: 2 }, { a: 3 }])
  t.same(await drain(cluster, { aggregate: 1, pipeline: documents, cursor: {}, $db: 'unheard-of' }), [
    { a: 2 },
    { a: 3 },
  ])
  t.match(await cluster.run({ aggregate: 'orders', pipeline: documents, cursor: {} }), { code: 73 })
  t.match(await cluster.run({ aggregate: 1, pipeline: [{ $documents: 1 }], cursor: {} }), {
    code: 5858203,
    errmsg: 'an array is expected',
  })
  t.match(await cluster.run({ aggregate: 1, pipeline: [{ $documents: [1] }], cursor: {} }), { code: 40228 })
  t.match(await cluster.run({ aggregate: 'orders', pipeline: [{ $listSearchIndexes: {} }], cursor: {} }), {
    code: 31082,
  })
  const stats = await run(cluster, [{ $collStats: { count: {} } }, { $group: { _id: null, n: { $sum: '$count' } } }])
  t.same(
    stats.map(({ n }) => Number(n)),
    [5],
    'each shard tells its own',
  )
  t.same((await run(cluster, [{ $indexStats: {} }, { $match: { name: '_id_' } }])).length, 3)
})

t.test('let and collation reach shards, merges and joins', async (t) => {
  const cluster = await filled([orders])
  t.same(
    (
      await run(
        cluster,
        [{ $match: { $expr: { $gt: ['$x', '$$least'] } } }, { $sort: { _id: 1 } }, { $project: { _id: 1 } }],
        {
          let: { least: 60 },
        },
      )
    ).map(({ _id }) => _id as unknown),
    [3, 4],
  )
  await cluster.run({ insert: 'words', documents: ['b', 'A', 'a', 'B'].map((w, _id) => ({ _id, w })) })
  await cluster.run({
    insert: 'orders',
    documents: [
      { _id: 'u', x: -1, w: 'B' },
      { _id: 'v', x: 1, w: 'a' },
      { _id: 'w', x: 500, w: 'C' },
    ],
  })
  const collation = { locale: 'en', strength: 2 }
  const pipeline = [
    { $match: { w: { $exists: true } } },
    { $sort: { w: 1 } },
    { $lookup: { from: 'words', localField: 'w', foreignField: 'w', as: 's' } },
    { $project: { n: { $size: '$s' } } },
  ]
  t.same(await run(cluster, pipeline, { collation }), [
    { _id: 'v', n: 2 },
    { _id: 'u', n: 2 },
    { _id: 'w', n: 0 },
  ])
  t.same(await run(cluster, pipeline), [
    { _id: 'u', n: 1 },
    { _id: 'w', n: 0 },
    { _id: 'v', n: 1 },
  ])
})

t.test('views can be joined and can join', async (t) => {
  for (const sharded of [[], [orders], [items], [orders, items]]) {
    const cluster = await filled(sharded)
    const cheap = { create: 'cheap', viewOn: 'items', pipeline: [{ $match: { k: { $lt: 3 } } }] }
    const joined = {
      create: 'joined',
      viewOn: 'orders',
      pipeline: [{ $lookup: { from: 'cheap', localField: 'k', foreignField: 'k', as: 'c' } }],
    }
    for (const command of [cheap, joined]) t.equal((await cluster.run(command))['ok'], 1)
    const from = { $lookup: { from: 'cheap', localField: 'k', foreignField: 'k', as: 'c' } }
    const sizes = [{ $sort: { _id: 1 } }, { $project: { _id: 0, n: { $size: '$c' } } }]
    const one = [1, 1, 1, 0, 0].map((n) => ({ n }))
    t.same(await run(cluster, [from, ...sizes]), one)
    t.same(await drain(cluster, { aggregate: 'joined', pipeline: sizes, cursor: { batchSize: 2 } }, 1), one)
    t.equal((await drain(cluster, { find: 'joined', filter: { 'c.price': { $gt: 0 } } })).length, 2)
    t.equal((await run(cluster, [{ $unionWith: 'joined' }])).length, 10)
    const out = await cluster.run({ aggregate: 'joined', pipeline: [...sizes, { $merge: 'counts' }], cursor: {} })
    t.match(out, { cursor: { firstBatch: [], ns: 'test.joined' }, ok: 1 })
    t.equal((await cluster.run({ count: 'counts' }))['n'], 5)
  }
})

t.test('variables without a value, and the time, are the same on all members', async (t) => {
  const cluster = await filled([orders, items])
  const inner = [{ $limit: 1 }, { $project: { _id: 0, missing: { $type: '$$m' }, now: '$$NOW' } }]
  const pipeline = [
    { $project: { now: '$$NOW' } },
    { $lookup: { from: 'items', let: { m: '$nothing' }, pipeline: inner, as: 'j' } },
    { $set: { last: '$$NOW' } },
  ]
  cluster.world.atStep = () => void (cluster.world.nowMs += 5)
  const found = await run(cluster, pipeline)
  t.equal(new Set(found.flatMap(({ now, last, j }) => [now, last, (j as Document[])[0]!['now']]).map(Number)).size, 1)
  t.ok(found.every(({ j }) => (j as Document[])[0]!['missing'] === 'missing'))
})

t.test('the router returns what one node would (property)', async () => {
  const both = await filled([orders, items])
  const none = await filled([])
  const join = fc.constantFrom<Document[]>(
    [lookup],
    [lookup, { $unwind: '$item' }],
    [{ $unionWith: { coll: 'items', pipeline: [{ $match: { k: { $lt: 3 } } }] } }],
    [
      {
        $lookup: {
          from: 'items',
          let: { k: '$k' },
          pipeline: [{ $match: { $expr: { $lt: ['$k', '$$k'] } } }, { $sort: { k: -1 } }, { $limit: 2 }],
          as: 'item',
        },
      },
    ],
    [{ $graphLookup: { from: 'items', startWith: '$k', connectFromField: 'price', connectToField: 'k', as: 'item' } }],
  )
  const before = fc.constantFrom<Document[]>(
    [],
    [{ $match: { x: { $gte: 3 } } }],
    [{ $match: { x: 50 } }],
    [{ $sort: { x: -1 } }, { $limit: 3 }],
    [{ $group: { _id: '$k', k: { $first: '$k' } } }],
  )
  const after = fc.constantFrom<Document[]>(
    [],
    [{ $match: { k: 2 } }],
    [{ $group: { _id: { $type: '$_id' }, n: { $sum: 1 } } }],
    [{ $project: { item: 0 } }],
  )
  await fc.assert(
    fc.asyncProperty(before, join, after, async (first, second, third) => {
      const pipeline = [...first, ...second, ...third, { $sort: { _id: 1, 'item.k': 1 } }]
      return JSON.stringify(await run(both, pipeline)) === JSON.stringify(await run(none, pipeline))
    }),
    { numRuns: 60 },
  )
})

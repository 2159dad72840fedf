/** Claims of the page "Choose a Shard Key", manual 7.0. */
import { MaxKey, MinKey, type Document } from 'mongodb'
import type { MigrationEvent } from 'shardlab'
import { AnalysedCluster } from '../../simulation/analysed-cluster.js'
import type { Loose } from '../../support/clusters.js'
import { Page } from './claims.js'
import { grow, withSmallChunks } from './growth.js'

const page = new Page()

const continents = ['Africa', 'Antarctica', 'Asia', 'Australia', 'Europe', 'North America', 'South America']

page.claim(26, 'a value lies in exactly one chunk, so that the cardinality limits the number of chunks', {
  async holds(t, lab) {
    const collection = await lab.spread(
      'c',
      { continent: 1 },
      continents.slice(1).map((continent) => ({ continent })),
    )
    await collection.insertMany(
      continents.flatMap((continent, i) => Array.from({ length: 5 }, (_, j) => ({ _id: i * 5 + j, continent }))),
    )
    t.equal((await lab.chunks(collection)).length, 7)
    for (const continent of continents) {
      t.equal((await lab.targets(collection, { continent })).length, 1)
      await t.rejects(lab.admin({ split: collection.namespace, find: { continent } }), `${continent} cannot be split`)
    }
    for (const continent of continents.slice(1))
      await t.rejects(lab.admin({ split: collection.namespace, middle: { continent } }), 'there is a bound already')
    t.equal((await lab.chunks(collection)).length, 7)
  },
})

page.claim(26, 'a compound key raises the cardinality', {
  async holds(t, lab) {
    const collection = await lab.spread('c', { continent: 1, user: 1 }, [{ continent: 'Europe', user: new MinKey() }])
    await collection.insertMany(Array.from({ length: 40 }, (_, user) => ({ _id: user, continent: 'Europe', user })))
    await lab.admin({ split: collection.namespace, find: { continent: 'Europe', user: 1 } })
    t.equal((await lab.chunks(collection)).length, 3, 'one continent in two chunks')
  },
})

page.claim(27, 'a frequent value makes a chunk that cannot be divided', {
  async holds(t, lab) {
    const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }])
    await collection.insertMany(Array.from({ length: 100 }, (_, _id) => ({ _id, x: 7, text: 'x'.repeat(100) })))
    await t.rejects(lab.admin({ split: collection.namespace, find: { x: 7 } }))
    await collection.insertMany(Array.from({ length: 20 }, (_, i) => ({ _id: 1000 + i, x: i + 100 })))
    await lab.admin({ split: collection.namespace, find: { x: 7 } })
    const bounds = (await lab.chunks(collection)).map(({ min }) => min.x as unknown)
    t.ok(bounds.length === 3 && (bounds[2] as number) > 7, 'a bound is a value beside it, all of 7 stays together')
    t.equal((await lab.targets(collection, { x: 7 })).length, 1)
  },
})

page.claim(27, 'such a chunk cannot be moved either once it is too large', {
  async holds(t, lab) {
    const collection = await lab.spread('c', { x: 1 }, [{ x: 7 }, { x: 8 }], [lab.shardIds[0]!])
    await withSmallChunks(lab, async () => {
      const text = 'x'.repeat(50_000)
      await collection.insertMany(Array.from({ length: 60 }, (_, _id) => ({ _id, x: 7, text })))
      await t.rejects(lab.admin({ moveChunk: collection.namespace, find: { x: 7 }, to: lab.shardIds[1] }))
    })
    t.same(Object.keys(await lab.placed(collection)), [lab.shardIds[0]], 'all of it stays on one shard')
  },
})

page.claim(28, 'a growing key hits the chunk that ends with MaxKey, a falling one that which begins with MinKey', {
  async holds(t, lab) {
    const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }, { x: 100 }])
    const [first, , third] = lab.shardIds as [string, string, string]
    const chunks = await lab.chunks(collection)
    t.same([chunks[0]!['min'], chunks[2]!['max']], [{ x: new MinKey() }, { x: new MaxKey() }])
    await collection.insertMany(Array.from({ length: 20 }, (_, i) => ({ _id: i, x: 101 + i })))
    t.same(Object.keys(await lab.placed(collection)), [third])
    await collection.deleteMany({})
    await collection.insertMany(Array.from({ length: 20 }, (_, i) => ({ _id: i, x: -1 - i })))
    t.same(Object.keys(await lab.placed(collection)), [first])
  },
})

for (const [end, direction] of [
  ['MaxKey', 1],
  ['MinKey', -1],
] as const) {
  // D823
  page.claim(28, `when the chunk with ${end} is split, the new one is located on a different shard`, {
    to: '6.0.2',
    async holds(t, lab) {
      const collection: Loose = (await lab.database()).collection('c')
      await lab.admin({ shardCollection: collection.namespace, key: { x: 1 } })
      const bound = JSON.stringify({ x: { [end === 'MaxKey' ? '$maxKey' : '$minKey']: 1 } })
      // The collection's first chunk has both ends, and loses the lower one.
      const which = (event: { min: string; max: string }) => event[end === 'MaxKey' ? 'max' : 'min'] === bound
      const moved = await withSmallChunks(lab, () =>
        grow(lab, collection, { until: 'migration', which, x: (i) => i * direction }),
      )
      t.match(moved, { from: lab.shardIds[0] })
      t.not((moved as MigrationEvent).to, lab.shardIds[0], 'so that the next documents go elsewhere')
    },
    async fails(t, lab) {
      const collection: Loose = (await lab.database()).collection('c')
      await lab.admin({ shardCollection: collection.namespace, key: { x: 1 } })
      await withSmallChunks(lab, () => grow(lab, collection, { until: 'settled', x: (i) => i * direction }))
      t.match(await lab.chunks(collection), [{ shard: lab.shardIds[0] }])
      t.same(
        Object.keys(await lab.placed(collection)),
        [lab.shardIds[0]],
        'the shard with that chunk is the bottleneck',
      )
    },
  })
}

page.claim(28, 'such a key is spread by hashing', {
  async holds(t, lab) {
    const collection = (await lab.database()).collection<Document & { _id: number }>('c')
    await lab.admin({ shardCollection: collection.namespace, key: { x: 'hashed' } })
    await collection.insertMany(Array.from({ length: 60 }, (_, i) => ({ _id: i, x: i })))
    t.same(Object.keys(await lab.placed(collection)), lab.shardIds)
  },
})

page.claim(25, 'queries with the key reach only the shards that have the data, others all', {
  async holds(t, lab) {
    const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }, { x: 100 }])
    await collection.insertMany(Array.from({ length: 20 }, (_, i) => ({ _id: i, x: i * 10, y: i })))
    const routed = await lab.routed(collection, () => collection.find({ x: 5 }).toArray())
    t.match(routed, [{ kind: 'targeted', shards: [lab.shardIds[1]] }])
    t.match(await lab.routed(collection, () => collection.find({ y: 5 }).toArray()), [
      { kind: 'broadcast', shards: lab.shardIds },
    ])
  },
})

page.claim(29, 'aggregations over much data run in parallel on all shards', {
  async holds(t, lab) {
    const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }, { x: 100 }])
    await collection.insertMany(Array.from({ length: 30 }, (_, i) => ({ _id: i, x: i * 10 - 100, y: i % 3 })))
    const pipeline = [{ $group: { _id: '$y', n: { $sum: 1 } } }, { $sort: { _id: 1 } }]
    t.same(
      await collection.aggregate(pipeline).toArray(),
      [0, 1, 2].map((_id) => ({ _id, n: 10 })),
    )
    const plan = await collection.aggregate(pipeline).explain()
    t.same(Object.keys(plan['shards']).sort(), lab.shardIds)
    t.ok(
      plan['splitPipeline'].shardsPart.some((stage: Document) => '$group' in stage),
      'each shard groups its own part',
    )
  },
})

page.claim(30, 'analyzeShardKey tells how good a key is', {
  from: '7.0',
  async holds(t, lab) {
    const collection = (await lab.database()).collection<Document & { _id: number }>('c')
    await collection.insertMany(Array.from({ length: 100 }, (_, i) => ({ _id: i, x: i % 10 })))
    await collection.createIndex({ x: 1 })
    const reply = await lab.admin({
      analyzeShardKey: collection.namespace,
      key: { x: 1 },
      keyCharacteristics: true,
      readWriteDistribution: false,
    })
    t.match(reply['keyCharacteristics'], { isUnique: false })
    t.equal(Number(reply['keyCharacteristics'].numDistinctValues), 10)
    t.equal(Number(reply['keyCharacteristics'].mostCommonValues[0].frequency), 10)
    await lab.admin({ shardCollection: collection.namespace, key: { _id: 1 } })
    const sharded = await lab.admin({
      analyzeShardKey: collection.namespace,
      key: { x: 1 },
      readWriteDistribution: false,
    })
    t.equal(Number(sharded['keyCharacteristics'].numDistinctValues), 10, 'of a sharded collection, too')
  },
  async fails(t, lab) {
    await t.rejects(lab.admin({ analyzeShardKey: 'a.c', key: { x: 1 } }), { code: 59 })
  },
})

page.claim(30, '$currentOp tells which collections are sampled, and how much of them', {
  from: '7.0',
  async holds(t, { version }) {
    // Members refresh their sampling configuration periodically, so time must advance.
    await using world = await AnalysedCluster.start({ shards: 1, emulate: version })
    await world.insert('orders', [{ x: 1 }])
    const entries = (localOps: boolean) =>
      world.aggregate([{ $currentOp: { localOps } }, { $match: { desc: 'query analyzer' } }])
    t.same(await entries(true), [], 'none before it is turned on')
    await world.sample('shop.orders', 10)
    await world.slowly([
      { find: 'orders' },
      { count: 'orders' },
      { update: 'orders', updates: [{ q: { x: 1 }, u: { $set: { y: 1 } } }] },
    ])
    const counts = {
      desc: 'query analyzer',
      ns: 'shop.orders',
      startTime: Date,
      sampledReadsCount: 2,
      sampledWritesCount: 1,
    }
    t.match(await entries(true), [{ ...counts, samplesPerSecond: Number }])
    t.match(await entries(false), [
      { ...counts, shard: 'shard01', sampledReadsBytes: Number, sampledWritesBytes: Number },
    ])
    await world.admin({ configureQueryAnalyzer: 'shop.orders', mode: 'off' })
    await world.cluster.advance(20_000)
    t.same(await entries(true), [])
  },
  async fails(t, lab) {
    t.same(
      await lab.client
        .db('admin')
        .aggregate([{ $currentOp: {} }, { $match: { desc: 'query analyzer' } }])
        .toArray(),
      [],
    )
  },
})

page.claim(30, 'metrics of reads and writes rest on sampled queries', {
  from: '7.0',
  async holds(t, { version }) {
    await using world = await AnalysedCluster.start({ shards: 1, emulate: version })
    await world.insert(
      'orders',
      Array.from({ length: 2000 }, (_, x) => ({ x, y: x % 2 })),
    )
    await world.index('orders', { x: 1 })
    await world.sample('shop.orders')
    await world.slowly([
      { find: 'orders', filter: { x: 5 } },
      { find: 'orders', filter: { y: 1 } },
    ])
    t.equal((await world.samples('shop.orders')).length, 2)
    const reply = await world.admin({ analyzeShardKey: 'shop.orders', key: { x: 1 }, keyCharacteristics: false })
    t.match(reply['readDistribution'] ?? reply, {
      sampleSize: { total: 2, find: 2 },
      percentageOfSingleShardReads: 50,
      percentageOfScatterGatherReads: 50,
    })
  },
  async fails(t, lab) {
    await t.rejects(
      lab.client
        .db('admin')
        .aggregate([{ $listSampledQueries: {} }])
        .toArray(),
      { code: 40324 },
    )
  },
})

page.claim(30, 'sampling is turned on by configureQueryAnalyzer', {
  from: '7.0',
  async holds(t, lab) {
    const collection = (await lab.database()).collection<Document & { _id: number }>('c')
    await collection.insertOne({ _id: 1, x: 1 })
    const reply = await lab.admin({ configureQueryAnalyzer: collection.namespace, mode: 'full', samplesPerSecond: 5 })
    t.match(reply['newConfiguration'], { mode: 'full', samplesPerSecond: 5 })
    await lab.admin({ configureQueryAnalyzer: collection.namespace, mode: 'off' })
  },
  async fails(t, lab) {
    await t.rejects(lab.admin({ configureQueryAnalyzer: 'a.c', mode: 'off' }), { code: 59 })
  },
})

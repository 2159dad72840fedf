/** Claims of the page "Shard Keys", manual 4.4. */
import { MaxKey, MinKey, type Document } from 'mongodb'
import { BalancedCluster, range } from '../../simulation/balanced-cluster.js'
import type { Loose, TestCluster } from '../../support/clusters.js'
import { Page, refusal } from './claims.js'

const page = new Page()

async function fresh(lab: TestCluster): Promise<Loose> {
  return (await lab.database()).collection('c')
}

const shard = (lab: TestCluster, { namespace }: Loose, key: Document, options: Document = {}): Promise<Document> =>
  lab.admin({ shardCollection: namespace, key, ...options })

const sharded = async (lab: TestCluster, key: Document, options: Document = {}): Promise<Loose> => {
  const collection = await fresh(lab)
  await shard(lab, collection, key, options)
  return collection
}

const keysOf = async (collection: Loose): Promise<Document[]> => (await collection.indexes()).map(({ key }) => key)

page.claim(1, 'the key is one indexed field, or several fields of a compound index', {
  async holds(t, lab) {
    for (const key of [{ x: 1 }, { x: 1, y: 1 }, { 'a.b': 1 }]) {
      const collection = await sharded(lab, key)
      t.same(await keysOf(collection), [{ _id: 1 }, key])
      const entry = await lab.config
        .collection<Document & { _id: string }>('collections')
        .findOne({ _id: collection.namespace })
      t.same(entry?.['key'], key)
    }
    for (const key of [{}, { x: -1 }, { x: 'text' }, { x: 2 }, { 'a..b': 1 }, { $x: 1 }])
      await t.rejects(sharded(lab, key), refusal(lab, 2), JSON.stringify(key))
  },
})

page.claim(2, 'the span of values is divided into ranges that do not overlap, each a chunk', {
  async holds(t, lab) {
    const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }, { x: 10 }])
    const bounds = (await lab.chunks(collection)).map(({ min, max, shard: owner }) => [min.x, max.x, owner])
    t.same(bounds, [
      [new MinKey(), 0, lab.shardIds[0]],
      [0, 10, lab.shardIds[1]],
      [10, new MaxKey(), lab.shardIds[2]],
    ])
    await collection.insertMany([-1, 0, 9, 10].map((x) => ({ _id: x, x })))
    t.same(
      await lab.placed(collection),
      { [lab.shardIds[0]!]: [-1], [lab.shardIds[1]!]: [0, 9], [lab.shardIds[2]!]: [10] },
      'the lower bound is inside',
    )
  },
})

page.claim(2, 'the cluster wants the same number of chunks on every shard', {
  from: '4.4',
  to: '6.0.2',
  async holds(t, lab) {
    const collection = await fresh(lab)
    await shard(lab, collection, { x: 1 })
    t.match(await lab.admin({ balancerCollectionStatus: collection.namespace }), { balancerCompliant: true })
    for (const x of [1, 2, 3, 4, 5]) await lab.admin({ split: collection.namespace, middle: { x } })
    t.match(await lab.admin({ balancerCollectionStatus: collection.namespace }), {
      balancerCompliant: false,
      firstComplianceViolation: 'chunksImbalance',
    })
  },
  async fails(t, lab) {
    const collection = await fresh(lab)
    await shard(lab, collection, { x: 1 })
    for (const x of [1, 2, 3, 4, 5]) await lab.admin({ split: collection.namespace, middle: { x } })
    const status = lab.admin({ balancerCollectionStatus: collection.namespace })
    if (lab.version === '4.0') await t.rejects(status, { code: 59 }, 'the command does not exist')
    else t.match(await status, { balancerCompliant: true }, 'the number of bytes counts, from 6.0.3 on')
  },
})

/**
 * Many small chunks on one shard, a few large ones on another: which one donates depends on the
 * policy.
 */
async function unevenly(version: TestCluster['version']): Promise<{ counts: number[]; documents: number[] }> {
  const world = await BalancedCluster.start({ emulate: version, shards: 2 })
  try {
    await world.writeConfig('settings', { _id: 'autosplit' }, { $set: { enabled: false } })
    const ns = await world.shard('c')
    await world.split(
      ns,
      range(8).map((i) => 1000 + i),
    )
    await world.command({ moveChunk: ns, find: { k: 0 }, to: world.cluster.shards[1], _waitForDelete: true })
    await world.insert('c', range(200))
    await world.command({ split: ns, middle: { k: 100 } })
    await world.cluster.balancer.settle({ rangeDeletion: true, timeoutMs: 600_000 })
    return { counts: await world.chunkCounts(ns), documents: (await world.placed('c')).map(({ length }) => length) }
  } finally {
    await world.stop()
  }
}

page.claim(2, 'chunks are moved until each shard has as many as the others', {
  to: '6.0.2',
  async holds(t, { version }) {
    const { counts, documents } = await unevenly(version)
    t.same(counts, [5, 5])
    t.same(documents, [0, 200], 'whatever is in them')
  },
  async fails(t, { version }) {
    t.notSame((await unevenly(version)).counts, [5, 5])
  },
})

page.claim(2, 'data are moved until no shard has three chunk sizes more than another', {
  from: '6.0',
  async holds(t, { version }) {
    const { documents } = await unevenly(version)
    t.ok(Math.abs(documents[0]! - documents[1]!) < 3 * 32, `${documents.join()}: 32 documents fill a chunk`)
    t.equal(documents[0]! + documents[1]!, 200)
  },
  async fails(t, { version }) {
    t.same((await unevenly(version)).documents, [0, 200])
  },
})

page.claim(3, 'the index of a hashed key may be dropped', {
  from: '6.0',
  async holds(t, lab) {
    const collection = await sharded(lab, { x: 'hashed' })
    await collection.dropIndex('x_hashed')
    t.same(await keysOf(collection), [{ _id: 1 }])
  },
  async fails(t, lab) {
    const collection = await sharded(lab, { x: 'hashed' })
    await t.rejects(collection.dropIndex('x_hashed'), { code: 370 }, 'only since 6.0.12, 7.0.3 and 5.0.22')
  },
})

page.claim(3, 'an index supports the key when it is on the key, or the key is its prefix', {
  async holds(t, lab) {
    for (const index of [{ x: 1 }, { x: 1, y: 1 }] as Record<string, 1>[]) {
      const collection = await fresh(lab)
      await collection.insertOne({ x: 1, y: 1 })
      await collection.createIndex(index)
      await shard(lab, collection, { x: 1 })
      t.same(await keysOf(collection), [{ _id: 1 }, index], 'no other is made')
    }
    for (const [index, options] of [
      [{ y: 1, x: 1 }, {}],
      [{ x: -1 }, {}],
      [{ x: 'hashed' }, {}],
      [{ x: 1 }, { sparse: true }],
    ] as const) {
      const collection = await fresh(lab)
      await collection.insertOne({ x: 1, y: 1 })
      await collection.createIndex(index, options)
      await t.rejects(shard(lab, collection, { x: 1 }), refusal(lab, 72), JSON.stringify([index, options]))
      t.equal((await lab.chunks(collection)).length, 0, 'nothing is changed')
    }
  },
})

page.claim(4, 'on an empty collection the index is made', {
  async holds(t, lab) {
    const collection = await fresh(lab)
    await collection.db.createCollection('c')
    await shard(lab, collection, { x: 1, y: 1 })
    t.match(await collection.indexes(), [{ name: '_id_' }, { key: { x: 1, y: 1 }, name: 'x_1_y_1' }])
  },
})

page.claim(4, 'on others it has to be there', {
  async holds(t, lab) {
    const collection = await fresh(lab)
    await collection.insertOne({ x: 1 })
    await t.rejects(shard(lab, collection, { x: 1 }), {
      ...refusal(lab, 72),
      message: /lease create an index that starts with the (proposed )?shard key/,
    })
    await collection.createIndex({ x: 1 })
    await shard(lab, collection, { x: 1 })
    t.equal((await lab.chunks(collection)).length, 1)
  },
})

page.claim(5, 'the last index of the key can be dropped, and is made again', {
  to: '4.4',
  async holds(t, lab) {
    const collection = await sharded(lab, { x: 1 })
    await collection.dropIndex('x_1')
    t.same(await keysOf(collection), [{ _id: 1 }])
    await collection.createIndex({ x: 1 })
    t.same(await keysOf(collection), [{ _id: 1 }, { x: 1 }])
  },
  async fails(t, lab) {
    const collection = await sharded(lab, { x: 1 })
    await t.rejects(collection.dropIndex('x_1'), { code: 370 }, 'refused since 5.0.19')
    t.same(await keysOf(collection), [{ _id: 1 }, { x: 1 }])
    await collection.createIndex({ x: 1, y: 1 })
    await collection.dropIndex('x_1')
    t.same(await keysOf(collection), [{ _id: 1 }, { x: 1, y: 1 }], 'one that is not the last')
  },
})

page.claim(6, 'uniqueness is that of the whole combination, not of its parts', {
  async holds(t, lab) {
    const collection = await sharded(lab, { a: 1, b: 1 }, { unique: true })
    await collection.insertMany([
      { a: 1, b: 1 },
      { a: 1, b: 2 },
      { a: 2, b: 1 },
    ])
    await t.rejects(collection.insertOne({ a: 1, b: 2 }), { code: 11000 })
    t.equal(await collection.countDocuments(), 3)
  },
})

page.claim(7, 'unique may be the index of the key, one that the key is a prefix of, and _id', {
  async holds(t, lab) {
    const collection = await sharded(lab, { x: 1 }, { unique: true })
    t.match(await collection.indexes(), [{ key: { _id: 1 } }, { key: { x: 1 }, unique: true }])
    await collection.createIndex({ x: 1, y: 1 }, { unique: true })
    t.equal((await collection.indexes()).length, 3)
    await collection.insertOne({ _id: 1, x: 1 })
    await t.rejects(collection.insertOne({ _id: 1, x: 1 }), { code: 11000 })
  },
})

page.claim(8, '_id is unique on each shard only, unless it is the key or its prefix', {
  async holds(t, lab) {
    const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }])
    await collection.insertOne({ _id: 1, x: -1 })
    await collection.insertOne({ _id: 1, x: 1 })
    t.equal(await collection.countDocuments({ _id: 1 }), 2)
    await t.rejects(collection.insertOne({ _id: 1, x: 2 }), { code: 11000 }, 'on the same shard')
    const byId = await lab.spread('d', { _id: 1 }, [{ _id: 0 }])
    await byId.insertOne({ _id: 1 })
    await t.rejects(byId.insertOne({ _id: 1 }), { code: 11000 })
  },
})

page.claim(9, 'a collection with another unique index cannot be sharded', {
  async holds(t, lab) {
    const collection = await fresh(lab)
    await collection.createIndex({ email: 1 }, { unique: true })
    await t.rejects(shard(lab, collection, { x: 1 }), refusal(lab, 72))
    t.equal((await lab.chunks(collection)).length, 0)
    await shard(lab, collection, { email: 1 }, { unique: true })
  },
})

page.claim(9, 'a sharded one gets no unique index on other fields', {
  async holds(t, lab) {
    const collection = await sharded(lab, { x: 1 })
    await t.rejects(collection.createIndex({ email: 1 }, { unique: true }), { code: 67 })
    await t.rejects(
      collection.createIndex({ y: 1, x: 1 }, { unique: true }),
      { code: 67 },
      'the index must begin with the key',
    )
    t.same(await keysOf(collection), [{ _id: 1 }, { x: 1 }])
  },
})

page.claim(10, 'a document without the field counts as one with null', {
  from: '4.4',
  async holds(t, lab) {
    const collection = await sharded(lab, { x: 1 }, { unique: true })
    await collection.insertOne({ _id: 1 })
    await t.rejects(collection.insertOne({ _id: 2 }), { code: 11000 })
    await t.rejects(collection.insertOne({ _id: 3, x: null }), { code: 11000 })
  },
  async fails(t, lab) {
    const collection = await sharded(lab, { x: 1 }, { unique: true })
    await t.rejects(
      collection.insertOne({ _id: 1 }),
      { code: 61 },
      'documents of a sharded collection need the shard key',
    )
    const plain = collection.db.collection<Document & { _id: number }>('plain')
    await plain.createIndex({ x: 1 }, { unique: true })
    await plain.insertOne({ _id: 1 })
    await t.rejects(plain.insertOne({ _id: 2, x: null }), { code: 11000 })
  },
})

page.claim(11, 'uniqueness of the key comes with unique: true, never on hashed keys', {
  async holds(t, lab) {
    const collection = await sharded(lab, { x: 1 }, { unique: true })
    const entry = await lab.config
      .collection<Document & { _id: string }>('collections')
      .findOne({ _id: collection.namespace })
    t.equal(entry?.['unique'], true)
    const other = await sharded(lab, { x: 1 })
    await other.insertMany([{ x: 1 }, { x: 1 }])
    t.equal(await other.countDocuments({ x: 1 }), 2, 'without it there may be many')
    await t.rejects(sharded(lab, { x: 'hashed' }, { unique: true }), refusal(lab, 72))
    await t.rejects(other.createIndex({ x: 'hashed' }, { unique: true }))
  },
})

page.claim(12, 'documents may lack fields of the key: they lie where those with null do', {
  from: '4.4',
  async holds(t, lab) {
    // Null sorts below all texts and numbers: a bound right after it separates the shards.
    const collection = await lab.spread('c', { x: 1, y: 1 }, [
      { x: null, y: 'goodbye' },
      { x: 'hello', y: null },
    ])
    await collection.insertMany([
      { _id: 'z', z: 'oops' },
      { _id: 'z null', x: null, y: null },
      { _id: 'y', y: 'goodbye' },
      { _id: 'y null', x: null, y: 'goodbye' },
      { _id: 'x', x: 'hello' },
      { _id: 'x null', x: 'hello', y: null },
    ])
    t.same(await lab.placed(collection), {
      [lab.shardIds[0]!]: ['z', 'z null'],
      [lab.shardIds[1]!]: ['y', 'y null'],
      [lab.shardIds[2]!]: ['x', 'x null'],
    })
  },
  async fails(t, lab) {
    const collection = await sharded(lab, { x: 1, y: 1 })
    for (const document of [{ z: 'oops' }, { y: 'goodbye' }, { x: 'hello' }])
      await t.rejects(collection.insertOne({ _id: 1, ...document }), { code: 61 })
    await collection.insertOne({ _id: 1, x: null, y: null })
    t.equal(await collection.countDocuments(), 1)
  },
})

page.claim(13, '$exists: false finds those that lack a field, null those with null too', {
  from: '4.4',
  async holds(t, lab) {
    const collection = await lab.spread('c', { x: 1, y: 1 }, [{ x: 0, y: 0 }])
    await collection.insertMany([
      { _id: 1, y: 1 },
      { _id: 2, x: null, y: 1 },
      { _id: 3, x: 1 },
      { _id: 4, x: 1, y: 1 },
    ])
    const ids = async (filter: Document) =>
      (await collection.find(filter).sort({ _id: 1 }).toArray()).map(({ _id }) => _id as number)
    t.same(await ids({ $or: [{ x: { $exists: false } }, { y: { $exists: false } }] }), [1, 3])
    t.same(await ids({ x: null }), [1, 2])
    t.equal((await lab.targets(collection, { x: null })).length, 1, 'both are targeted')
  },
  async fails(t, lab) {
    const collection = await sharded(lab, { x: 1 })
    await collection.insertOne({ _id: 1, x: null })
    t.equal(await collection.countDocuments({ x: { $exists: false } }), 0, 'there are none')
    t.equal(await collection.countDocuments({ x: null }), 1)
  },
})

page.claim(13, 'writes that need an equality on the key name _id and null', {
  from: '4.4',
  async holds(t, lab) {
    const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }])
    await collection.insertMany([{ _id: 1 }, { _id: 2 }])
    t.match(await collection.updateOne({ _id: 1, x: null }, { $set: { seen: true } }), { matchedCount: 1 })
    t.same(await collection.find({ seen: true }).toArray(), [{ _id: 1, seen: true }])
    t.match(await collection.updateOne({ _id: 3, x: null }, { $set: { seen: false } }, { upsert: true }), {
      upsertedId: 3,
    })
    t.equal(await collection.countDocuments({ x: null }), 3)
  },
  async fails(t, lab) {
    const collection = await sharded(lab, { x: 1 })
    await t.rejects(collection.insertOne({ _id: 1 }), { code: 61 })
    t.match(await collection.updateOne({ _id: 3, x: null }, { $set: { seen: false } }, { upsert: true }), {
      upsertedId: 3,
    })
    t.same(await collection.find().toArray(), [{ _id: 3, x: null, seen: false }], 'an upsert writes the null')
  },
})

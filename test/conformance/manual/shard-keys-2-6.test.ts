/** Claims of the page "Shard Keys", manual 2.6. */
import { Long, MaxKey, MinKey, ObjectId, type Document } from 'mongodb'
import type { Loose, TestCluster } from '../../support/clusters.js'
import { Page, refusal } from './claims.js'
import { chunksThatHold, grow, withSmallChunks } from './growth.js'

const page = new Page()

const sharded = async (lab: TestCluster, key: Document, options: Document = {}): Promise<Loose> => {
  const collection: Loose = (await lab.database()).collection('c')
  await lab.admin({ shardCollection: collection.namespace, key, ...options })
  return collection
}

page.claim(18, 'the key exists in every document', {
  to: '4.0',
  async holds(t, lab) {
    const collection = await sharded(lab, { x: 1 })
    await t.rejects(collection.insertOne({ y: 1 }), { code: 61 })
    await t.rejects(collection.replaceOne({ x: 1 }, { y: 1 }, { upsert: true }), { code: 61 })
    t.equal(await collection.countDocuments(), 0)
  },
  async fails(t, lab) {
    const collection = await sharded(lab, { x: 1 })
    await collection.insertOne({ _id: 1, y: 1 })
    t.same(await collection.find().toArray(), [{ _id: 1, y: 1 }], 'the field is not invented')
  },
})

page.claim(19, 'the value of the key cannot be changed after insertion', {
  to: '4.0',
  async holds(t, lab) {
    const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }])
    await collection.insertOne({ _id: 1, x: -5 })
    for (const x of [-6, 5]) {
      await t.rejects(collection.updateOne({ x: -5 }, { $set: { x } }), { code: 66 })
      await t.rejects(collection.findOneAndUpdate({ x: -5 }, { $set: { x } }), { code: 66 })
    }
    await collection.updateOne({ x: -5 }, { $set: { x: -5, y: 1 } })
    t.same(await collection.find().toArray(), [{ _id: 1, x: -5, y: 1 }], 'the same value is no change')
  },
  async fails(t, lab) {
    const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }])
    await collection.insertOne({ _id: 1, x: -5 })
    const [first, second] = lab.shardIds as [string, string]
    t.same(await lab.placed(collection), { [first]: [1] })
    t.match(await collection.updateOne({ x: -5 }, { $set: { x: 5 } }), { matchedCount: 1, modifiedCount: 1 })
    t.same(await collection.find().toArray(), [{ _id: 1, x: 5 }])
    t.same(await lab.placed(collection), { [second]: [1] }, 'the document is on the owner of its new key')
  },
})

page.claim(20, 'the index on the key holds no arrays', {
  async holds(t, lab) {
    const collection = await sharded(lab, { x: 1 })
    await t.rejects(collection.insertOne({ x: [1, 2] }), { code: 61 })
    const nested = await sharded(lab, { 'a.b': 1 })
    await t.rejects(nested.insertOne({ a: [{ b: 1 }] }), { code: 61 })
    const other: Loose = collection.db.collection('other')
    await other.insertOne({ x: [1, 2] })
    await other.createIndex({ x: 1 })
    await t.rejects(lab.admin({ shardCollection: other.namespace, key: { x: 1 } }), refusal(lab, 72))
  },
})

page.claim(21, 'a chunk that grows beyond the chunk size is split into smaller ones, by ranges of the key', {
  to: '6.0.2',
  async holds(t, lab) {
    const collection = await sharded(lab, { x: 1 })
    await withSmallChunks(lab, () => grow(lab, collection, { until: 'split' }))
    const chunks = await lab.chunks(collection)
    t.ok(chunks.length > 1, 'the chunk was split automatically')
    t.same([chunks[0]!['min'], chunks.at(-1)!['max']], [{ x: new MinKey() }, { x: new MaxKey() }])
    t.ok(
      chunks.every(({ min }, i) => i === 0 || min.x === chunks[i - 1]!['max'].x),
      'each begins where the one before it ends',
    )
    const documents = await collection.countDocuments()
    t.equal(chunksThatHold(chunks, documents), chunks.length, 'the bounds are values that there are')
    t.equal(
      (await collection.find({ x: { $gte: 0 } }).toArray()).length,
      documents,
      'and everything is found as before',
    )
  },
  async fails(t, lab) {
    const collection = await sharded(lab, { x: 1 })
    await withSmallChunks(lab, () => grow(lab, collection, { until: 'settled' }))
    t.equal((await lab.chunks(collection)).length, 1, 'only migrations split, from 6.0.3 on')
  },
})

page.claim(21, 'what has one value of the key stays together, however much it grows', {
  to: '6.0.2',
  async holds(t, lab) {
    const collection = await sharded(lab, { x: 1 })
    await withSmallChunks(lab, async () => {
      await grow(lab, collection, { until: 'settled', x: () => 7 })
      t.same(
        (await lab.chunks(collection)).filter(({ min, max }) => min.x === 7 || max.x === 7).length <= 2,
        true,
        'a bound at the value at most, none inside',
      )
    })
    t.equal((await lab.targets(collection, { x: 7 })).length, 1)
  },
  async fails(t, lab) {
    const collection = await sharded(lab, { x: 1 })
    await withSmallChunks(lab, () => grow(lab, collection, { until: 'settled', x: () => 7 }))
    t.equal((await lab.chunks(collection)).length, 1)
  },
})

page.claim(22, 'a hashed key is that of one field', {
  to: '4.0',
  async holds(t, lab) {
    await t.rejects(sharded(lab, { a: 'hashed', b: 1 }), refusal(lab, 2))
    t.equal((await lab.chunks(await sharded(lab, { a: 'hashed' }))).length, 6)
  },
  async fails(t, lab) {
    const collection = await sharded(lab, { a: 'hashed', b: 1 })
    await collection.insertOne({ a: 1, b: 1 })
    t.equal((await lab.targets(collection, { a: 1 })).length, 1, 'a compound one is routed by its prefix')
  },
})

page.claim(23, 'sharding an empty collection on a hashed key makes two chunks for each shard', {
  to: '7.0',
  async holds(t, lab) {
    t.equal((await lab.chunks(await sharded(lab, { a: 'hashed' }))).length, 2 * lab.shardIds.length)
    t.equal((await lab.chunks(await sharded(lab, { a: 'hashed' }, { numInitialChunks: 9 }))).length, 9)
  },
  async fails(t, lab) {
    t.equal((await lab.chunks(await sharded(lab, { a: 'hashed' }))).length, lab.shardIds.length)
    t.equal(
      (await lab.chunks(await sharded(lab, { a: 'hashed' }, { numInitialChunks: 9 }))).length,
      lab.shardIds.length,
    )
  },
})

page.claim(24, 'commands take the value, split by middle takes the hash', {
  async holds(t, lab) {
    const collection = await sharded(lab, { a: 'hashed' })
    const { namespace } = collection
    const [chunk] = await lab.chunks(collection)
    await t.rejects(lab.admin({ split: namespace, middle: { a: 'text' } }))
    const middle = { a: (chunk!['max'].a as Long).subtract(1000) }
    await lab.admin({ split: namespace, middle })
    t.ok((await lab.chunks(collection)).some(({ min }) => String(min.a) === String(middle.a)))
    await collection.insertOne({ _id: 1, a: 'text' })
    const [owner] = await lab.targets(collection, { a: 'text' })
    const to = lab.shardIds.find((id) => id !== owner)!
    await lab.admin({ moveChunk: namespace, find: { a: 'text' }, to, _waitForDelete: true })
    t.same(await lab.targets(collection, { a: 'text' }), [to])
    t.same((await lab.placed(collection))[to], [1])
  },
})

page.claim(33, 'ObjectIds and dates grow: as a ranged key all new documents go to one chunk', {
  async holds(t, lab) {
    const collection = await lab.spread('c', { _id: 1 }, [
      { _id: ObjectId.createFromTime(1) },
      { _id: ObjectId.createFromTime(2) },
    ])
    await collection.insertMany(Array.from({ length: 20 }, () => ({ _id: new ObjectId() })))
    t.same(Object.keys(await lab.placed(collection)), [lab.shardIds[2]])
    const byDate = await lab.spread('d', { at: 1 }, [{ at: new Date(1000) }])
    await byDate.insertMany(Array.from({ length: 20 }, (_, i) => ({ _id: i, at: new Date(2000 + i) })))
    t.same(Object.keys(await lab.placed(byDate)), [lab.shardIds[1]])
  },
})

page.claim(25, 'queries with the key, or its first field, go to few shards', {
  async holds(t, lab) {
    const [first, second, third] = lab.shardIds as [string, string, string]
    const collection = await lab.spread('c', { a: 1, b: 1 }, [
      { a: 5, b: 10 },
      { a: 5, b: 20 },
    ])
    t.same(await lab.targets(collection, { a: 1, b: 1 }), [first])
    t.same(await lab.targets(collection, { a: 1 }), [first])
    t.same(await lab.targets(collection, { a: 5, b: 15 }), [second])
    t.same(await lab.targets(collection, { a: 9 }), [third])
    t.same(await lab.targets(collection, { a: { $in: [1, 9] } }), [first, third], 'values in several chunks')
    t.same(await lab.targets(collection, { b: 1 }), [first, second, third], 'not by the second field alone')
  },
})

page.claim(25, 'queries without the key go to every shard, whose answers are put together', {
  async holds(t, lab) {
    const collection = await lab.spread('c', { a: 1 }, [{ a: 10 }, { a: 20 }])
    await collection.insertMany(Array.from({ length: 30 }, (_, a) => ({ _id: a, a, b: a % 7 })))
    t.same(await lab.targets(collection, { b: 3 }), lab.shardIds)
    t.equal((await collection.find({ b: 3 }).toArray()).length, 4)
  },
})

page.claim(25, 'the sorted answers of shards are merged by the router', {
  async holds(t, lab) {
    const collection = await lab.spread('c', { a: 1 }, [{ a: 10 }, { a: 20 }])
    await collection.insertMany(Array.from({ length: 30 }, (_, a) => ({ _id: a, a, b: (a * 7) % 30 })))
    const sorted = await collection.find().sort({ b: 1 }).toArray()
    t.same(
      sorted.map(({ b }) => b as number),
      Array.from({ length: 30 }, (_, b) => b),
    )
    const plan = await collection.find().sort({ b: 1 }).explain('queryPlanner')
    t.equal((plan as Document)['queryPlanner'].winningPlan.stage, 'SHARD_MERGE_SORT')
    t.same(
      (await collection.find().sort({ b: -1 }).skip(5).limit(3).toArray()).map(({ b }) => b as number),
      [24, 23, 22],
    )
  },
})

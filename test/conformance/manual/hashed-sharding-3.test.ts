/** Claims of the page "Hashed Sharding", archived manual 3.x. */
import { Decimal128, Double, Long, MaxKey, MinKey, ObjectId, type Document } from 'mongodb'
import type { Loose, TestCluster } from '../../support/clusters.js'
import { Page, refusal } from './claims.js'

const page = new Page()

async function hashed(lab: TestCluster, key: Document = { x: 'hashed' }, options: Document = {}): Promise<Loose> {
  const collection: Loose = (await lab.database()).collection('c')
  await lab.admin({ shardCollection: collection.namespace, key, ...options })
  return collection
}

page.claim(22, 'hashed sharding takes a hashed index of a single field', {
  to: '4.0',
  async holds(t, lab) {
    const collection = await hashed(lab)
    t.match(await collection.indexes(), [{ key: { _id: 1 } }, { key: { x: 'hashed' }, name: 'x_hashed' }])
    await t.rejects(hashed(lab, { x: 'hashed', y: 1 }), refusal(lab, 2))
    await t.rejects(hashed(lab, { y: 1, x: 'hashed' }), refusal(lab, 2))
  },
  async fails(t, lab) {
    const collection = await hashed(lab, { x: 'hashed', y: 1 })
    t.equal((await collection.indexes())[1]?.name, 'x_hashed_y_1')
    await hashed(lab, { y: 1, x: 'hashed' })
    await t.rejects(hashed(lab, { x: 'hashed', y: 'hashed' }), { code: 2 }, 'one hashed field at most')
  },
})

page.claim(22, 'values that are close lie apart after hashing', {
  async holds(t, lab) {
    const collection = await hashed(lab)
    await collection.insertMany(Array.from({ length: 60 }, (_, x) => ({ _id: x, x })))
    const placed = Object.values(await lab.placed(collection))
    t.equal(placed.length, 3)
    t.ok(placed.every((ids) => ids.length > 10))
  },
})

page.claim(31, 'an equality goes to one shard, a range to all', {
  async holds(t, lab) {
    const collection = await hashed(lab)
    await collection.insertMany(Array.from({ length: 30 }, (_, x) => ({ _id: x, x })))
    for (const x of [1, 2, 3]) {
      t.equal((await lab.targets(collection, { x })).length, 1)
      t.equal((await lab.targets(collection, { x: { $gt: x } })).length, 3)
    }
    t.equal((await lab.targets(collection, { x: { $exists: true } })).length, 3)
    t.equal((await lab.targets(collection, { x: { $ne: 1 } })).length, 3)
    t.equal(await collection.countDocuments({ x: { $gte: 10, $lt: 20 } }), 10, 'and finds all')
  },
})

page.claim(23, 'an empty collection gets two chunks for each shard', {
  to: '7.0',
  async holds(t, lab) {
    const collection = await hashed(lab)
    const chunks = await lab.chunks(collection)
    t.equal(chunks.length, 6)
    for (const id of lab.shardIds) t.equal(chunks.filter(({ shard }) => shard === id).length, 2)
    t.same(chunks[0]!['min'], { x: new MinKey() }, 'they cover the whole range of hashes')
    t.same(chunks.at(-1)!['max'], { x: new MaxKey() })
    t.ok(chunks.every(({ min }, i) => i === 0 || JSON.stringify(min) === JSON.stringify(chunks[i - 1]!['max'])))
  },
  async fails(t, lab) {
    t.equal((await lab.chunks(await hashed(lab))).length, 3, 'one for each since 7.2')
  },
})

page.claim(23, 'numInitialChunks says how many', {
  to: '7.0',
  async holds(t, lab) {
    t.equal((await lab.chunks(await hashed(lab, { x: 'hashed' }, { numInitialChunks: 4 }))).length, 4)
    if (lab.version !== '2.6') await t.rejects(hashed(lab, { x: 1 }, { numInitialChunks: 4 }), { code: 72 })
  },
  async fails(t, lab) {
    t.equal(
      (await lab.chunks(await hashed(lab, { x: 'hashed' }, { numInitialChunks: 4 }))).length,
      3,
      'accepted and ignored',
    )
  },
})

page.claim(23, 'or chunks are made by hand, with split on the empty collection', {
  async holds(t, lab) {
    const collection = await hashed(lab)
    const before = (await lab.chunks(collection)).length
    await lab.admin({ split: collection.namespace, middle: { x: Long.fromNumber(12345) } })
    const chunks = await lab.chunks(collection)
    t.equal(chunks.length, before + 1)
    t.ok(
      chunks.some(({ min }) => String(min.x) === '12345'),
      'split takes the hash',
    )
  },
})

page.claim(24, 'applications need not compute hashes', {
  async holds(t, lab) {
    const collection = await hashed(lab)
    const _id = new ObjectId()
    await collection.insertOne({ _id, x: 'text' })
    t.equal((await collection.findOne({ x: 'text' }))?._id.toHexString(), _id.toHexString())
    await collection.updateOne({ x: 'text' }, { $set: { seen: true } })
    t.same((await collection.deleteOne({ x: 'text' })).deletedCount, 1)
  },
})

page.claim(33, 'keys that change monotonically, such as ObjectId, are spread', {
  async holds(t, lab) {
    const collection = await hashed(lab, { _id: 'hashed' })
    await collection.insertMany(Array.from({ length: 60 }, () => ({ _id: new ObjectId() })))
    t.equal(Object.keys(await lab.placed(collection)).length, 3)
  },
})

page.claim(32, 'floating point numbers are truncated before hashing', {
  async holds(t, lab) {
    const collection = await hashed(lab)
    for (const [i, x] of [2, 2.2, 2.3, 2.9].entries()) await collection.insertOne({ _id: i, x: new Double(x) })
    t.equal(Object.keys(await lab.placed(collection)).length, 1, 'all where 2 is')
    t.same(await lab.targets(collection, { x: new Double(2.9) }), await lab.targets(collection, { x: 2 }))
    t.equal(await collection.countDocuments({ x: 2.3 }), 1, 'they are different values nevertheless')
  },
})

page.claim(32, 'a decimal rounds instead: 2.9 lies where 3 does, 2.5 where 2', {
  async holds(t, lab) {
    const collection = await hashed(lab)
    // Twelve integers suffice: at least one is on another shard than its neighbour.
    for (let i = 0; i < 12; i++) {
      const at = (text: string) => lab.targets(collection, { x: Decimal128.fromString(text) })
      t.same(await at(`${i}.9`), await lab.targets(collection, { x: i + 1 }))
      t.same(await at(`${i}.5`), await lab.targets(collection, { x: i % 2 === 0 ? i : i + 1 }))
    }
  },
})

page.claim(32, 'floating point numbers beyond 2^53 lose their own place', {
  async holds(t, lab) {
    const collection = await hashed(lab)
    const limit = 2 ** 53
    t.same(
      await lab.targets(collection, { x: new Double(limit + 1) }),
      await lab.targets(collection, { x: Long.fromNumber(limit) }),
    )
  },
})

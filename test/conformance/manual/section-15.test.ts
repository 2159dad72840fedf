/**
 * Twenty points of sharding that are easy to get wrong, each under the versions that it concerns.
 * Points 9 to 12 are in section-15-balancing.test.ts.
 */
import t, { type Test } from 'tap'
import {
  Decimal128,
  Double,
  Long,
  MaxKey,
  MinKey,
  MongoBulkWriteError,
  MongoClient,
  ObjectId,
  type Document,
} from 'mongodb'
import { hashedKeyValue, toRawValue } from '@shardlab/bson'
import { emulatedVersions, type EmulatedVersion } from '@shardlab/sharding'
import { TestCluster, TestClusters, type Loose } from '../../support/clusters.js'

const clusters = new TestClusters({ shards: 3, mongos: 2 })
t.teardown(() => clusters.stop())

/** Defines a test under each of these versions. */
function point(
  number: number,
  text: string,
  versions: readonly EmulatedVersion[],
  check: (t: Test, lab: TestCluster) => Promise<void>,
): void {
  for (const version of versions)
    t.test(`${number}. ${text} (${version})`, async (t) => check(t, await clusters.at(version)))
}

async function sharded(lab: TestCluster, key: Document, options: Document = {}): Promise<Loose> {
  const collection: Loose = (await lab.database()).collection('c')
  await lab.admin({ shardCollection: collection.namespace, key, ...options })
  return collection
}

const hashOf = (value: unknown): string => hashedKeyValue(toRawValue(value)).asBigInt().toString()
const hashOfNull = '2338878944348059895'

t.test('1. decimals are rounded half to even before hashing, doubles truncated', (t) => {
  const decimal = (text: string) => hashOf(Decimal128.fromString(text))
  t.equal(decimal('2.5'), hashOf(2))
  t.equal(decimal('3.5'), hashOf(4))
  t.equal(decimal('2.9'), hashOf(3))
  t.equal(hashOf(new Double(2.9)), hashOf(2))
  t.equal(hashOf(new Double(2 ** 63)), hashOf(Long.MIN_VALUE), 'beyond the integers')
  t.equal(hashOf(new Double(Infinity)), hashOf(Long.MAX_VALUE))
  t.equal(hashOf(new Double(NaN)), hashOf(0))
  t.end()
})

point(2, 'find takes values, middle and bounds take hashes', ['2.6', '8.0'], async (t, lab) => {
  const collection = await sharded(lab, { x: 'hashed' })
  const { namespace } = collection
  const hash = Long.fromString(hashOf('text'))
  await lab.admin({ split: namespace, middle: { x: hash } })
  const chunks = await lab.chunks(collection)
  const chunk = chunks.find(({ min }) => hash.equals(min.x))!
  const to = lab.shardIds.find((id) => id !== chunk['shard'])!
  await lab.admin({ moveChunk: namespace, find: { x: 'text' }, to, _waitForDelete: true })
  t.same(await lab.targets(collection, { x: 'text' }), [to])
  t.equal(
    (await lab.chunks(collection)).find(({ min }) => hash.equals(min.x))!['shard'],
    to,
    'the chunk that begins with the hash',
  )
  await t.rejects(lab.admin({ moveChunk: namespace, bounds: [{ x: 'a' }, { x: 'b' }], to }), 'values are no bounds')
})

point(3, 'a missing field counts as null, also when hashed', ['4.4', '8.0'], async (t, lab) => {
  const collection = await sharded(lab, { x: 'hashed' })
  t.equal(hashOf(null), hashOfNull)
  await lab.admin({ split: collection.namespace, middle: { x: Long.fromString(hashOfNull) } })
  await collection.insertMany([{ _id: 1 }, { _id: 2, x: null }])
  const [owner] = await lab.targets(collection, { x: null })
  t.same(await lab.placed(collection), { [owner!]: [1, 2] })
  await t.rejects(collection.insertOne({ x: [1] }), { code: 61 })
  const nested = await sharded(lab, { 'a.b': 1 })
  await t.rejects(nested.insertOne({ a: [{ b: 1 }] }), { code: 61 })
})

point(
  4,
  'a zone bound that is a prefix of the key is completed with MinKey, at both ends',
  ['4.0', '8.0'],
  async (t, lab) => {
    const collection = await sharded(lab, { x: 1, y: 1 })
    const ns = collection.namespace
    const zone = `z${ns}`
    await lab.admin({ addShardToZone: lab.shardIds[0], zone })
    await lab.admin({ updateZoneKeyRange: ns, min: { x: 1 }, max: { x: 5 }, zone })
    const tags = lab.config.collection('tags')
    t.match(await tags.findOne({ ns }), { min: { x: 1, y: new MinKey() }, max: { x: 5, y: new MinKey() }, tag: zone })
    await lab.admin({ updateZoneKeyRange: ns, min: { x: 1 }, max: { x: 5 }, zone: null })
    await lab.admin({ updateZoneKeyRange: ns, min: { x: 1 }, max: { x: new MaxKey() }, zone })
    t.match(
      await tags.findOne({ ns }),
      { max: { x: new MaxKey(), y: new MinKey() } },
      'which is not the end of the key space',
    )
    await lab.admin({ updateZoneKeyRange: ns, min: { x: 1 }, max: { x: new MaxKey() }, zone: null })
    await lab.admin({ removeShardFromZone: lab.shardIds[0], zone })
  },
)

/** Numbers stand for the shards of the worked cases, which split at x, y and z. */
const cases: readonly (readonly [filter: Document, shards: readonly number[], options?: Document])[] = [
  [{}, [0, 1, 2, 3]],
  [{ b: 1 }, [0, 1, 2, 3]],
  [{ a: 'y' }, [2]],
  [{ a: { $in: ['u', 'y'] } }, [0, 2]],
  [{ a: { $gt: 'x' } }, [1, 2, 3]],
  [{ a: { $gte: 'x' } }, [1, 2, 3]],
  [{ a: { $lt: 'y' } }, [0, 1, 2]],
  [{ a: { $lte: 'y' } }, [0, 1, 2]],
  [{ $or: [{ a: 'u' }, { a: 'y' }] }, [0, 2]],
  [{ $or: [{ a: 'u' }, { a: { $gte: 'y' } }] }, [0, 2, 3]],
  [{ $or: [{ a: 'u' }, { a: { $gte: 'zz' } }, {}] }, [0, 1, 2, 3]],
  [{ a: { $gt: 'x', $lt: 'x' } }, [0]],
  [{ $or: [{ a: 'x' }, { a: { $gt: 'u', $lt: 'u' } }, { a: { $gte: 'y' } }] }, [1, 2, 3]],
  [{ a: 'y' }, [0, 1, 2, 3], { collation: { locale: 'de' } }],
  [{ a: 5 }, [0], { collation: { locale: 'de' } }],
]

for (const version of ['4.0', '8.0'] as const) {
  t.test(`5. and 6. the worked cases target the expected shards (${version})`, async (t) => {
    const lab = await TestCluster.start(version, { shards: 4 })
    t.teardown(() => lab.stop())
    const { shardIds } = lab
    const collection = await lab.spread('c', { a: 1 }, [{ a: 'x' }, { a: 'y' }, { a: 'z' }])
    for (const [filter, shards, options] of cases)
      t.same(
        await lab.targets(collection, filter, options),
        shards.map((i) => shardIds[i]),
        JSON.stringify([filter, options]),
      )
    const pairs = await lab.spread('d', { a: 1, b: 1 }, [
      { a: 5, b: 10 },
      { a: 5, b: 20 },
    ])
    t.same(await lab.targets(pairs, { a: { $in: [0, 5, 10] }, b: { $in: [0, 5, 25] } }), shardIds.slice(0, 3))
    const numbers = await lab.spread('e', { a: 1 }, [{ a: -100 }, { a: 0 }, { a: 100 }])
    t.same(await lab.targets(numbers, { a: { $gte: -100, $lte: 0 } }), shardIds.slice(1, 3))
    const db = await lab.database()
    const german: Loose = await db.createCollection('german', { collation: { locale: 'de' } })
    await lab.admin({ shardCollection: german.namespace, key: { a: 1 }, collation: { locale: 'simple' } })
    await lab.admin({ split: german.namespace, middle: { a: 'x' } })
    await lab.admin({ moveChunk: german.namespace, find: { a: 'x' }, to: shardIds[1], _waitForDelete: true })
    t.same(await lab.targets(german, { a: 'y' }), shardIds.slice(0, 2), 'the default collation of the collection')
    t.same(await lab.targets(german, { a: 'y' }, { collation: { locale: 'simple' } }), [shardIds[1]])
    t.same(await lab.targets(german, { a: 5 }), [shardIds[0]], 'numbers have no collation')
  })
}

point(
  7,
  'a multi-write to several shards goes to all shards, also to those without chunks',
  ['2.6', '8.0'],
  async (t, lab) => {
    const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }], lab.shardIds.slice(0, 2))
    await collection.insertMany([-1, 1].map((x) => ({ _id: x, x })))
    const updated = await lab.routed(collection, () => collection.updateMany({}, { $set: { seen: true } }))
    t.match(updated, [{ shards: lab.shardIds }])
    t.match(await lab.routed(collection, () => collection.updateMany({ x: -1 }, { $set: { seen: true } })), [
      { shards: [lab.shardIds[0]] },
    ])
    t.match(await lab.routed(collection, () => collection.deleteMany({})), [{ shards: lab.shardIds }])
  },
)

point(8, 'writes of one document without the shard key fail with 61 (until 4.0)', ['2.6', '4.0'], async (t, lab) => {
  const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }])
  await t.rejects(collection.updateOne({ y: 1 }, { $set: { z: 1 } }), { code: 61 })
  await t.rejects(collection.deleteOne({ y: 1 }), { code: 61 })
  await t.rejects(collection.findOneAndUpdate({ y: 1 }, { $set: { z: 1 } }), { code: 61 })
})

point(
  8,
  'without the shard key, updates of one document fail with 72, other writes with 61 (4.2 to 7.0)',
  ['4.4', '6.0', '7.0'],
  async (t, lab) => {
    const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }])
    await t.rejects(collection.updateOne({ y: 1 }, { $set: { z: 1 } }), { code: 72 })
    await t.rejects(collection.deleteOne({ y: 1 }), { code: 61 })
    await t.rejects(collection.findOneAndUpdate({ y: 1 }, { $set: { z: 1 } }), { code: 61 })
  },
)

point(8, 'a write of one document without the shard key changes exactly one (since 7.1)', ['8.0'], async (t, lab) => {
  const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }])
  await collection.insertMany([-1, 1, 2].map((x) => ({ _id: x, x, y: 1 })))
  t.match(await collection.updateOne({ y: 1 }, { $set: { z: 1 } }), { matchedCount: 1, modifiedCount: 1 })
  t.equal(await collection.countDocuments({ z: 1 }), 1)
  t.ok(await collection.findOneAndUpdate({ y: 1, z: { $exists: false } }, { $set: { z: 2 } }))
  t.match(await collection.deleteOne({ y: 1 }), { deletedCount: 1 })
  t.equal(await collection.countDocuments(), 2)
})

point(
  13,
  'a split raises minor versions, a migration the major version of the moved chunk and of one that stays',
  ['4.0', '5.0', '8.0'],
  async (t, lab) => {
    const collection = await sharded(lab, { x: 1 })
    const versions = async () =>
      (await lab.chunks(collection)).map(({ lastmod }) => `${lastmod.t ?? lastmod.high}|${lastmod.i ?? lastmod.low}`)
    const idsOf = async () => (await lab.chunks(collection)).map(({ _id }) => String(_id))
    t.same(await versions(), ['1|0'])
    const [whole] = await idsOf()
    await lab.admin({ split: collection.namespace, middle: { x: 0 } })
    t.same(await versions(), ['1|1', '1|2'])
    t.equal((await idsOf())[0], whole, 'the left piece keeps its _id')
    await lab.admin({ split: collection.namespace, middle: { x: 10 } })
    t.same(await versions(), ['1|1', '1|3', '1|4'])
    await lab.admin({ moveChunk: collection.namespace, find: { x: 5 }, to: lab.shardIds[1] })
    const after = await versions()
    t.equal(after[1], '2|0')
    t.same([after[0], after[2]].filter((version) => version === '2|1').length, 1, 'one control chunk')
  },
)

point(14, 'since 6.0.3 chunks are not split automatically', ['6.0', '8.0'], async (t, lab) => {
  const collection = await sharded(lab, { x: 1 })
  await lab.config
    .collection<Document & { _id: string }>('settings')
    .updateOne({ _id: 'chunksize' }, { $set: { value: 1 } }, { upsert: true })
  await collection.insertMany(Array.from({ length: 40 }, (_, x) => ({ x, text: 'x'.repeat(50_000) })))
  t.equal((await lab.chunks(collection)).length, 1)
  t.same(Object.keys(await lab.placed(collection)), [lab.shardIds[0]])
  await lab.config.collection<Document & { _id: string }>('settings').deleteOne({ _id: 'chunksize' })
})

t.test('15. and 16. if a shard is down, writes have the error inside the reply, reads at its top level', async (t) => {
  const lab = await TestCluster.start('7.0', { shards: 2, findReplicaSetHostTimeoutMs: 200 })
  t.teardown(() => lab.stop())
  const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }])
  await collection.insertMany([-1, 1].map((x) => ({ _id: x, x })))
  await lab.cluster.crash(lab.shardIds[1]!)
  const once = await MongoClient.connect(lab.cluster.uri, { retryWrites: false, retryReads: false })
  t.teardown(() => once.close())
  const same: Loose = once.db(collection.dbName).collection(collection.collectionName)
  const failed: MongoBulkWriteError = await same
    .insertMany(
      [
        { _id: -2, x: -2 },
        { _id: 2, x: 2 },
      ],
      { ordered: false },
    )
    .catch((error) => error)
  t.type(failed, MongoBulkWriteError)
  t.equal(failed.insertedCount, 1, 'the part of the shard that is up')
  t.equal(failed.code !== 11000 && (failed.writeErrors as unknown[]).length, 1)
  t.notOk(failed.hasErrorLabel('RetryableWriteError'), 'the router has tried itself')
  const read = await same
    .find()
    .toArray()
    .catch((error: unknown) => error)
  t.match(read, { code: 133 })
  t.equal((await same.find({ x: -1 }).toArray()).length, 1, 'operations on the other shard succeed')
})

point(17, 'StaleConfig never reaches a client', ['4.4', '8.0'], async (t, lab) => {
  const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }])
  const other = await MongoClient.connect(`mongodb://${lab.cluster.mongos[1]}/?directConnection=true`)
  t.teardown(() => other.close())
  const through: Loose = other.db(collection.dbName).collection(collection.collectionName)
  await through.insertOne({ _id: 1, x: 1 })
  for (const to of [lab.shardIds[2], lab.shardIds[0], lab.shardIds[1]]) {
    await lab.admin({ moveChunk: collection.namespace, find: { x: 1 }, to, _waitForDelete: true })
    t.equal((await through.find({ x: 1 }).toArray()).length, 1)
    t.match(await through.updateOne({ x: 1 }, { $inc: { n: 1 } }), { matchedCount: 1 })
  }
  t.match(await through.findOne({ x: 1 }), { n: 3 })
})

point(18, 'chunks name their collection by ns (4.4) or by UUID', ['4.4', '5.0', '8.0'], async (t, lab) => {
  const collection = await sharded(lab, { x: 1 })
  const entry = await lab.config
    .collection<Document & { _id: string }>('collections')
    .findOne({ _id: collection.namespace })
  const byNs = lab.version === '4.4'
  t.equal('timestamp' in entry!, !byNs, 'by which mongosh decides')
  const [chunk] = await lab.chunks(collection)
  t.equal('ns' in chunk!, byNs)
  t.equal('uuid' in chunk!, !byNs)
  t.type(chunk!['_id'], ObjectId)
})

point(
  19,
  'a hashed key makes chunks on an empty collection when it is hashed first',
  ['4.4', '7.0', '8.0'],
  async (t, lab) => {
    const perShard = lab.version === '8.0' ? 1 : 2
    const count = async (key: Document) => (await lab.chunks(await sharded(lab, key))).length
    t.equal(await count({ x: 'hashed' }), 3 * perShard)
    t.equal(await count({ x: 'hashed', y: 1 }), 3 * perShard)
    t.equal(await count({ y: 1, x: 'hashed' }), 1)
  },
)

point(
  20,
  'an _id may be on several shards; a migration that brings both together fails',
  ['4.4', '8.0'],
  async (t, lab) => {
    const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }])
    await collection.insertOne({ _id: 'twice', x: -1 })
    await collection.insertOne({ _id: 'twice', x: 1 })
    await t.rejects(lab.admin({ moveChunk: collection.namespace, find: { x: 1 }, to: lab.shardIds[0] }))
    t.equal(await collection.countDocuments({ _id: 'twice' }), 2, 'no document is lost')
    t.same(await lab.targets(collection, { x: 1 }), [lab.shardIds[1]])
    await collection.createIndex({ x: 1, email: 1 }, { unique: true })
    await t.rejects(collection.createIndex({ email: 1, x: 1 }, { unique: true }), { code: 67 })
  },
)

t.test('these tests cover every emulated version', (t) => {
  t.same(emulatedVersions, ['2.6', '4.0', '4.4', '5.0', '6.0.2', '6.0', '7.0', '8.0'])
  t.end()
})

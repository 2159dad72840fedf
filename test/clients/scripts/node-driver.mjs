/**
 * `node node-driver.mjs PACKAGE URI DATABASE`: the clients' script on one major version of the
 * Node.js driver.
 */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'

const [packageName, uri, name] = process.argv.slice(2)
const require = createRequire(new URL('../package.json', import.meta.url))
const { MongoClient } = require(packageName)
const major = Number(require(`${packageName}/package.json`).version.split('.')[0])

const client = new MongoClient(uri, major < 4 ? { useUnifiedTopology: true } : {})
await client.connect()
try {
  const db = client.db(name)
  await db.dropDatabase()
  await client.db('admin').command({ shardCollection: `${name}.things`, key: { _id: 'hashed' } })
  const things = db.collection('things')

  const inserted = await things.insertMany(
    Array.from({ length: 250 }, (_, i) => ({ _id: i, n: i % 7, text: `grüße ${i}` })),
  )
  assert.equal(inserted.insertedCount, 250)
  assert.deepEqual(await things.findOne({ _id: 17 }), { _id: 17, n: 3, text: 'grüße 17' })

  const found = await things.find({ n: 3 }).sort({ _id: -1 }).limit(20).batchSize(5).toArray()
  assert.deepEqual(
    found.map(({ _id }) => _id),
    Array.from({ length: 20 }, (_, i) => 248 - 7 * i),
  )
  let count = 0
  for await (const _document of things.find({}).batchSize(10)) count++
  assert.equal(count, 250)

  const updated = await things.updateMany({ n: 3 }, { $inc: { n: 100 } })
  assert.equal(updated.modifiedCount, 36)
  const options = major < 4 ? { returnOriginal: false } : { returnDocument: 'after' }
  const modified = await things.findOneAndUpdate({ _id: 5 }, { $set: { seen: true } }, options)
  assert.equal((major < 6 ? modified.value : modified).seen, true)

  const groups = await things
    .aggregate([{ $match: { n: { $lt: 7 } } }, { $group: { _id: '$n', count: { $sum: 1 } } }, { $sort: { _id: 1 } }])
    .toArray()
  assert.deepEqual(groups[0], { _id: 0, count: 36 })
  assert.equal(groups.length, 6)
  assert.equal(await things.countDocuments({ n: 0 }), 36)
  assert.equal(await things.estimatedDocumentCount(), 250)
  assert.deepEqual(
    (await things.distinct('n')).sort((a, b) => a - b),
    [0, 1, 2, 4, 5, 6, 103],
  )

  const people = db.collection('people')
  await people.createIndex({ email: 1 }, { unique: true })
  await people.insertOne({ email: 'a@example.org' })
  await assert.rejects(people.insertOne({ email: 'a@example.org' }), { code: 11000 })

  assert.equal((await things.deleteMany({ n: 0 })).deletedCount, 36)
  assert.equal((await things.deleteOne({ _id: 1 })).deletedCount, 1)
  assert.equal(await things.drop(), true)
  assert.deepEqual(
    (await db.listCollections().toArray()).map((each) => each.name),
    ['people'],
  )
  await db.dropDatabase()
} finally {
  await client.close()
}
console.log('fine')

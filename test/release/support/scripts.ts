/** Programs of the projects. Each prints `fine` as its last line. */

const cluster = `
const main = async () => {
  for (const runtime of ['threads', 'inline']) {
    const cluster = await ShardedCluster.start({ shards: 2, runtime })
    const client = await MongoClient.connect(cluster.uri, { compressors: ['snappy'] })
    await client.db('admin').command({ shardCollection: 'shop.orders', key: { customer: 'hashed' } })
    const orders = client.db('shop').collection('orders')
    await orders.insertMany([1, 2, 3].map((customer) => ({ customer })))
    if ((await orders.countDocuments()) !== 3) throw new Error('documents are missing')
    await client.close()
    await cluster.stop()
  }
  console.log('fine')
}
main().catch((error) => console.log(String(error)))
`

export const esmCluster = `import { ShardedCluster } from 'shardlab'
import { MongoClient } from 'mongodb'
${cluster}`

export const cjsCluster = `const { ShardedCluster } = require('shardlab')
const { MongoClient } = require('mongodb')
${cluster}`

/** The driver loads node:os with import(), which Jest does not have without a flag. */
export const jestTest = `const { ShardedCluster } = require('shardlab')
const { MongoClient } = require('mongodb')
const runtimeAdapters = { os: require('node:os') }
for (const runtime of ['threads', 'inline']) {
  test('a cluster works with the runtime ' + runtime, async () => {
    const cluster = await ShardedCluster.start({ shards: 2, runtime })
    const client = await MongoClient.connect(cluster.uri, { runtimeAdapters })
    await client.db('admin').command({ shardCollection: 'shop.orders', key: { customer: 'hashed' } })
    const orders = client.db('shop').collection('orders')
    await orders.insertMany([{ customer: 1, at: new Date(), bytes: Buffer.from('a') }, { customer: 2, n: 2n }])
    await orders.updateOne({ customer: 1 }, { $set: { list: [1, { b: 1 }] } })
    expect(await orders.countDocuments({ customer: { $gte: 1 } })).toBe(2)
    await client.close()
    await cluster.stop()
  }, 60_000)
}
`

const clusterTypes = `
export async function start(): Promise<string> {
  const cluster: ShardedCluster = await ShardedCluster.start({ shards: 2, emulate: '7.0' })
  cluster.on('routed', (event) => console.log(event.kind, event.shards.length))
  await cluster.crash('shard01')
  const input: FaultInput = { verb: 'crash', target: 'shard01' }
  await cluster.faults.apply(input)
  return cluster.uri
}
`

export const esmTypes = `import { ShardedCluster, type FaultInput } from 'shardlab'\n${clusterTypes}`
export const cjsTypes = esmTypes

const unique = `
const must = (condition, what) => {
  if (!condition) throw new Error(what)
}
const main = async () => {
  const [uri, database] = process.argv.slice(2)
  const client = await MongoClient.connect(uri)
  await client.db('admin').command({ shardCollection: database + '.users', key: { region: 'hashed' } })
  const collection = client.db(database).collection('users')
  await collection.insertOne({ _id: 1, email: 'a' })
  for (const transactions of ['never', 'auto']) {
    const users = await uniqueCollection(collection, {
      unique: ['email', { fields: ['tenant', 'handle'], missing: 'skip' }],
      transactions,
    }).init()
    const refused = await users.insertOne({ email: 'a' }).catch((error) => error)
    must(refused instanceof DuplicateValueError && refused instanceof MongoServerError, String(refused))
    must(refused.code === 11000 && refused.keyValue.email === 'a' && refused.keyPattern.email === 1, 'fields')
    must((await users.backfill()).enforcing, 'the backfill is not complete')
    const { insertedId } = await users.insertOne({ email: 'b', tenant: 1, handle: 'x' })
    must(insertedId instanceof ObjectId, 'an _id of the driver')
    must((await users.updateOne({ email: 'b' }, { $set: { email: 'c' } })).modifiedCount === 1, 'updateOne')
    const before = await users.findOneAndUpdate({ email: 'c' }, { $set: { email: 'b' } })
    must(before.email === 'c', 'findOneAndUpdate returns the document')
    const bulk = await users.bulkWrite([{ insertOne: { document: { email: 'd' } } }], { ordered: false }).catch((e) => e)
    must(bulk.insertedCount === 1, String(bulk))
    must((await users.deleteMany({ email: { $in: ['b', 'd'] } })).deletedCount === 2, 'deleteMany')
    const verified = await users.verify()
    must(verified.findings.length === 0 && verified.documents === 1, JSON.stringify(verified))
  }
  await client.close()
  console.log('fine')
}
main().catch((error) => {
  console.log(String(error))
  process.exit(1)
})
`

export const esmUnique = `import { MongoClient, MongoServerError, ObjectId } from 'mongodb'
import { DuplicateValueError, uniqueCollection } from '@shardlab/unique'
${unique}`

export const cjsUnique = `const { MongoClient, MongoServerError, ObjectId } = require('mongodb')
const { DuplicateValueError, uniqueCollection } = require('@shardlab/unique')
${unique}`

export const otherDriver = `import { MongoClient } from 'other'
import { uniqueCollection } from '@shardlab/unique'
const client = await MongoClient.connect(process.argv[2])
await uniqueCollection(client.db('other').collection('users'), { unique: ['email'] })
  .init()
  .catch((error) => console.log(String(error)))
await client.close()
`

export const uniqueTypes = `import { MongoClient, MongoServerError, type Collection } from 'mongodb'
import { DuplicateValueError, uniqueCollection, type BackfillReport, type UniqueCollection } from '@shardlab/unique'

interface User {
  email: string
  region: number
}

export async function use(uri: string): Promise<BackfillReport> {
  const client = await MongoClient.connect(uri)
  const collection: Collection<User> = client.db('records').collection<User>('users')
  const users: UniqueCollection<User> = uniqueCollection(collection, {
    unique: ['region', { fields: 'email', normalize: (email) => email.toLowerCase() }],
  })
  await users.init()
  try {
    await users.insertOne({ email: 'a', region: 1 })
    const found = await users.findOneAndUpdate({ email: 'a' }, { $set: { email: 'b' } })
    const email: string | undefined = found?.email
    users.on('conflict', ({ owner }) => console.log(owner, email))
  } catch (error) {
    if (error instanceof DuplicateValueError) console.log(error.keyPattern, error.keyValue['email'])
    if (error instanceof MongoServerError) console.log(error.code)
  }
  return users.backfill()
}
`

/** Claims of the page "Enforce Unique Keys for Sharded Collections", manual 2.6. */
import { MongoServerError, ObjectId, type Document } from 'mongodb'
import type { Loose, TestCluster } from '../../support/clusters.js'
import { Page, refusal } from './claims.js'

const page = new Page()

const shard = (lab: TestCluster, { namespace }: Loose, key: Document, options: Document = {}): Promise<Document> =>
  lab.admin({ shardCollection: namespace, key, ...options })

// D824
page.claim(14, 'a unique index cannot be enforced beyond one shard, so that none is made', {
  async holds(t, lab) {
    const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }])
    await t.rejects(collection.createIndex({ email: 1 }, { unique: true }), { code: 67 })
    await collection.insertMany([
      { x: -1, email: 'same' },
      { x: 1, email: 'same' },
    ])
    t.equal(await collection.countDocuments({ email: 'same' }), 2, 'inserts are local to shards')
    for (const id of lab.shardIds) {
      const local = (await lab.shard(id)).db(collection.dbName).collection(collection.collectionName)
      const names = (await local.indexes().catch(() => [])).map(({ name }) => name)
      t.notOk(names.includes('email_1'))
    }
  },
})

page.claim(11, 'unique: true makes the key unique in the whole collection', {
  async holds(t, lab) {
    const users: Loose = (await lab.database()).collection('users')
    await shard(lab, users, { email: 1 }, { unique: true })
    await lab.admin({ split: users.namespace, middle: { email: 'm' } })
    const [, upper] = await lab.chunks(users)
    await lab.admin({ moveChunk: users.namespace, find: { email: 'z' }, to: lab.shardIds[2], _waitForDelete: true })
    t.ok(upper)
    await users.insertMany([{ email: 'a@x' }, { email: 'z@x' }])
    await t.rejects(users.insertOne({ email: 'a@x' }), { code: 11000 })
    await t.rejects(users.insertOne({ email: 'z@x' }), { code: 11000 })
    t.equal(await users.countDocuments(), 2)
  },
})

page.claim(6, 'of a compound key the combination is unique', {
  async holds(t, lab) {
    const users: Loose = (await lab.database()).collection('users')
    await shard(lab, users, { zip: 1, email: 1 }, { unique: true })
    await users.insertMany([
      { zip: 1, email: 'a' },
      { zip: 2, email: 'a' },
    ])
    await t.rejects(users.insertOne({ zip: 1, email: 'a' }), { code: 11000 })
  },
})

page.claim(16, 'shardCollection without a key shards on _id', {
  to: '2.6',
  async holds(t, lab) {
    const users: Loose = (await lab.database()).collection('users')
    await lab.admin({ shardCollection: users.namespace })
    const entry = await lab.config
      .collection<Document & { _id: string }>('collections')
      .findOne({ _id: users.namespace })
    t.same(entry?.['key'], { _id: 1 })
    await users.insertOne({ _id: 'mine' })
    await t.rejects(users.insertOne({ _id: 'mine' }), { code: 11000 })
  },
  async fails(t, lab) {
    const users: Loose = (await lab.database()).collection('users')
    await t.rejects(lab.admin({ shardCollection: users.namespace }), { code: 40414 })
    t.equal((await lab.chunks(users)).length, 0)
  },
})

page.claim(8, 'the _id of a collection with another key is the business of the application', {
  async holds(t, lab) {
    const collection = await lab.spread('c', { x: 1 }, [{ x: 0 }])
    await collection.insertOne({ _id: 'twice', x: -1 })
    await collection.insertOne({ _id: 'twice', x: 1 })
    t.equal((await collection.find({ _id: 'twice' }).toArray()).length, 2)
    const ids = Array.from({ length: 20 }, () => ({ _id: new ObjectId(), x: Math.PI }))
    await collection.insertMany(ids)
    t.equal(new Set(ids.map(({ _id }) => _id.toHexString())).size, 20, 'an ObjectId is universally unique')
  },
})

/**
 * The pattern of the page: insert the main document only after the proxy accepted the unique value.
 */
async function register(proxy: Loose, information: Loose, fields: Document): Promise<boolean> {
  const _id = new ObjectId()
  try {
    await proxy.insertOne({ _id, ...fields })
  } catch (error) {
    if (error instanceof MongoServerError && error.code === 11000) return false
    throw error
  }
  await information.insertOne({ _id, ...fields, more: true })
  return true
}

page.claim(15, 'a sharded proxy collection takes the unique value first', {
  async holds(t, lab) {
    const proxy = await lab.spread('proxy', { email: 1 }, [{ email: 'm' }], lab.shardIds, { unique: true })
    const information: Loose = proxy.db.collection('information')
    await shard(lab, information, { _id: 'hashed' })
    t.ok(await register(proxy, information, { email: 'a@x' }))
    t.ok(await register(proxy, information, { email: 'z@x' }))
    t.notOk(await register(proxy, information, { email: 'a@x' }), 'on any shard')
    t.notOk(await register(proxy, information, { email: 'z@x' }))
    t.equal(await information.countDocuments(), 2)
    t.same(
      (await proxy.find().sort({ email: 1 }).toArray()).map(({ _id }) => String(_id)).sort(),
      (await information.find().toArray()).map(({ _id }) => String(_id)).sort(),
      'each refers to the other',
    )
  },
})

page.claim(15, 'the application enforces consistency between the two collections', {
  async holds(t, lab) {
    const proxy = await lab.spread('proxy', { email: 1 }, [{ email: 'm' }], lab.shardIds, { unique: true })
    const information: Loose = proxy.db.collection('information')
    await shard(lab, information, { _id: 'hashed' })
    const _id = new ObjectId()
    await information.insertOne({ _id })
    await proxy.insertOne({ _id, email: 'a@x' })
    await t.rejects(information.insertOne({ _id, email: 'a@x' }), { code: 11000 }, 'the second step fails')
    t.notOk(await register(proxy, information, { email: 'a@x' }), 'and the value stays taken')
    await proxy.deleteOne({ email: 'a@x' })
    t.ok(await register(proxy, information, { email: 'a@x' }), 'until the application gives it back')
  },
})

page.claim(15, 'one that is not sharded may have several unique indexes', {
  async holds(t, lab) {
    const db = await lab.database()
    const proxy: Loose = db.collection('proxy')
    const information: Loose = db.collection('information')
    await shard(lab, information, { _id: 'hashed' })
    await proxy.createIndex({ email: 1 }, { unique: true })
    await proxy.createIndex({ phone: 1 }, { unique: true })
    t.ok(await register(proxy, information, { email: 'a', phone: 1 }))
    t.notOk(await register(proxy, information, { email: 'a', phone: 2 }))
    t.notOk(await register(proxy, information, { email: 'b', phone: 1 }))
    t.ok(await register(proxy, information, { email: 'b', phone: 2 }))
    t.equal(await information.countDocuments(), 2)
  },
})

page.claim(15, 'with several unique indexes it cannot be sharded: each field needs its own', {
  async holds(t, lab) {
    const proxy: Loose = (await lab.database()).collection('proxy')
    await proxy.createIndex({ email: 1 }, { unique: true })
    await proxy.createIndex({ phone: 1 }, { unique: true })
    await t.rejects(shard(lab, proxy, { email: 1 }, { unique: true }), refusal(lab, 72))
    await proxy.dropIndex('phone_1')
    await shard(lab, proxy, { email: 1 }, { unique: true })
    await t.rejects(proxy.createIndex({ phone: 1 }, { unique: true }), { code: 67 })
  },
})

page.claim(34, 'only an acknowledged write tells of the duplicate', {
  async holds(t, lab) {
    const proxy = await lab.spread('proxy', { email: 1 }, [{ email: 'm' }], lab.shardIds, { unique: true })
    await proxy.insertOne({ email: 'a' }, { writeConcern: { w: 1 } })
    await t.rejects(proxy.insertOne({ email: 'a' }, { writeConcern: { w: 1 } }), { code: 11000 })
    await proxy.insertOne({ email: 'a' }, { writeConcern: { w: 0 } })
    t.equal(await proxy.countDocuments(), 1, 'the unacknowledged write failed without an error')
  },
})

page.claim(17, 'the index that ensureIndex of the old shell asks for is one of createIndexes', {
  async holds(t, lab) {
    const db = await lab.database()
    const reply = await db.command({
      createIndexes: 'proxy',
      indexes: [{ key: { email: 1 }, name: 'email_1', unique: true }],
    })
    t.equal(reply['ok'], 1)
    t.match(await db.collection('proxy').indexes(), [{ name: '_id_' }, { name: 'email_1', unique: true }])
  },
})

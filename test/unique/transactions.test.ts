/** Writes in transactions: of the library, and of the caller. */
import t from 'tap'
import { ErrorCodes } from '@shardlab/bson'
import { uniqueCollection } from '@shardlab/unique'
import { ShardedCluster } from 'shardlab'
import { MongoClient, type ClientSession } from 'mongodb'
import { leave, mainCollection, places } from './support/places.js'

t.teardown(leave)

for (const place of await places()) {
  t.test(`${place.title}: a write is part of the caller's transaction`, async (t) => {
    const main = await mainCollection(place)
    const orders = main.db.collection<any>('orders')
    await orders.insertOne({ _id: 0 })
    const users = await uniqueCollection(main, { unique: ['email'] }).init()
    t.same(users.writePath, { kind: 'transaction', reason: 'the deployment has transactions' })
    await users.insertOne({ _id: 1, email: 'a', region: 1 })
    const inTransaction = (body: (session: any) => Promise<unknown>): Promise<unknown> =>
      place.client.withSession((session) => session.withTransaction(() => body(session)))
    const failed = inTransaction(async (session) => {
      await users.insertOne({ _id: 2, email: 'b', region: 2 }, { session })
      await users.updateOne({ _id: 1 }, { $set: { email: 'c' } }, { session })
      await orders.insertOne({ _id: 2 }, { session })
      throw new Error('the caller changes its mind')
    })
    await t.rejects(failed, { message: 'the caller changes its mind' })
    t.same(await main.find({}, { projection: { region: 0 } }).toArray(), [{ _id: 1, email: 'a' }])
    t.equal(await orders.countDocuments(), 1)
    await inTransaction(async (session) => {
      await users.insertOne({ _id: 2, email: 'b', region: 2 }, { session })
      await users.updateOne({ _id: 1 }, { $set: { email: 'c' } }, { session })
      await users.insertOne({ _id: 3, email: 'a', region: 3 }, { session })
      await users.deleteMany({ _id: { $in: [2] } }, { session })
      await orders.insertOne({ _id: 2 }, { session })
    })
    const found = await main.find({}, { projection: { region: 0 } }).toArray()
    t.same(
      found.toSorted((a, b) => a._id - b._id),
      [
        { _id: 1, email: 'c' },
        { _id: 3, email: 'a' },
      ],
      'a value moves from one document to another',
    )
    t.equal(await orders.countDocuments(), 2)
    await t.rejects(
      inTransaction((session) => users.insertOne({ _id: 4, email: 'c' }, { session })),
      { name: 'DuplicateValueError', owner: 1 },
    )
    t.same((await users.verify()).findings, [])
  })

  t.test(`${place.title}: a duplicate that the library finds ends the caller's transaction`, async (t) => {
    const main = await mainCollection(place)
    await main.insertOne({ _id: 1, email: 'a', region: 1 })
    const users = await uniqueCollection(main, { unique: ['email'] }).init()
    t.match(await users.status(), { enforcing: false }, 'the value of the document is not reserved')
    const { client } = place
    const orders = main.db.collection<any>('orders')
    await orders.insertOne({ _id: 0 })
    const taken = { name: 'DuplicateValueError', owner: 1 }
    const writes: readonly ((session: ClientSession) => Promise<unknown>)[] = [
      (session) => users.insertOne({ _id: 2, email: 'a', region: 2 }, { session }),
      async (session) => {
        await users.insertOne({ _id: 2, email: 'b', region: 2 }, { session })
        await users.updateOne({ _id: 2 }, { $set: { email: 'a' } }, { session })
      },
    ]
    for (const write of writes)
      await client.withSession(async (session) => {
        session.startTransaction()
        await t.rejects(write(session), taken)
        const ended = { code: ErrorCodes.NoSuchTransaction }
        await t.rejects(orders.insertOne({ _id: 1 }, { session }), ended, 'later statements are refused as well')
        await t.rejects(session.commitTransaction(), ended)
      })
    t.equal(await orders.countDocuments(), 1)
    t.match(await users.backfill(), { reserved: 1, enforcing: true })
    t.match(await users.verify(), { documents: 1, reservations: 1, findings: [] })
  })

  t.test(`${place.title}: writers with and without transactions respect each other`, async (t) => {
    const main = await mainCollection(place)
    const writers = await Promise.all(
      (['auto', 'never'] as const).map((transactions) =>
        uniqueCollection(main, { unique: ['email'], transactions, busyMs: 60_000 }).init(),
      ),
    )
    const outcomes = { inserted: 0, taken: 0 }
    await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        try {
          await writers[n % 2]!.insertOne({ _id: n, email: `${n % 10}`, region: n })
          outcomes.inserted++
        } catch (error) {
          if ((error as Error).name !== 'DuplicateValueError') throw error
          outcomes.taken++
        }
      }),
    )
    t.same(outcomes, { inserted: 10, taken: 30 })
    await Promise.all(
      (await main.find().toArray()).map(({ _id, email }, n) =>
        n % 3 === 0
          ? writers[n % 2]!.deleteOne({ _id })
          : writers[n % 2]!.updateOne({ _id }, { $set: { email: `new ${email}` } }),
      ),
    )
    t.equal((await main.distinct('email')).length, 6)
    t.match(await writers[0]!.verify(), { findings: [], waiting: 0 })
  })
}

t.test('a commit whose answer is lost is repeated, and a crash between two statements leaves nothing', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline', port: 0 })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  const admin = client.db('admin')
  await admin.command({ shardCollection: 'app.users', key: { region: 'hashed' } })
  const main = client.db('app').collection<any>('users')
  const users = await uniqueCollection(main, { unique: ['email'] }).init()
  const refusedByDriver = { name: 'MongoTransactionError', message: /abortTransaction/ }
  const failOnce = (data: object): Promise<unknown> =>
    admin.command({ configureFailPoint: 'failCommand', mode: { times: 1 }, data })
  await failOnce({ failCommands: ['commitTransaction'], closeConnection: true })
  await users.insertOne({ _id: 1, email: 'a', region: 1 })
  await failOnce({ failCommands: ['insert'], closeConnection: true })
  await users.insertOne({ _id: 2, email: 'b', region: 2 })
  await failOnce({ failCommands: ['insert'], errorCode: 112, errorLabels: ['TransientTransactionError'] })
  await users.insertOne({ _id: 3, email: 'c', region: 3 })
  await failOnce({ failCommands: ['insert'], errorCode: 112, errorLabels: ['TransientTransactionError'] })
  let runs = 0
  await client.withSession((own) =>
    own.withTransaction(() => {
      runs++
      return users.insertMany([{ _id: 6, email: 'e', region: 6 }], { session: own })
    }),
  )
  t.equal(runs, 2, 'withTransaction receives the label of an error in insertMany')
  await client.withSession(async (own) => {
    own.startTransaction()
    await failOnce({ failCommands: ['insert'], namespace: 'app.users', closeConnection: true })
    const lost = await users.insertOne({ _id: 7, email: 'f', region: 7 }, { session: own }).catch((error) => error)
    t.ok(lost.hasErrorLabel('TransientTransactionError'))
    t.notOk(own.inTransaction())
    await t.rejects(own.commitTransaction(), refusedByDriver, 'the value is not reserved without its document')
  })
  await client.withSession(async (own) => {
    own.startTransaction()
    const data = { failCommands: ['abortTransaction'], closeConnection: true }
    await admin.command({ configureFailPoint: 'failCommand', mode: { times: 4 }, data })
    const taken = { name: 'DuplicateValueError', owner: 1 }
    await t.rejects(
      users.insertOne({ _id: 7, email: 'a', region: 7 }, { session: own }),
      taken,
      'the abort gets no answer',
    )
    await t.rejects(own.commitTransaction(), refusedByDriver)
  })
  const session = client.startSession()
  session.startTransaction()
  await users.insertOne({ _id: 4, email: 'd', region: 4 }, { session })
  for (const shard of ['shard01', 'shard02']) {
    await cluster.crash(shard)
    await cluster.restart(shard)
  }
  await t.rejects(session.commitTransaction(), 'the participants have lost it')
  await session.endSession()
  await users.insertOne({ _id: 5, email: 'd', region: 5 })
  t.match(await users.verify(), { documents: 5, reservations: 5, findings: [], waiting: 0 })
})

t.test('a server without transactions makes reservations', async (t) => {
  const cluster = await ShardedCluster.start({ topology: 'standalone', runtime: 'inline', port: 0 })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  const main = client.db('app').collection<any>('users')
  const users = await uniqueCollection(main, { unique: ['email'] }).init()
  t.same(users.writePath, { kind: 'reservation', reason: 'a server without a replica set has no transactions' })
  await users.insertOne({ _id: 1, email: 'a' })
  t.match(users.counters, { reserved: 1, confirmed: 1 })
})

t.test('on a replica set, in a collection that does not exist, a write is a transaction', async (t) => {
  const cluster = await ShardedCluster.start({ topology: 'replica-set', runtime: 'inline', port: 0 })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  const users = await uniqueCollection(client.db('app').collection<any>('users'), { unique: ['email'] }).init()
  await users.insertOne({ _id: 1, email: 'a' })
  await t.rejects(users.insertOne({ _id: 2, email: 'a' }), { name: 'DuplicateValueError' })
  t.match(users.counters, { reserved: 0 })
  t.equal(users.writePath.kind, 'transaction')
})

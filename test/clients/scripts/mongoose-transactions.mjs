/**
 * `node mongoose-transactions.mjs URI DATABASE`: what Mongoose promises about transactions, case by
 * case: sessions of documents and queries, populate, aggregation, rollback of documents, and
 * retries. On a sharded cluster also across shards.
 */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'

const [uri, name] = process.argv.slice(2)
const mongoose = createRequire(new URL('../package.json', import.meta.url))('mongoose')
const { Schema } = mongoose
const connection = await mongoose.createConnection(uri, { dbName: name }).asPromise()
await connection.dropDatabase()
const isSharded = (await connection.db.admin().command({ hello: 1 })).msg === 'isdbgrid'

let models = 0
/** A model of its own collection for each case. */
async function modelOf(fields, options) {
  const model = connection.model(`Case${++models}`, new Schema(fields, options))
  await model.createCollection()
  return model
}

async function inSession(body) {
  const session = await connection.startSession()
  try {
    await body(session)
  } finally {
    await session.endSession()
  }
}

const cases = {
  async 'a created document is visible in its transaction, and outside after the commit'() {
    const Person = await modelOf({ name: String })
    await inSession(async (session) => {
      session.startTransaction()
      await Person.create([{ name: 'Ada' }], { session })
      assert.equal(await Person.findOne({ name: 'Ada' }), null)
      assert.ok(await Person.findOne({ name: 'Ada' }).session(session))
      await session.commitTransaction()
      assert.ok(await Person.findOne({ name: 'Ada' }))
    })
  },

  async 'withTransaction commits what its function created'() {
    const Person = await modelOf({ name: String })
    await inSession((session) => session.withTransaction(() => Person.create([{ name: 'Ada' }], { session })))
    assert.equal(await Person.countDocuments(), 1)
  },

  async 'an abort undoes every create'() {
    const Person = await modelOf({ name: String })
    await inSession(async (session) => {
      session.startTransaction()
      await Person.create([{ name: 'Ada' }], { session })
      await Person.create([{ name: 'Bob' }], { session })
      await session.abortTransaction()
    })
    assert.equal(await Person.countDocuments(), 0)
  },

  async 'save() uses the session with which a document was found'() {
    const Person = await modelOf({ name: String })
    await Person.create({ name: 'Ada' })
    await inSession(async (session) => {
      session.startTransaction()
      const person = await Person.findOne({ name: 'Ada' }).session(session)
      assert.ok(person.$session())
      person.name = 'Bob'
      await person.save()
      assert.equal(await Person.findOne({ name: 'Bob' }), null)
      await session.commitTransaction()
      assert.ok(await Person.findOne({ name: 'Bob' }))
    })
  },

  async 'save() uses the session with which a document was created, also without changes'() {
    const Person = await modelOf({ name: String })
    await inSession(async (session) => {
      await session.withTransaction(async () => {
        const [person] = await Person.create([{ name: 'Ada' }], { session })
        await person.save()
        person.name = 'Bob'
        await person.save()
        assert.equal(await Person.countDocuments(), 0)
      })
    })
    assert.ok(await Person.findOne({ name: 'Bob' }))
  },

  async 'an aggregation sees the inserts of its transaction'() {
    const Visit = await modelOf({ at: Date })
    await inSession(async (session) => {
      session.startTransaction()
      const dates = ['2024-03-01', '2024-03-09', '2023-03-01', '2023-02-01']
      await Visit.insertMany(
        dates.map((at) => ({ at: new Date(at) })),
        { session },
      )
      const found = await Visit.aggregate([
        { $group: { _id: { year: { $year: '$at' }, month: { $month: '$at' } }, count: { $sum: 1 } } },
        { $sort: { count: -1, '_id.month': -1 } },
      ]).session(session)
      assert.deepEqual(
        found.map(({ _id, count }) => [_id.year, _id.month, count]),
        [
          [2024, 3, 2],
          [2023, 3, 1],
          [2023, 2, 1],
        ],
      )
      assert.deepEqual(await Visit.aggregate([{ $count: 'n' }]), [])
      await session.commitTransaction()
    })
  },

  async 'populate() uses the session of the query or of the document, unless it is given another one'() {
    const Author = await modelOf({ name: String })
    const Book = await modelOf({ author: { type: Schema.Types.ObjectId, ref: Author.modelName } })
    await inSession(async (session) => {
      session.startTransaction()
      const [author] = await Author.create([{ name: 'Mary' }], { session })
      const [book] = await Book.create([{ author: author._id }], { session })
      const outside = await Book.create({ author: author._id })
      const ofQuery = await Book.findById(book._id).session(session).populate('author')
      assert.equal(ofQuery.author.name, 'Mary')
      const given = await Book.findById(outside._id).populate({ path: 'author', options: { session } })
      assert.equal(given.author.name, 'Mary')
      const ofDocument = await Book.findById(book._id).session(session)
      assert.equal((await ofDocument.populate('author')).author.name, 'Mary')
      const none = await Book.findById(book._id).session(session)
      await none.populate({ path: 'author', options: { session: null } })
      assert.equal(none.author, null)
      await session.commitTransaction()
    })
  },

  async 'deletes and updates of models and documents are part of it, and are undone by an abort'() {
    const Person = await modelOf({ name: String, title: String })
    await inSession(async (session) => {
      session.startTransaction()
      await Person.insertMany([{ name: 'Ada L' }, { name: 'Bob L' }, { name: 'Cy' }, { name: 'Di' }], { session })
      assert.equal((await Person.deleteMany({ name: / L$/ }, { session })).deletedCount, 2)
      await Person.deleteOne({ name: 'Cy' }, { session })
      assert.equal((await Person.find({}).session(session)).length, 1)
      await session.commitTransaction()
      session.startTransaction()
      const person = await Person.findOne({}).session(session)
      await person.updateOne({ title: 'Dr' })
      assert.equal(await Person.countDocuments({ title: 'Dr' }), 0)
      await person.deleteOne()
      assert.equal(await Person.countDocuments().session(session), 0)
      await session.abortTransaction()
    })
    const { name: left, title } = await Person.findOne()
    assert.deepEqual([left, title], ['Di', undefined])
  },

  async 'findOneAndUpdate, bulkWrite, bulkSave, distinct and cursors take a session'() {
    const Person = await modelOf({ name: String, n: { type: Number, default: 0 } })
    await inSession(async (session) => {
      session.startTransaction()
      await Person.bulkWrite(
        [1, 2, 3].map((n) => ({ insertOne: { document: { name: `p${n}`, n } } })),
        { session },
      )
      const found = await Person.findOneAndUpdate({ n: 2 }, { $inc: { n: 10 } }, { session, returnDocument: 'after' })
      assert.equal(found.n, 12)
      const all = await Person.find().session(session)
      for (const person of all) person.name = 'same'
      await Person.bulkSave(all, { session })
      assert.deepEqual(await Person.distinct('name').session(session), ['same'])
      let read = 0
      for await (const person of Person.find().session(session).cursor({ batchSize: 1 })) read += person.n
      assert.equal(read, 16)
      assert.equal(await Person.countDocuments(), 0)
      await session.commitTransaction()
    })
    assert.equal(await Person.countDocuments({ name: 'same' }), 3)
  },

  async 'connection.transaction() resets documents after an error, and runs again after a conflict'() {
    const Counter = await modelOf({ n: Number }, { optimisticConcurrency: true })
    const fresh = new Counter({ n: 1 })
    await assert.rejects(
      connection.transaction(async (session) => {
        await fresh.save({ session })
        assert.equal(fresh.isNew, false)
        throw new Error('no')
      }),
      { message: 'no' },
    )
    assert.equal(fresh.isNew, true)
    await fresh.save()
    let runs = 0
    await inSession(async (rival) => {
      rival.startTransaction()
      await Counter.updateOne({}, { $inc: { n: 1 } }, { session: rival })
      await connection.transaction(async (session) => {
        if (++runs === 2) await rival.commitTransaction()
        await Counter.updateOne({}, { $inc: { n: 1 } }, { session })
      })
    })
    assert.ok(runs >= 2)
    assert.equal((await Counter.findOne()).n, 3)
  },

  async 'with transactionAsyncLocalStorage no operation needs the session'() {
    const base = new mongoose.Mongoose()
    base.set('transactionAsyncLocalStorage', true)
    await base.connect(uri, { dbName: name })
    try {
      const Person = base.model('Implicit', new base.Schema({ name: String }))
      await Person.createCollection()
      await assert.rejects(
        base.connection.transaction(async () => {
          await Person.create({ name: 'Ada' })
          assert.equal(await Person.countDocuments(), 1)
          throw new Error('no')
        }),
        { message: 'no' },
      )
      assert.equal(await Person.countDocuments(), 0)
    } finally {
      await base.disconnect()
    }
  },

  async 'a transaction writes on several shards, or on none'() {
    const Account = await modelOf({ _id: Number, balance: Number })
    if (isSharded) {
      const admin = connection.db.admin()
      await admin.command({ shardCollection: `${name}.${Account.collection.name}`, key: { _id: 'hashed' } })
    }
    const ids = Array.from({ length: 20 }, (_, i) => i)
    await Account.insertMany(ids.map((_id) => ({ _id, balance: 10 })))
    const transfer = (from, to, amount) =>
      connection.transaction(async (session) => {
        await Account.updateOne({ _id: to }, { $inc: { balance: amount } }, { session })
        const { balance } = await Account.findOneAndUpdate(
          { _id: from },
          { $inc: { balance: -amount } },
          { session, returnDocument: 'after' },
        )
        if (balance < 0) throw new Error('overdrawn')
      })
    await Promise.all(ids.map((from) => transfer(from, (from + 7) % 20, 10)))
    await assert.rejects(transfer(3, 4, 11), { message: 'overdrawn' })
    assert.deepEqual(await Account.distinct('balance'), [10])
  },
}

try {
  for (const [title, run] of Object.entries(cases))
    await run().catch((error) => {
      throw new Error(title, { cause: error })
    })
  console.log('fine')
} finally {
  await connection.dropDatabase()
  await mongoose.disconnect()
}

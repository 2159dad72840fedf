/**
 * `node mongoose-models.mjs URI DATABASE`: Mongoose models: populate, validation, bulk writes,
 * aggregation, cursors.
 */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'

const [uri, name] = process.argv.slice(2)
const mongoose = createRequire(new URL('../package.json', import.meta.url))('mongoose')
const { Schema } = mongoose
await mongoose.connect(uri, { dbName: name })
try {
  await mongoose.connection.dropDatabase()
  const authorSchema = new Schema(
    { name: { type: String, required: true }, email: { type: String, unique: true, lowercase: true, match: /@/ } },
    { timestamps: true },
  )
  authorSchema.virtual('books', { ref: 'Book', localField: '_id', foreignField: 'author' })
  const Author = mongoose.model('Author', authorSchema)
  const Book = mongoose.model(
    'Book',
    new Schema({
      title: String,
      year: { type: Number, min: 1000 },
      author: { type: Schema.Types.ObjectId, ref: 'Author', index: true },
      tags: [String],
      reviews: [{ stars: Number, by: { type: Schema.Types.ObjectId, ref: 'Author' } }],
      extra: { type: Map, of: String },
    }),
  )
  await Promise.all([Author.init(), Book.init()])
  await mongoose.connection.db.admin().command({ shardCollection: `${name}.books`, key: { _id: 'hashed' } })

  const [mary, jane] = await Author.create([
    { name: 'Mary', email: 'MARY@example.org' },
    { name: 'Jane', email: 'jane@example.org' },
  ])
  assert.equal(mary.email, 'mary@example.org')
  assert.ok(mary.createdAt instanceof Date)
  await assert.rejects(Author.create({ email: 'no name' }), { name: 'ValidationError' })
  await assert.rejects(Author.create({ name: 'Again', email: 'mary@example.org' }), { code: 11000 })
  const before = mary.updatedAt
  mary.name = 'Mary S.'
  await mary.save()
  assert.ok(mary.updatedAt >= before)
  const stale = await Author.findById(mary._id)
  await Author.deleteOne({ _id: mary._id })
  stale.name = 'gone'
  await assert.rejects(stale.save(), { name: 'DocumentNotFoundError' })
  await Author.collection.insertOne(mary.toObject())

  await Book.insertMany(
    Array.from({ length: 100 }, (_, i) => ({
      title: `book ${i}`,
      year: 1900 + i,
      author: i % 2 === 0 ? mary._id : jane._id,
      tags: [`t${i % 3}`],
      reviews: [{ stars: i % 5, by: jane._id }],
      extra: { shelf: String(i % 4) },
    })),
  )
  const populated = await Book.findOne({ year: 1900 }).populate('author').populate('reviews.by', 'name')
  assert.equal(populated.author.email, 'mary@example.org')
  assert.equal(populated.reviews[0].by.name, 'Jane')
  assert.equal(populated.extra.get('shelf'), '0')
  assert.equal((await Author.findById(jane._id).populate('books')).books.length, 50)
  assert.deepEqual(Object.keys(await Book.findOne({ year: 1901 }, 'title').lean()).sort(), ['_id', 'title'])
  populated.tags.push('new')
  populated.reviews[0].stars = 9
  await populated.save()
  assert.deepEqual([...(await Book.findById(populated._id)).tags], ['t0', 'new'])
  assert.equal(await Book.countDocuments({ reviews: { $elemMatch: { stars: 9 } } }), 1)
  await assert.rejects(Book.updateOne({ year: 1901 }, { year: 5 }, { runValidators: true }), {
    name: 'ValidationError',
  })

  // The router of 7.0 needs the shard key in writes of one document.
  const last = await Book.findOne({ title: 'book 99' })
  const bulk = await Book.bulkWrite([
    { insertOne: { document: { title: 'bulk', year: 2100, author: jane._id } } },
    { updateMany: { filter: { year: { $lt: 1910 } }, update: { $addToSet: { tags: 'old' } } } },
    {
      updateOne: {
        filter: { _id: new mongoose.Types.ObjectId(), title: 'upserted' },
        update: { $set: { year: 2200 } },
        upsert: true,
      },
    },
    { deleteOne: { filter: { _id: last._id, title: 'book 99' } } },
  ])
  assert.deepEqual([bulk.insertedCount, bulk.modifiedCount, bulk.upsertedCount, bulk.deletedCount], [1, 10, 1, 1])
  const decades = await Book.aggregate([
    { $match: { year: { $lt: 1950 } } },
    { $unwind: '$reviews' },
    {
      $group: {
        _id: { $floor: { $divide: ['$year', 10] } },
        stars: { $sum: '$reviews.stars' },
        titles: { $push: '$title' },
      },
    },
    { $sort: { _id: 1 } },
  ])
  assert.deepEqual(
    decades.map(({ _id, titles }) => [_id, titles.length]),
    [190, 191, 192, 193, 194].map((decade) => [decade, 10]),
  )
  const joined = await Book.aggregate([
    { $match: { year: 1950 } },
    { $lookup: { from: 'authors', localField: 'author', foreignField: '_id', as: 'authors' } },
  ])
  assert.equal(joined[0].authors[0].name, 'Mary S.')
  let seen = 0
  for await (const book of Book.find().sort('year').batchSize(7).cursor()) seen += book.title === undefined ? 0 : 1
  assert.equal(seen, 101)
  const changed = await Book.findOneAndUpdate(
    { _id: bulk.insertedIds[0], title: 'bulk' },
    { $inc: { year: 1 } },
    { returnDocument: 'after' },
  )
  assert.equal(changed.year, 2101)
  assert.deepEqual((await Book.distinct('tags')).sort(), ['new', 'old', 't0', 't1', 't2'])
  assert.ok(await Book.exists({ year: 1950 }))
  await mongoose.connection.dropDatabase()
} finally {
  await mongoose.disconnect()
}
console.log('fine')

/** Reads and writes, with their expected results and effects. */
import type { Collection } from 'mongodb'
import type { Row } from './catalog-changes.js'

export interface Operation {
  readonly name: string
  /** @returns the operation's result, and the expected one */
  run(
    collection: Collection<Row>,
    held: readonly Row[],
    records: number,
  ): Promise<readonly [got: unknown, wanted: unknown]>
  /** The rows of the collection afterwards. */
  leaves?(held: readonly Row[]): readonly Row[]
}

export const byId = (a: Row, b: Row) => a._id - b._id
const fresh: Row = { _id: 50, k: 5, n: 9 }
/** Selects a row that exists before and after most changes. */
const withKey = (held: readonly Row[], k: number) => held.filter((row) => row.k === k)

export const operations: readonly Operation[] = [
  {
    name: 'find by key',
    run: async (collection, held) => [await collection.find({ k: 5 }).toArray(), withKey(held, 5)],
  },
  {
    name: 'find, sorted',
    run: async (collection, held) => [
      await collection.find({ n: 1 }).sort({ _id: -1 }).limit(3).toArray(),
      held
        .filter((row) => row.n === 1)
        .sort((a, b) => byId(b, a))
        .slice(0, 3),
    ],
  },
  {
    name: 'count',
    run: async (collection, held) => [
      await collection.countDocuments({ n: 1 }),
      held.filter((row) => row.n === 1).length,
    ],
  },
  {
    name: 'estimatedDocumentCount',
    run: async (collection, _, records) => [await collection.estimatedDocumentCount(), records],
  },
  {
    name: 'distinct',
    run: async (collection, held) => [await collection.distinct('k'), held.map((row) => row.k).sort((a, b) => a - b)],
  },
  {
    name: 'aggregate',
    run: async (collection, held) => [
      await collection.aggregate([{ $group: { _id: null, sum: { $sum: '$k' } } }]).toArray(),
      held.length === 0 ? [] : [{ _id: null, sum: held.reduce((sum, row) => sum + row.k, 0) }],
    ],
  },
  {
    name: 'insert',
    run: async (collection) => [(await collection.insertOne({ ...fresh })).insertedId, 50],
    leaves: (held) => [...held, fresh],
  },
  {
    name: 'insertMany',
    run: async (collection) => [
      (
        await collection.insertMany(
          [0, 1, 2, 3].map((i) => ({ _id: 60 + i, k: i * 2, n: 0 })),
          { ordered: false },
        )
      ).insertedCount,
      4,
    ],
    leaves: (held) => [...held, ...[0, 1, 2, 3].map((i) => ({ _id: 60 + i, k: i * 2, n: 0 }))],
  },
  {
    name: 'updateOne by key',
    run: async (collection, held) => [
      (await collection.updateOne({ k: 5, n: 1 }, { $set: { seen: true } })).modifiedCount,
      withKey(held, 5).length,
    ],
    leaves: (held) => held.map((row) => (row.k === 5 ? { ...row, seen: true } : row)),
  },
  {
    name: 'updateMany',
    run: async (collection, held) => [
      (await collection.updateMany({ n: 1 }, { $set: { seen: true } })).modifiedCount,
      held.filter((row) => row.n === 1).length,
    ],
    leaves: (held) => held.map((row) => (row.n === 1 ? { ...row, seen: true } : row)),
  },
  {
    name: 'upsert',
    run: async (collection, held) => [
      (await collection.updateOne({ k: 5, n: 1, _id: 5 }, { $set: { seen: true } }, { upsert: true })).upsertedCount,
      withKey(held, 5).length === 0 ? 1 : 0,
    ],
    leaves: (held) => [...held.filter((row) => row.k !== 5), { _id: 5, k: 5, n: 1, seen: true } as Row],
  },
  {
    name: 'replaceOne',
    run: async (collection, held) => [
      (await collection.replaceOne({ k: 5, n: 1, _id: 5 }, { k: 5, n: 1, whole: true } as unknown as Row))
        .modifiedCount,
      withKey(held, 5).length,
    ],
    leaves: (held) => held.map((row) => (row.k === 5 ? ({ _id: 5, k: 5, n: 1, whole: true } as Row) : row)),
  },
  {
    name: 'deleteOne by key',
    run: async (collection, held) => [
      (await collection.deleteOne({ k: 5, n: 1 })).deletedCount,
      withKey(held, 5).length,
    ],
    leaves: (held) => held.filter((row) => row.k !== 5),
  },
  {
    name: 'deleteMany',
    run: async (collection, held) => [
      (await collection.deleteMany({ n: 1 })).deletedCount,
      held.filter((row) => row.n === 1).length,
    ],
    leaves: (held) => held.filter((row) => row.n !== 1),
  },
  {
    name: 'findAndModify',
    run: async (collection, held) => [
      await collection.findOneAndUpdate({ k: 5, n: 1 }, { $set: { seen: true } }, { returnDocument: 'after' }),
      withKey(held, 5).map((row) => ({ ...row, seen: true }))[0] ?? null,
    ],
    leaves: (held) => held.map((row) => (row.k === 5 ? { ...row, seen: true } : row)),
  },
  {
    name: 'a bulk of all kinds',
    async run(collection, held) {
      const result = await collection.bulkWrite([
        { insertOne: { document: { ...fresh } } },
        { updateMany: { filter: { n: 0 }, update: { $set: { seen: true } } } },
        { deleteOne: { filter: { k: 3, n: 1 } } },
      ])
      return [
        [result.insertedCount, result.modifiedCount, result.deletedCount],
        [1, held.filter((row) => row.n === 0).length, withKey(held, 3).length],
      ]
    },
    leaves: (held) =>
      [...held, fresh].filter((row) => row.k !== 3).map((row) => (row.n === 0 ? { ...row, seen: true } : row)),
  },
]

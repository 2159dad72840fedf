/**
 * Operations of applications, drawn from a seed. Their answers do not depend on the shards of the
 * documents.
 */
import type { Random } from '@shardlab/actor'
import type { AnyBulkWriteOperation, Db, Document } from 'mongodb'
import type { Loose } from '../../support/clusters.js'

/** Shard key of each collection; null: unsharded. */
export const keys: Readonly<Record<string, Document | null>> = {
  ranged: { k: 1 },
  hashed: { k: 'hashed' },
  compound: { a: 1, k: 1 },
  plain: null,
}
const names = Object.keys(keys)

export interface Operation {
  /** The operation with all its arguments, for messages. */
  readonly text: string
  readonly run: (db: Db) => Promise<unknown>
  /** Whether the elements of the answer are ordered. Default true. */
  readonly ordered?: boolean
  /** The collection that it changes. */
  readonly changes?: string
}

interface Item {
  readonly _id: number
  readonly k: unknown
  readonly a: number
}

export class RandomOperations {
  readonly #random: Random
  readonly #items = new Map<string, Item[]>(names.map((name) => [name, []]))
  #ids = 0

  constructor(random: Random) {
    this.#random = random
  }

  filling(name: string): Operation {
    const documents = Array.from({ length: 40 }, () => this.#document(name))
    return this.#operation(name, 'insertMany', [documents], async (c) => (await c.insertMany(documents)).insertedCount)
  }

  next(): Operation {
    const name = this.#pick(names)
    const make = this.#pick([
      () => this.#find(name),
      () => this.#find(name),
      () => this.#batches(name),
      () => this.#aggregate(name),
      () => this.#aggregate(name),
      () => this.#count(name),
      () => this.#distinct(name),
      () => this.#modify(name),
      () => this.#write(name),
      () => this.#bulk(name),
      () => this.#insertSome(name),
      () => this.#merge(name),
    ])
    return make()
  }

  #find(name: string): Operation {
    const [filter, sort] = [this.#filter(), this.#sort()]
    const options = {
      sort,
      skip: this.#below(5),
      limit: this.#pick([0, 7]),
      batchSize: 2 + this.#below(9),
      projection: this.#pick([{}, { t: 0 }, { k: 1, n: 1 }]),
    }
    return this.#operation(name, 'find', [filter, options], (c) => c.find(filter, options).toArray())
  }

  /** Reads the number of documents in each batch of a sorted cursor. */
  #batches(name: string): Operation {
    const [batchSize, following] = [this.#below(8), 1 + this.#below(8)]
    const command = { find: name, filter: this.#filter(), sort: this.#sort(), batchSize, limit: this.#pick([0, 5, 20]) }
    return this.#operation(name, 'batches', [command, following], async ({ db }) => {
      const { cursor } = await db.command(command, { promoteLongs: false })
      const sizes: number[] = [cursor.firstBatch.length]
      for (let { id } = cursor; !id.isZero();) {
        const { cursor: next } = await db.command(
          { getMore: id, collection: name, batchSize: following },
          { promoteLongs: false },
        )
        sizes.push(next.nextBatch.length)
        id = next.id
      }
      // Whether a router returns an empty last batch depends on the shards.
      return sizes.length > 1 && sizes.at(-1) === 0 ? sizes.slice(0, -1) : sizes
    })
  }

  #count(name: string): Operation {
    const filter = this.#filter()
    return this.#operation(name, 'countDocuments', [filter], (c) => c.countDocuments(filter))
  }

  #distinct(name: string): Operation {
    const [field, filter] = [this.#pick(['a', 's', 't', 'n']), this.#filter()]
    return { ...this.#operation(name, 'distinct', [field, filter], (c) => c.distinct(field, filter)), ordered: false }
  }

  #aggregate(name: string): Operation {
    const from = this.#pick(names)
    const [stages, ordered] = this.#pick<readonly [Document[], boolean]>([
      [[{ $group: { _id: '$a', c: { $sum: 1 }, n: { $sum: '$n' }, m: { $max: '$k' } } }], false],
      [[{ $sort: this.#sort() }, { $group: { _id: '$s', first: { $first: '$_id' }, all: { $push: '$n' } } }], false],
      [[{ $sort: this.#sort() }, { $skip: 2 }, { $limit: 9 }, { $addFields: { z: { $add: ['$n', 1] } } }], true],
      [
        [{ $lookup: { from, localField: 'a', foreignField: 'n', as: 'j' } }, { $project: { j: { $size: '$j' } } }],
        false,
      ],
      [[{ $facet: { x: [{ $count: 'c' }], y: [{ $sort: this.#sort() }, { $limit: 3 }] } }], true],
      [
        [
          { $unionWith: { coll: from, pipeline: [{ $match: this.#filter() }] } },
          { $sortByCount: '$a' },
          { $sort: { count: -1, _id: 1 } },
        ],
        true,
      ],
      [[{ $unwind: '$t' }, { $bucket: { groupBy: '$t', boundaries: [0, 4, 10], output: { c: { $sum: 1 } } } }], true],
      [
        [
          {
            $setWindowFields: {
              partitionBy: '$a',
              sortBy: { _id: 1 },
              output: { r: { $sum: '$n', window: { documents: ['unbounded', 'current'] } } },
            },
          },
        ],
        false,
      ],
    ])
    const pipeline = [{ $match: this.#filter() }, ...stages]
    return { ...this.#operation(name, 'aggregate', [pipeline], (c) => c.aggregate(pipeline).toArray()), ordered }
  }

  /** Into a collection whose ids no other operation uses. */
  #merge(name: string): Operation {
    const pipeline = [
      { $match: this.#filter() },
      { $project: { n: 1 } },
      { $merge: { into: 'merged', whenMatched: 'merge' } },
    ]
    return {
      ...this.#operation(name, 'aggregate', [pipeline], (c) => c.aggregate(pipeline).toArray()),
      changes: 'merged',
    }
  }

  #modify(name: string): Operation {
    const [one, change] = [this.#one(name), this.#change()]
    const options = {
      returnDocument: this.#pick(['before', 'after'] as const),
      upsert: this.#random.chance(1, 3),
      includeResultMetadata: true as const,
    }
    return this.#changing(name, 'findOneAndUpdate', [one, change, options], async (c) => {
      const { value, lastErrorObject } = await c.findOneAndUpdate(one, change, options)
      return [value, lastErrorObject]
    })
  }

  #write(name: string): Operation {
    const model = this.#random.chance(1, 5) ? this.#changeOfKey(name) : this.#model(name)
    return this.#changing(name, 'write', [model], (c) => c.bulkWrite([model]))
  }

  #bulk(name: string): Operation {
    const models = Array.from({ length: 2 + this.#below(6) }, () => this.#model(name))
    return this.#changing(name, 'bulkWrite', [models], (c) => c.bulkWrite(models))
  }

  /**
   * Inserts documents of which a sharded collection accepts only some: no field of a key may hold
   * an array.
   */
  #insertSome(name: string): Operation {
    const [k, a] = [{ k: [1, 2] }, { a: [] }]
    const documents = Array.from({ length: 2 + this.#below(4) }, () => ({
      ...this.#document(null),
      ...this.#pick([{}, k, a]),
    }))
    const options = { ordered: this.#pick([true, false]) }
    return this.#changing(
      name,
      'insertMany',
      [documents, options],
      async (c) => (await c.insertMany(documents, options)).insertedCount,
    )
  }

  /** The document may move to another shard: the server needs a batch of its own for that. */
  #changeOfKey(name: string): AnyBulkWriteOperation<any> {
    return { updateOne: { filter: this.#one(name), update: { $set: { k: this.#value(), a: this.#below(4) } } } }
  }

  #model(name: string): AnyBulkWriteOperation<any> {
    const [filter, update] = [this.#one(name), this.#change()]
    const { _id: _, ...replacement } = { ...this.#document(null), ...filter }
    return this.#pick<AnyBulkWriteOperation<any>>([
      { updateOne: { filter, update, upsert: this.#random.chance(1, 3) } },
      { updateMany: { filter: this.#filter(), update } },
      { replaceOne: { filter, replacement } },
      { deleteOne: { filter } },
      { deleteMany: { filter: { n: this.#below(40), ...this.#filter() } } },
      { insertOne: { document: this.#document(name) } },
    ])
  }

  #changing(
    name: string,
    what: string,
    args: readonly unknown[],
    run: (collection: Loose) => Promise<unknown>,
  ): Operation {
    return { ...this.#operation(name, what, args, run), changes: name }
  }

  #operation(
    name: string,
    what: string,
    args: readonly unknown[],
    run: (collection: Loose) => Promise<unknown>,
  ): Operation {
    return {
      text: `${name}.${what}(${args.map((arg) => JSON.stringify(arg)).join(', ')})`,
      run: (db) => run(db.collection<any>(name)),
    }
  }

  /**
   * A filter for at most one document, by the key at its insertion; the key may have changed since.
   */
  #one(name: string): Document {
    const { _id, k, a } = this.#pick(this.#items.get(name)!)
    return { _id, k, a }
  }

  #document(name: string | null): Document & Item {
    const document = {
      _id: ++this.#ids,
      k: this.#value(),
      a: this.#below(4),
      n: this.#below(40),
      s: this.#pick(['a', 'b', 'B', 'é', '']),
      t: Array.from({ length: this.#below(4) }, () => this.#below(9)),
    }
    if (name !== null) this.#items.get(name)!.push(document)
    return document
  }

  #change(): Document {
    return this.#pick<Document>([
      { $inc: { n: 1 } },
      { $set: { s: 'new', 'o.x': this.#below(3) } },
      { $push: { t: this.#below(9) } },
      { $unset: { s: 1 } },
      { $max: { n: 20 } },
    ])
  }

  #filter(): Document {
    const n = this.#below(40)
    return this.#pick<Document>([
      {},
      { k: this.#value() },
      { k: { $gte: n } },
      { k: { $in: [n, n + 1, 'a'] }, a: { $ne: 1 } },
      { a: this.#below(4), n: { $lt: n } },
      { $or: [{ k: { $lt: n, $gte: 5 } }, { s: 'b' }] },
      { t: { $elemMatch: { $gt: 3, $lt: 7 } } },
      { _id: { $gt: this.#below(this.#ids) } },
    ])
  }

  #sort(): Record<string, 1 | -1> {
    return { [this.#pick(['k', 'n', 's', 't'])]: this.#pick([1, -1] as const), _id: this.#pick([1, -1] as const) }
  }

  #value(): unknown {
    return this.#pick([this.#below(40), this.#below(40), this.#below(40) + 0.5, 'a', null, { x: this.#below(3) }])
  }

  #below(limit: number): number {
    return this.#random.below(limit)
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.#below(values.length)]!
  }
}

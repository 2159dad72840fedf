/** What the benches `operations` and `compare` measure, on a collection with 100,000 documents. */
import { encode, type Document } from '@shardlab/bson'
import type { Collection } from 'mongodb'
import type { RawClient } from '../../support/raw-client.js'

const scanned = 100_000

type Sequences = readonly (readonly [string, readonly Uint8Array[]])[]
export type Send = (command: Document, sequences?: Sequences) => Promise<Document>

export interface Row {
  readonly name: string
  /** Operations of one round, over all connections. */
  readonly count: number
  /** Runs operation number `i` of the whole measurement. */
  run(i: number, send: Send, driver: Collection<{ _id: number }>): Promise<void>
}

export const $db = 'bench'
const text = 'a text of some length, as documents have them'
const documentOf = (i: number) => ({
  _id: i,
  group: i % 100,
  n: 0,
  name: `name ${i}`,
  text,
  nested: { a: i, b: [1, 2, 3] },
})
const fresh = { one: 10_000_000, many: 20_000_000, driver: 30_000_000 }

async function checked(send: Send, command: Document, sequences?: Sequences): Promise<Document> {
  const reply = await send({ ...command, $db }, sequences)
  if (reply['ok'] !== 1 || reply['writeErrors'] !== undefined)
    throw new Error(`${Object.keys(command)[0]} failed: ${JSON.stringify(reply)}`)
  return reply
}

async function readAll(send: Send, command: Document): Promise<number> {
  let { cursor } = await checked(send, command)
  let rows = cursor.firstBatch.length as number
  while (cursor.id !== 0) {
    cursor = (await checked(send, { getMore: BigInt(cursor.id), collection: 'rows' })).cursor
    rows += cursor.nextBatch.length as number
  }
  return rows
}

export const rows: readonly Row[] = [
  {
    name: 'ping',
    count: 4000,
    run: async (_, send) => void (await checked(send, { ping: 1 })),
  },
  {
    name: 'insert of one document',
    count: 2000,
    run: async (i, send) =>
      void (await checked(send, { insert: 'rows' }, [['documents', [encode(documentOf(fresh.one + i))]]])),
  },
  {
    name: 'insert of 1,000 documents',
    count: 12,
    run: async (i, send) => {
      const batch = Array.from({ length: 1000 }, (_, at) => encode(documentOf(fresh.many + i * 1000 + at)))
      await checked(send, { insert: 'rows', ordered: false }, [['documents', batch]])
    },
  },
  {
    name: 'find one by _id',
    count: 3000,
    run: async (i, send) => {
      await checked(send, { find: 'rows', filter: { _id: (i * 7919) % scanned }, limit: 1, singleBatch: true })
    },
  },
  {
    name: 'find of 100 documents by an index, all shards',
    count: 300,
    run: async (i, send) =>
      void (await checked(send, {
        find: 'rows',
        filter: { _id: { $gte: i * 100, $lt: i * 100 + 100 } },
        batchSize: 200,
      })),
  },
  {
    name: 'update of one document by _id',
    count: 2000,
    run: async (i, send) => {
      await checked(send, { update: 'rows', updates: [{ q: { _id: (i * 7919) % scanned }, u: { $inc: { n: 1 } } }] })
    },
  },
  {
    name: 'aggregate $match, $group over 1,000 documents',
    count: 100,
    run: async (i, send) => {
      const pipeline = [{ $match: { group: i % 100 } }, { $group: { _id: '$n', sum: { $sum: '$nested.a' } } }]
      await checked(send, { aggregate: 'rows', pipeline, cursor: {} })
    },
  },
  {
    name: 'count with a filter, over 100,000 documents',
    count: 4,
    run: async (_, send) => void (await checked(send, { count: 'rows', query: { name: 'nobody' } })),
  },
  {
    name: 'find of all documents, over 100,000',
    count: 1,
    run: async (_, send) => {
      if ((await readAll(send, { find: 'rows', filter: {} })) < scanned) throw new Error('documents are missing')
    },
  },
  {
    name: 'driver: insertOne',
    count: 1000,
    run: async (i, _, driver) => void (await driver.insertOne(documentOf(fresh.driver + i))),
  },
  {
    name: 'driver: findOne by _id',
    count: 1500,
    run: async (i, _, driver) => void (await driver.findOne({ _id: (i * 7919) % scanned })),
  },
  {
    name: 'driver: updateOne by _id',
    count: 1000,
    run: async (i, _, driver) => void (await driver.updateOne({ _id: (i * 7919) % scanned }, { $inc: { n: 1 } })),
  },
]

/** Runs each operation of the row once, with one operation per client at a time. */
export async function runRow(
  row: Row,
  round: number,
  clients: readonly RawClient[],
  collection: Collection<{ _id: number }>,
): Promise<void> {
  let next = 0
  const work = clients.map(async (client) => {
    const send: Send = (command, sequences) => client.command(command, sequences)
    while (next < row.count) await row.run(round * row.count + next++, send, collection)
  })
  await Promise.all(work)
}

export async function prepare(send: Send): Promise<void> {
  const reply = await send({ shardCollection: `${$db}.rows`, key: { _id: 'hashed' }, $db: 'admin' })
  if (reply['ok'] !== 1) throw new Error(`shardCollection failed: ${JSON.stringify(reply)}`)
  for (let from = 0; from < scanned; from += 1000) {
    const batch = Array.from({ length: 1000 }, (_, at) => encode(documentOf(from + at)))
    await checked(send, { insert: 'rows', ordered: false }, [['documents', batch]])
  }
  await checked(send, { createIndexes: 'rows', indexes: [{ key: { group: 1 }, name: 'group_1' }] })
}

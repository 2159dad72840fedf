import type { Db, Document, MongoClient } from 'mongodb'

const documentsPerRound = 2000
const batchDocuments = 500
const cursorsPerRead = 6
const filler = 'x'.repeat(1000)

/**
 * Creates a collection, fills it, reads it with cursors of which half stay open, changes it, and
 * drops it. Every second collection is sharded.
 */
export async function createFillReadDrop(client: MongoClient, round: number): Promise<void> {
  const db = client.db(`soak${round % 4}`)
  const name = `round${round}`
  if (round % 2 === 0)
    await client.db('admin').command({ shardCollection: `${db.databaseName}.${name}`, key: { key: 'hashed' } })
  const collection = db.collection<Document>(name)
  await collection.createIndex({ group: 1 })
  for (let at = 0; at < documentsPerRound; at += batchDocuments) {
    const documents = Array.from({ length: batchDocuments }, (_, i) => ({
      key: at + i,
      group: (at + i) % 50,
      filler: `${filler}${at + i}`,
    }))
    await collection.insertMany(documents)
  }
  await readHalf(db, name)
  await collection.updateMany({ group: { $lt: 10 } }, { $set: { changed: true } })
  await readHalf(db, name)
  if (round % 8 === 7) await db.dropDatabase()
  else await collection.drop()
}

/** Opens cursors; every second one is closed. */
async function readHalf(db: Db, name: string): Promise<void> {
  for (let i = 0; i < cursorsPerRead; i++) {
    const command: Document =
      i % 4 < 2
        ? { find: name, filter: { group: { $lt: 10 + 3 * i } }, batchSize: 5 }
        : { aggregate: name, pipeline: [{ $match: { group: { $lt: 10 + 3 * i } } }], cursor: { batchSize: 5 } }
    const { cursor } = await db.command(command, { promoteLongs: false })
    if (i % 2 === 0 && !cursor.id.isZero()) await db.command({ killCursors: name, cursors: [cursor.id] })
  }
}

/** Retryable inserts of small documents into a sharded collection, several commands at a time. */
export async function insertRetryably(client: MongoClient, ns: string, count: number): Promise<void> {
  const [db, name] = ns.split('.') as [string, string]
  await client.db('admin').command({ shardCollection: ns, key: { _id: 'hashed' } })
  const collection = client.db(db).collection<{ _id: number; value: string }>(name)
  const batch = 10_000
  let next = 0
  const insert = async () => {
    for (let at = next; at < count; at = next) {
      next += batch
      await collection.insertMany(
        Array.from({ length: Math.min(batch, count - at) }, (_, i) => ({ _id: at + i, value: `value ${at + i}` })),
        { ordered: false },
      )
    }
  }
  await Promise.all(Array.from({ length: 4 }, insert))
}

/** Inserts of nearly 48 MB, the most that a message holds, all at once. */
export async function insertLargeMessages(client: MongoClient, ns: string, messages: number): Promise<void> {
  const [db, name] = ns.split('.') as [string, string]
  const large = 'x'.repeat(11_500_000)
  await Promise.all(
    Array.from({ length: messages }, () =>
      client.db(db).collection(name).insertMany([{ large }, { large }, { large }, { large }]),
    ),
  )
}

/** Moves the chunks of a collection with 23 MB of documents from shard to shard. */
export async function moveChunks(client: MongoClient, ns: string, moves: number): Promise<void> {
  const [db, name] = ns.split('.') as [string, string]
  const admin = client.db('admin')
  const chunks = 20
  const documentsPerChunk = 1100
  await admin.command({ balancerStop: 1 })
  await admin.command({ shardCollection: ns, key: { key: 1 } })
  for (let chunk = 0; chunk < chunks; chunk++) {
    if (chunk > 0) await admin.command({ split: ns, middle: { key: chunk * documentsPerChunk } })
    const documents = Array.from({ length: documentsPerChunk }, (_, i) => ({
      key: chunk * documentsPerChunk + i,
      filler,
    }))
    await client.db(db).collection<Document>(name).insertMany(documents)
  }
  const { shards } = (await admin.command({ listShards: 1 })) as { shards: { _id: string }[] }
  for (let move = 0; move < moves; move++) {
    const chunk = move % chunks
    const to = shards[(chunk + Math.floor(move / chunks)) % shards.length]!._id
    await admin.command({ moveChunk: ns, find: { key: chunk * documentsPerChunk }, to, _waitForDelete: true })
  }
}

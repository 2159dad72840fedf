/**
 * 300,000 mixed operations through the driver: only log entries may remain, until the next
 * checkpoint, and no finished operation in the members' tables. The collections keep one size. Run
 * it with `node --expose-gc` for heap sizes after a garbage collection.
 */
import { MongoClient, type ClientSession, type Db, type Document } from 'mongodb'
import { ShardedCluster } from 'shardlab'
import type { BenchResult } from './bench.js'
import { goal } from './goals.js'

const operations = 300_000
const parts = 6
const concurrency = 8
const documents = 2000

interface Sample {
  readonly heapMb: number
  readonly residentMb: number
}

export async function measure(): Promise<BenchResult> {
  const cluster = await ShardedCluster.start({ shards: 3, runtime: 'inline', emulate: '8.0' })
  const client = await MongoClient.connect(`mongodb://${cluster.mongos[0]!}/?maxPoolSize=${concurrency}`)
  try {
    const db = client.db('soak')
    await client.db('admin').command({ shardCollection: 'soak.rows', key: { _id: 'hashed' } })
    await db.collection<Document>('rows').createIndex({ group: 1 })
    await db.createCollection('log', { capped: true, size: 100_000, max: 500 })
    const samples: Sample[] = []
    const startedMs = performance.now()
    for (let part = 0; part < parts; part++) {
      await Promise.all(Array.from({ length: concurrency }, (_, worker) => work(client, db, part, worker)))
      samples.push(sample())
    }
    const perSecond = (operations / (performance.now() - startedMs)) * 1000
    const status = await db.admin().command({ serverStatus: 1 })
    const own = await db.admin().command({ currentOp: 1 })
    const open = status['metrics'].cursor.open.total as number
    const running = (own['inprog'] as unknown[]).length
    return {
      title: `soak: ${operations.toLocaleString('en')} operations through the driver, ${concurrency} at a time, inline`,
      rows: [
        { name: 'operations', value: `${Math.round(perSecond).toLocaleString('en')} /s` },
        ...samples.map(({ heapMb, residentMb }, i) => ({
          name: `after ${(((i + 1) * operations) / parts).toLocaleString('en')}`,
          value: `heap ${heapMb.toFixed(0)} MB, resident ${residentMb.toFixed(0)} MB`,
        })),
        { name: 'open cursors on the router', value: String(open), ...goal('0', Number(open) === 0) },
        {
          name: 'operations in progress',
          value: String(running),
          ...goal('3, the currentOp itself on each shard', running === 3),
        },
        {
          name: 'sessions in the tables',
          value: String(status['logicalSessionRecordCache'].activeSessionsCount),
          goal: "those of the driver's pool",
        },
      ],
      note: 'Figures of the emulator, not of MongoDB. The driver is in the same process. Writes stay in the log, which is in memory, until a checkpoint at 64 MB.',
    }
  } finally {
    await client.close()
    await cluster.stop()
  }
}

function sample(): Sample {
  ;(globalThis as { gc?: () => void }).gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  return { heapMb: heapUsed / 2 ** 20, residentMb: rss / 2 ** 20 }
}

async function work(client: MongoClient, db: Db, part: number, worker: number): Promise<void> {
  const rows = db.collection<{ _id: number; group?: number; n?: number }>('rows')
  const count = operations / parts / concurrency
  await client.withSession(async (session: ClientSession) => {
    for (let i = 0; i < count; i++) {
      const _id = (part * count + i * 7 + worker * 251) % documents
      switch (i % 10) {
        case 0:
          await rows.replaceOne({ _id }, { group: _id % 50, n: i }, { upsert: true, session })
          break
        case 1:
          await rows.updateOne({ _id }, { $inc: { n: 1 } }, { session })
          break
        case 2:
          await rows.findOneAndUpdate({ _id }, { $inc: { n: 1 } }, { upsert: true })
          break
        case 3:
          await rows.deleteOne({ _id })
          break
        case 4:
          await rows.find({ group: _id % 50 }, { batchSize: 5 }).toArray()
          break
        case 5:
          // A cursor that is not read to its end.
          for await (const row of rows.find({}, { batchSize: 2 })) if (row._id >= 0) break
          break
        case 6:
          await rows
            .aggregate([{ $match: { group: _id % 50 } }, { $group: { _id: '$group', n: { $sum: '$n' } } }])
            .toArray()
          break
        case 7:
          await rows.distinct('group', { _id: { $lt: 50 } })
          break
        case 8:
          await db.collection<Document>('log').insertOne({ worker, i })
          break
        default:
          await rows.findOne({ _id }, { session })
      }
    }
  })
}

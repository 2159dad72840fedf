/**
 * Changes a sharded collection in every way while its chunks split, move and merge and it is
 * resharded.
 */
import { createRandom, type Random } from '@shardlab/actor'
import { MongoServerError, type ClientSession, type Collection, type MongoClient } from 'mongodb'

export interface Item {
  readonly _id: number | string
  k: number
  /** A second shard key. */
  r: number
  a?: { n: number }[]
  b?: Record<string, number>
  n?: number
}

export interface StreamLoadOptions {
  readonly client: MongoClient
  readonly shards: readonly string[]
  /** Documents that are inserted. */
  readonly count: number
  readonly seed: number
}

const lanes = 4

/** The collection `app.c`, sharded by `k` in a chunk on each shard. */
export async function prepare({ client, shards, count }: StreamLoadOptions): Promise<void> {
  const admin = client.db('admin')
  await admin.command({ enableSharding: 'app', primaryShard: shards[0] })
  await admin.command({ shardCollection: 'app.c', key: { k: 1 } })
  for (const [i, to] of shards.entries()) {
    if (i === 0) continue
    const k = Math.floor((i * count) / shards.length)
    await admin.command({ split: 'app.c', middle: { k } })
    await admin.command({ moveChunk: 'app.c', find: { k }, to, _waitForDelete: true })
  }
}

/** Inserts the document `end` after everything else. */
export async function play(options: StreamLoadOptions): Promise<void> {
  const { client, count, seed } = options
  const random = createRandom(seed)
  const c = client.db('app').collection<Item>('c')
  const progress = { inserted: 0, isOver: false }
  const moving = moveChunks(options, progress, random.fork('chunks'))
  const lane = async (first: number, own: Random) => {
    for (let i = first; i < count; i += lanes) {
      await changeDocuments(client, c, i, count, own)
      progress.inserted++
    }
  }
  await Promise.all(Array.from({ length: lanes }, (_, i) => lane(i, random.fork(`lane ${i}`))))
  progress.isOver = true
  await moving
  await c.insertOne({ _id: 'end', k: 0, r: 0 })
}

/** Of one lane: no other one changes the same documents. */
async function changeDocuments(
  client: MongoClient,
  c: Collection<Item>,
  i: number,
  count: number,
  random: Random,
): Promise<void> {
  const a = Array.from({ length: 8 }, (_, n) => ({ n }))
  await c.insertOne({ _id: i, k: i, r: count - i, a, b: { x: i, y: 1 } })
  const older = i - lanes * (1 + random.below(20))
  const id = older < 0 ? i : older
  const k = random.below(count)
  switch (random.below(8)) {
    case 0:
      await c.updateOne({ _id: id, a: { $exists: true } }, { $set: { 'a.1.n': i, 'b.z': i }, $unset: { 'b.y': 1 } })
      return
    case 1:
      await c.updateOne({ _id: id }, { $push: { a: { $each: [{ n: i }], $slice: -6 } }, $unset: { b: 1 } })
      return
    case 2:
      await c.updateOne({ _id: id, a: { $type: 'array' } }, [{ $set: { a: { $slice: ['$a', 3] }, n: i } }])
      return
    case 3:
      return unlessRefused(move(c, id, k))
    case 4:
      await c.deleteOne({ _id: id })
      return
    case 5: {
      const found = await c.findOne({ _id: id })
      if (found !== null) await c.replaceOne({ _id: id, k: found.k, r: found.r }, { k: found.k, r: found.r, n: i })
      return
    }
    case 6:
      return unlessRefused(
        client.withSession((session) =>
          session.withTransaction(async () => {
            await c.updateOne({ _id: i }, { $set: { n: -i, 'a.0': { n: -1 } } }, { session })
            await move(c, id, k, session)
            await c.insertOne({ _id: `${i}`, k, r: i }, { session })
          }),
        ),
      )
    default:
      return client.withSession((session) =>
        session.withTransaction(async () => {
          await c.deleteOne({ _id: id }, { session })
          await c.insertMany(
            [0, 1].map((n) => ({ _id: `${i} ${n}`, k: (k + n * 7) % count, r: i })),
            { session },
          )
          await c.deleteOne({ _id: `${i} 0` }, { session })
        }),
      )
  }
}

/**
 * A document cannot move to a shard on which a moved chunk has left it as an orphan (11000), nor
 * while its collection is locked (24) or the document changes (112).
 */
async function unlessRefused(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof MongoServerError && [24, 112, 11_000].includes(error.code as number))) throw error
  }
}

/** To the shard of another key. */
async function move(c: Collection<Item>, _id: number, k: number, session?: ClientSession): Promise<void> {
  const options = session === undefined ? {} : { session }
  const found = await c.findOne({ _id }, options)
  if (found === null) return
  await c.updateOne({ _id, k: found.k, r: found.r }, { $set: { k, r: k + 1 }, $inc: { n: 1 } }, options)
}

interface Progress {
  inserted: number
  isOver: boolean
}

async function moveChunks(options: StreamLoadOptions, progress: Progress, random: Random): Promise<void> {
  const { client, shards, count } = options
  const admin = client.db('admin')
  const keys = ['k', 'r']
  let resharded = 0
  while (!progress.isOver) {
    const field = keys[resharded % 2]!
    const point = { [field]: 1 + random.below(count - 1) }
    const to = shards[random.below(shards.length)]
    await tolerant(admin.command({ split: 'app.c', middle: point }))
    await tolerant(admin.command({ moveChunk: 'app.c', find: point, to, _waitForDelete: true }))
    await tolerant(mergeAround(client, field, point[field]!))
    // At a third, and at two thirds.
    if (progress.inserted < ((resharded + 1) * count) / 3 || resharded === 2) continue
    const key = { [keys[(resharded + 1) % 2]!]: 1 }
    const reshard = { reshardCollection: 'app.c', key, numInitialChunks: shards.length }
    if (await tolerant(admin.command(reshard))) resharded++
  }
}

/** The chunk with this key and the next one, if one shard has both. */
async function mergeAround(client: MongoClient, field: string, value: number): Promise<void> {
  const { uuid } = (await client
    .db('config')
    .collection('collections')
    .findOne({ _id: 'app.c' as never }))!
  const chunks = await client.db('config').collection('chunks').find({ uuid }).sort({ min: 1 }).toArray()
  const i = chunks.findIndex(({ max }) => typeof max[field] !== 'number' || max[field] > value)
  const [chunk, next] = [chunks[i], chunks[i + 1]]
  if (chunk === undefined || next === undefined || chunk['shard'] !== next['shard']) return
  await client.db('admin').command({ mergeChunks: 'app.c', bounds: [chunk['min'], next['max']] })
}

/** @returns false: another change came first, or a slow machine exceeded a time limit */
async function tolerant(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error
    return false
  }
}

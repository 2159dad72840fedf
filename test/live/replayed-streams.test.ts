/**
 * The events of a change stream, replayed on an empty map, yield the collection, and a stream that
 * resumes after any token returns the same events as before. With SHARDLAB_LONG=1: 10,000 documents
 * and 100 tokens.
 */
import { createRandom } from '@shardlab/actor'
import { StreamReplay } from '@shardlab/scenario'
import t from 'tap'
import { MongoClient, type ChangeStreamDocument, type ResumeToken } from 'mongodb'
import { ShardedCluster } from 'shardlab'
import { play, prepare, type Item } from '../support/stream-load.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'
const [count, tokens] = isLong ? [10_000, 100] : [100, 8]
const seed = Number(process.env['SHARDLAB_SEED'] ?? Math.floor(Math.random() * 1e6))

t.test(`replaying and resuming a stream of ${count} documents (seed ${seed})`, { timeout: 3_600_000 }, async (t) => {
  const cluster = await ShardedCluster.start({ shards: 3, runtime: 'inline', seed, oplogSize: '120MB' })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  const shards = cluster.shards.map(({ id }) => id)
  const load = { client, shards, count, seed }
  await prepare(load)
  const c = client.db('app').collection<Item>('c')
  /** Up to and with the insert of `end`. */
  async function read(options: { resumeAfter?: ResumeToken }, opened = () => {}) {
    const stream = c.watch([], { ...options, maxAwaitTimeMS: 100 })
    const events: ChangeStreamDocument<Item>[] = []
    try {
      if (options.resumeAfter === undefined) await stream.tryNext()
      opened()
      for await (const event of stream) {
        events.push(event)
        if (event.operationType === 'insert' && event.documentKey._id === 'end') return events
      }
      return events
    } finally {
      await stream.close()
    }
  }
  let watching: ReturnType<typeof read> | undefined
  await new Promise<void>((resolve, reject) => {
    watching = read({}, resolve)
    watching.catch(reject)
  })
  await play(load)
  const events = await watching!
  const stored = await c.find().toArray()
  const replay = new StreamReplay(false)
  replay.begin('app.c', [])
  for (const event of events) replay.apply(event)
  t.same(replay.contradictions, [])
  t.same(replay.differences('app.c', stored), [])
  const kinds = new Map<string, number>()
  for (const { operationType } of events) kinds.set(operationType, (kinds.get(operationType) ?? 0) + 1)
  t.same([...kinds.keys()].sort(), ['delete', 'insert', 'replace', 'update'])

  const random = createRandom(seed).fork('tokens')
  for (let i = 0; i < tokens; i++) {
    const after = random.below(events.length - 1)
    const rest = await read({ resumeAfter: events[after]!._id as ResumeToken })
    const [expected, found] = [events.slice(after + 1), rest].map((each) => JSON.stringify(each))
    t.ok(expected === found, `the same ${rest.length} events after event ${after}`)
  }
})

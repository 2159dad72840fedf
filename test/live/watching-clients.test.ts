/**
 * PyMongo, mongosh and the Node driver watch a sharded collection while it changes in every way.
 * All receive the same events, which yield the collection when they are replayed on an empty map.
 * With SHARDLAB_LONG=1: 10,000 documents. Resuming is in `replayed-streams.test.ts`.
 */
import { BSON, MongoClient, Timestamp, type ChangeStreamDocument } from 'mongodb'
import { StreamReplay } from '@shardlab/scenario'
import { fileURLToPath } from 'node:url'
import { ShardedCluster } from 'shardlab'
import t from 'tap'
import { mongoshOn } from '../support/mongosh.js'
import { play, prepare, type Item } from '../support/stream-load.js'
import { run } from '../support/up.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'
const count = isLong ? 10_000 : 60
const seed = Number(process.env['SHARDLAB_SEED'] ?? Math.floor(Math.random() * 1e6))
const python = '/usr/bin/python3'
const watchScript = fileURLToPath(new URL('../../clients/scripts/watch.py', import.meta.url))

type Event = ChangeStreamDocument<Item>
type Watch = (uri: string, since: Timestamp) => Promise<readonly Event[]>

const isLast = (event: Event): boolean => event.operationType === 'insert' && event.documentKey._id === 'end'

const watchWithNode: Watch = async (uri, startAtOperationTime) => {
  await using client = await MongoClient.connect(uri)
  const events: Event[] = []
  const stream = client.db('app').collection<Item>('c').watch([], { startAtOperationTime, maxAwaitTimeMS: 100 })
  for await (const event of stream) {
    events.push(event)
    if (isLast(event)) break
  }
  return events
}

const watchWithPython: Watch = async (uri, since) =>
  eventsIn(await run(python, [watchScript, uri, 'app', 'c', String(since.t), String(since.i)]))

const watchWithShell: Watch = async (uri, since) => {
  const code = `
    const stream = db.getSiblingDB('app').c.watch([], {
      startAtOperationTime: Timestamp({ t: ${since.t}, i: ${since.i} }), maxAwaitTimeMS: 100,
    })
    for (let isOver = false; !isOver; ) {
      const event = stream.tryNext()
      if (event === null) continue
      print(EJSON.stringify(event, { relaxed: false }))
      isOver = event.operationType === 'insert' && event.documentKey._id === 'end'
    }
    stream.close()`
  return eventsIn(await mongoshOn(uri)!(code))
}

function eventsIn({ code, stdout, stderr }: Awaited<ReturnType<typeof run>>): Event[] {
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}${stdout.slice(-1000)}`)
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => BSON.EJSON.parse(line) as Event)
}

async function missingClients(): Promise<string | null> {
  if (mongoshOn('mongodb://localhost') === null) return 'mongosh is not installed in test/clients'
  const { code } = await run(python, ['-c', 'import pymongo']).catch(() => ({ code: 1 }))
  return code === 0 ? null : 'python3-pymongo is not installed'
}

const missing = await missingClients()

t.test(
  `three clients watch ${count} documents (seed ${seed})`,
  { timeout: 3_600_000, skip: missing ?? false },
  async (t) => {
    const cluster = await ShardedCluster.start({ shards: 3, runtime: 'inline', seed, oplogSize: '120MB' })
    const client = await MongoClient.connect(cluster.uri)
    t.teardown(async () => {
      await client.close()
      await cluster.stop()
    })
    const load = { client, shards: cluster.shards.map(({ id }) => id), count, seed }
    await prepare(load)
    const { operationTime } = await client.db('app').command({ find: 'c', limit: 1 })
    const since = (operationTime as Timestamp).add(1)
    const watching = Promise.all(
      [watchWithNode, watchWithPython, watchWithShell].map((watch) =>
        watch(cluster.uri, new Timestamp({ t: since.high, i: since.low })),
      ),
    )
    watching.catch(() => {})
    await play(load)
    const [ofNode, ofPython, ofShell] = await watching
    const tokens = (events: readonly Event[] | undefined) => events!.map(({ _id }) => (_id as { _data: string })._data)
    t.same(tokens(ofPython), tokens(ofNode), 'PyMongo has received the events of the Node driver')
    t.same(tokens(ofShell), tokens(ofNode), 'so has mongosh')
    const stored = await client.db('app').collection<Item>('c').find().toArray()
    for (const [name, events] of Object.entries({ ofNode, ofPython, ofShell })) {
      const replay = new StreamReplay(false)
      replay.begin('app.c', [])
      for (const event of events!) replay.apply(event)
      t.same(replay.contradictions, [], name)
      t.same(replay.differences('app.c', stored), [], name)
    }
  },
)

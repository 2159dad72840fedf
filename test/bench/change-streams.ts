/**
 * Change streams through a router: the time from an insert to its event, how fast history is read,
 * and what an open stream costs writers.
 */
import { cpus } from 'node:os'
import { MongoClient, type Document } from 'mongodb'
import { up } from '../support/up.js'
import type { BenchResult } from './bench.js'

const shards = 3
const rounds = 3
const singles = 200
const betweenMs = 10
const history = 20_000
const writers = 16
const measuredMs = 2000

interface Round {
  readonly latenciesMs: readonly number[]
  readonly eventsPerSecond: number
  readonly writesRatio: number
}

export async function measure(): Promise<BenchResult> {
  const measured: Round[] = []
  for (let round = 0; round < rounds; round++) measured.push(await oneRound())
  const latencies = measured.flatMap(({ latenciesMs }) => latenciesMs).toSorted((a, b) => a - b)
  return {
    title: `change-streams: a sharded collection of ${shards} shards, through one router`,
    rows: [
      {
        name: 'from an insert to its event, one writer, p50 / p99',
        value: `${at(latencies, 0.5)} / ${at(latencies, 0.99)} ms`,
      },
      {
        name: 'events of history per second',
        value: median(measured.map(({ eventsPerSecond }) => eventsPerSecond)).toFixed(0),
      },
      {
        name: `${writers} writers with a stream that is read, relative to none`,
        value: median(measured.map(({ writesRatio }) => writesRatio)).toFixed(2),
      },
    ],
    note: `Figures of the emulator, not of MongoDB. Medians of ${rounds} rounds; the clients, and the cluster, in a process of their own. Node ${process.version}, ${cpus().length} cores.`,
  }
}

async function oneRound(): Promise<Round> {
  const running = await up('--port', '0', '--quiet', '--shards', String(shards))
  const client = await MongoClient.connect(running.ready.uri, { maxPoolSize: writers + 4 })
  try {
    await client.db('admin').command({ shardCollection: 'app.rows', key: { _id: 'hashed' } })
    return {
      latenciesMs: await latencies(client),
      eventsPerSecond: await readHistory(client),
      writesRatio: await costOfStream(client),
    }
  } finally {
    await client.close()
    await running.stop()
  }
}

/** From the moment before each insert. */
async function latencies(client: MongoClient): Promise<number[]> {
  const rows = client.db('app').collection<{ _id: number | string }>('rows')
  const stream = rows.watch()
  await stream.tryNext()
  const begunMs = new Map<unknown, number>()
  const writing = (async () => {
    for (let i = 0; i < singles; i++, await sleep(betweenMs)) {
      begunMs.set(i, performance.now())
      await rows.insertOne({ _id: i })
    }
  })()
  const found: number[] = []
  while (found.length < singles) {
    const { documentKey } = (await stream.next()) as Document
    found.push(Math.round(performance.now() - begunMs.get(documentKey._id)!))
  }
  await writing
  await stream.close()
  return found
}

async function readHistory(client: MongoClient): Promise<number> {
  const rows = client.db('app').collection<{ _id: number | string }>('rows')
  const before = rows.watch()
  await before.tryNext()
  const { resumeToken } = before
  await before.close()
  await rows.insertMany(Array.from({ length: history }, (_, i) => ({ _id: `h${i}` })))
  const stream = rows.watch([], { resumeAfter: resumeToken })
  const beganMs = performance.now()
  for (let read = 0; read < history; read++) await stream.next()
  const perSecond = (history / (performance.now() - beganMs)) * 1000
  await stream.close()
  return perSecond
}

async function costOfStream(client: MongoClient): Promise<number> {
  // The first makes the cluster warm.
  await writesPerSecond(client)
  const before = await writesPerSecond(client)
  const stream = client.db('app').collection('rows').watch()
  stream.on('change', () => {})
  await sleep(betweenMs)
  const withStream = await writesPerSecond(client)
  await stream.close()
  return (2 * withStream) / (before + (await writesPerSecond(client)))
}

async function writesPerSecond(client: MongoClient): Promise<number> {
  const rows = client.db('app').collection('rows')
  let isOver = false
  let written = 0
  const write = async (): Promise<void> => {
    for (; !isOver; written++) await rows.insertOne({ text: 'x'.repeat(200) })
  }
  const beganMs = performance.now()
  const work = Promise.all(Array.from({ length: writers }, write))
  await sleep(measuredMs)
  isOver = true
  await work
  return (written / (performance.now() - beganMs)) * 1000
}

const at = (sorted: readonly number[], share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
const sleep = (durationMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, durationMs))

/**
 * Change streams through a router: the time from an insert to its event, how fast events go through
 * one stream and through a hundred, and what an open stream costs writers.
 */
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { MongoClient, type Document } from 'mongodb'
import { up } from '../support/up.js'
import type { BenchResult } from './bench.js'

const shards = 3
const rounds = 3
const singles = 200
const betweenMs = 10
const history = 20_000
const many = 100
const eventsOfEach = 200
const writers = 16
const measuredMs = 2000

interface Round {
  readonly latenciesMs: readonly number[]
  readonly eventsPerSecond: number
  readonly eventsOfMany: number
  readonly writesRatio: number
  /** Of the cluster, for a write with a stream, relative to one without. */
  readonly cpuRatio: number
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
        name: `events per second through ${many} streams together`,
        value: median(measured.map(({ eventsOfMany }) => eventsOfMany)).toFixed(0),
      },
      {
        name: `${writers} writers with a stream that is read, relative to none`,
        value: median(measured.map(({ writesRatio }) => writesRatio)).toFixed(2),
      },
      {
        name: 'CPU of the cluster for each of their writes, relative to none',
        value: median(measured.map(({ cpuRatio }) => cpuRatio)).toFixed(2),
      },
    ],
    note: `Figures of the emulator, not of MongoDB. Medians of ${rounds} rounds; the clients, and the cluster, in a process of their own. Node ${process.version}, ${cpus().length} cores.`,
  }
}

async function oneRound(): Promise<Round> {
  const running = await up('--port', '0', '--quiet', '--shards', String(shards))
  const client = await MongoClient.connect(running.ready.uri, { maxPoolSize: many + writers })
  try {
    await client.db('admin').command({ shardCollection: 'app.rows', key: { _id: 'hashed' } })
    return {
      latenciesMs: await latencies(client),
      eventsPerSecond: await readHistory(client),
      eventsOfMany: await readMany(client),
      ...(await costOfStream(client, running.process.pid!)),
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

/** All streams return all events. */
async function readMany(client: MongoClient): Promise<number> {
  const rows = client.db('app').collection<{ _id: string }>('rows')
  const streams = Array.from({ length: many }, () => rows.watch())
  await Promise.all(streams.map((each) => each.tryNext()))
  const beganMs = performance.now()
  const reading = streams.map(async (each) => {
    for (let read = 0; read < eventsOfEach; read++) await each.next()
  })
  await rows.insertMany(Array.from({ length: eventsOfEach }, (_, i) => ({ _id: `m${i}` })))
  await Promise.all(reading)
  const perSecond = ((many * eventsOfEach) / (performance.now() - beganMs)) * 1000
  await Promise.all(streams.map((each) => each.close()))
  return perSecond
}

async function costOfStream(client: MongoClient, pid: number): Promise<Pick<Round, 'writesRatio' | 'cpuRatio'>> {
  // The first makes the cluster warm.
  await writing(client, pid)
  const before = await writing(client, pid)
  const stream = client.db('app').collection('rows').watch()
  stream.on('change', () => {})
  await sleep(betweenMs)
  const withStream = await writing(client, pid)
  await stream.close()
  const after = await writing(client, pid)
  return {
    writesRatio: (2 * withStream.perSecond) / (before.perSecond + after.perSecond),
    cpuRatio: (2 * withStream.cpuOfEach) / (before.cpuOfEach + after.cpuOfEach),
  }
}

/** `cpuOfEach` in ticks of the kernel. */
async function writing(client: MongoClient, pid: number): Promise<{ perSecond: number; cpuOfEach: number }> {
  const rows = client.db('app').collection('rows')
  let isOver = false
  let written = 0
  const write = async (): Promise<void> => {
    for (; !isOver; written++) await rows.insertOne({ text: 'x'.repeat(200) })
  }
  const [beganMs, ticks] = [performance.now(), cpuTicksOf(pid)]
  const work = Promise.all(Array.from({ length: writers }, write))
  await sleep(measuredMs)
  isOver = true
  await work
  return {
    perSecond: (written / (performance.now() - beganMs)) * 1000,
    cpuOfEach: (cpuTicksOf(pid) - ticks) / written,
  }
}

/** Of all threads of the process. Manual: proc(5), stat. */
function cpuTicksOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

const at = (sorted: readonly number[], share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
const sleep = (durationMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, durationMs))

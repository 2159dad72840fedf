/**
 * Replica sets: throughput with a majority relative to one member, lag and memory under load, the
 * time to a new primary, and how fast quiet sets run in a simulation.
 */
import { cpus } from 'node:os'
import { MongoClient, MongoNetworkError, ReadPreference, type Collection } from 'mongodb'
import { createSimulatedCluster } from '@shardlab/cluster'
import { ShardedCluster } from 'shardlab'
import { failoverParts } from '../support/failover-parts.js'
import { residentBytes } from '../support/process-memory.js'
import { up } from '../support/up.js'
import type { BenchResult } from './bench.js'
import { atLeast } from './goals.js'

const writers = 16
const measuredMs = 4000
const rounds = 3
const lagEveryMs = 20
const quietMs = 3_600_000
const goalQuietRatio = 4000

export async function measure(): Promise<BenchResult> {
  const one: Loaded[] = []
  const three: Loaded[] = []
  const unreplicated: Loaded[] = []
  // Interleaved, so that a slow moment affects all variants.
  for (let round = 0; round < rounds; round++) {
    one.push(await underLoad(1, 'majority'))
    three.push(await underLoad(3, 'majority'))
    unreplicated.push(await underLoad(3, 1))
  }
  const base = median(one.map(({ writesPerSecond }) => writesPerSecond))
  const lags = three.flatMap(({ lagsMs }) => lagsMs).toSorted((a, b) => a - b)
  const failover = await timeToNewPrimary()
  const quiet = await quietRatio()
  const memory = (loaded: readonly Loaded[]): number => median(loaded.map(({ memoryBytes }) => memoryBytes))
  return {
    title: `replication: a set of three on threads, ${writers} writers, relative to a set of one`,
    rows: [
      { name: 'w: "majority", three members: writes, as a ratio', value: ratio(three, base) },
      { name: 'w: 1, three members: writes, as a ratio', value: ratio(unreplicated, base) },
      {
        name: 'majority point behind the newest entry under that load, p50 / p99',
        value: `${at(lags, 0.5)} / ${at(lags, 0.99)} ms`,
      },
      {
        name: 'memory of each further member after the load',
        value: `${((memory(three) - memory(one)) / 2 / 2 ** 20).toFixed(0)} MB`,
      },
      {
        name: 'a primary crashes (electionTimeoutMillis is 2,000)',
        value: failover,
      },
      {
        name: 'twelve quiet sets of three, simulated: faster than real time',
        value: `${Math.round(quiet)} times`,
        ...atLeast(goalQuietRatio, ' times', quiet),
      },
    ],
    note: `Figures of the emulator, not of MongoDB. Medians of ${rounds} interleaved rounds of ${measuredMs / 1000} s; clients, and each set, in a process of their own. Node ${process.version}, ${cpus().length} cores.`,
  }
}

interface Loaded {
  readonly writesPerSecond: number
  readonly lagsMs: readonly number[]
  readonly memoryBytes: number
}

async function underLoad(members: number, w: number | 'majority'): Promise<Loaded> {
  const running = await up('--port', '0', '--quiet', '--topology', 'replica-set', '--members', String(members))
  const client = await MongoClient.connect(running.ready.uri, { maxPoolSize: writers + 2 })
  try {
    const rows = client.db('app').collection('rows')
    const admin = client.db('admin')
    await rows.insertOne({ n: 0 }, { writeConcern: { w } })
    let isOver = false
    let written = 0
    const lagsMs: number[] = []
    const write = async (): Promise<void> => {
      for (; !isOver; written++) await rows.insertOne({ text: 'x'.repeat(200) }, { writeConcern: { w } })
    }
    const watch = async (): Promise<void> => {
      for (; !isOver; await sleep(lagEveryMs)) {
        const { optimes } = await admin.command({ replSetGetStatus: 1 }, { readPreference: ReadPreference.PRIMARY })
        lagsMs.push(optimes.lastAppliedWallTime.getTime() - optimes.lastCommittedWallTime.getTime())
      }
    }
    const beganMs = performance.now()
    const work = Promise.all([...Array.from({ length: writers }, write), watch()])
    await sleep(measuredMs)
    isOver = true
    await work
    const writesPerSecond = (written / (performance.now() - beganMs)) * 1000
    return { writesPerSecond, lagsMs, memoryBytes: residentBytes(running.process.pid!) }
  } finally {
    await client.close()
    await running.stop()
  }
}

async function timeToNewPrimary(): Promise<string> {
  const cluster = await ShardedCluster.start({ topology: 'replica-set', members: 3 })
  const client = await MongoClient.connect(cluster.uri)
  try {
    const rows = client.db('app').collection('rows')
    await rows.insertOne({}, { writeConcern: { w: 'majority' } })
    const { me } = await client.db('admin').command({ hello: 1 })
    const primary = cluster.set!.members.find(({ uri }) => uri.includes(me))!.id
    const crashedAtMs = Date.now()
    await cluster.faults.apply(`crash ${primary}`)
    await insertedInTheEnd(rows)
    return await failoverParts({ crashedAtMs, writtenAtMs: Date.now(), setUri: cluster.uri })
  } finally {
    await client.close()
    await cluster.stop()
  }
}

/**
 * Repeats the insert as an application would. The driver gives up before a new primary is elected,
 * and its error is a plain ECONNRESET when the socket is reset during the write.
 */
async function insertedInTheEnd(rows: Collection): Promise<void> {
  for (;;) {
    try {
      await rows.insertOne({}, { writeConcern: { w: 'majority' } })
      return
    } catch (error) {
      if (!(error instanceof MongoNetworkError) && (error as { code?: unknown }).code !== 'ECONNRESET') throw error
    }
  }
}

/** Eleven shards and the config server. */
async function quietRatio(): Promise<number> {
  const cluster = await createSimulatedCluster({ seed: 1, shards: 11, members: 3 })
  try {
    await cluster.advance(60_000)
    const beganMs = performance.now()
    await cluster.advance(quietMs)
    return quietMs / (performance.now() - beganMs)
  } finally {
    await cluster.stop()
  }
}

const ratio = (loaded: readonly Loaded[], base: number): string =>
  (median(loaded.map(({ writesPerSecond }) => writesPerSecond)) / base).toFixed(2)
const at = (sorted: readonly number[], share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
const sleep = (durationMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, durationMs))

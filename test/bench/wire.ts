/**
 * Operations through a mongos compared with a stub that only frames messages and answers with
 * prepared bytes: the difference is the cost of routing and storage. Servers are processes of their
 * own; they take turns, so that a busy moment affects all of them.
 */
import { cpus } from 'node:os'
import { driver, raw, refusalOfDriver, type Slice, type Work } from './wire/clients.js'
import { checked, collection, db, startCluster, startJavaServer, startStub, type Server } from './wire/servers.js'
import { RawClient } from '../support/raw-client.js'
import type { BenchResult, BenchRow } from './bench.js'
import { allOf, atLeast, atMost, goal } from './goals.js'
import { median, spread } from './interleaved.js'

const rounds = 5
const sliceMs = 700

interface Row {
  readonly name: string
  readonly work: Work
  /** Least ratio to the stub's operations per second. */
  readonly goals?: { readonly threads?: number; readonly inline?: number }
  /** Greatest ratio to the stub's CPU per operation. */
  readonly cpuGoal?: number
  /** Greatest difference to the stub's median latency: one hop to a shard and back. */
  readonly hopGoalUs?: number
  /** Least ratio to mongo-java-server's operations per second. */
  readonly javaGoal?: number
}

const rows: readonly Row[] = [
  { name: 'driver findOne, 1 at a time', work: driver('findOne', 1), goals: { threads: 0.8, inline: 0.95 } },
  { name: 'driver findOne, 16 at a time', work: driver('findOne', 16), goals: { threads: 0.9, inline: 0.9 } },
  { name: 'driver findOne, 128 at a time', work: driver('findOne', 128), goals: { threads: 0.9, inline: 0.9 } },
  { name: 'driver insertOne, 1 at a time', work: driver('insertOne', 1), goals: { threads: 0.6, inline: 0.6 } },
  { name: 'driver insertOne, 16 at a time', work: driver('insertOne', 16), goals: { threads: 0.9, inline: 0.9 } },
  { name: 'driver insertOne, 128 at a time', work: driver('insertOne', 128), goals: { threads: 0.9, inline: 0.9 } },
  {
    name: 'driver insertMany of 1,000, 1 at a time',
    work: driver('insertMany', 1),
    goals: { threads: 0.85, inline: 0.85 },
    javaGoal: 3,
  },
  {
    name: 'driver insertMany of 1,000, 16 at a time',
    work: driver('insertMany', 16),
    goals: { threads: 0.85, inline: 0.85 },
    javaGoal: 3,
  },
  {
    name: 'driver insertMany of 1,000, 128 at a time',
    work: driver('insertMany', 128),
    goals: { threads: 0.85, inline: 0.85 },
    javaGoal: 3,
  },
  { name: 'raw find, 1 at a time', work: raw('find', 1, 1), hopGoalUs: 40 },
  {
    name: 'raw find, 128 connections',
    work: raw('find', 128, 1),
    goals: { threads: 0.6, inline: 0.8 },
    cpuGoal: 2.5,
    javaGoal: 0.9,
  },
  {
    name: 'raw find, 16 connections, 16 deep',
    work: raw('find', 16, 16),
    goals: { threads: 0.25, inline: 0.25 },
    javaGoal: 1.2,
  },
  { name: 'raw insert, 128 connections', work: raw('insert', 128, 1), javaGoal: 1.1 },
  { name: 'raw insert, 16 connections, 16 deep', work: raw('insert', 16, 16), javaGoal: 5 },
]
/** Class path of mongo-java-server. */
const classpath = process.env['MJS_CLASSPATH'] ?? ''

export async function measure(): Promise<BenchResult> {
  const threads = await startCluster('threads', '--shards', '5')
  const inline = await startCluster('inline', '--shards', '5', '--runtime', 'inline')
  const stub = await startStub(threads)
  const java = classpath === '' ? null : await startJavaServer(classpath)
  const measured: BenchRow[] = []
  try {
    const refusal = java === null ? null : await refusalOfDriver(java)
    if (refusal !== null)
      measured.push({ name: 'driver against mongo-java-server', value: 'not measured', goal: refusal })
    for (const row of rows) {
      const isAgainstJava =
        java !== null && row.javaGoal !== undefined && (refusal === null || row.name.startsWith('raw'))
      const slices = await takeTurns([stub, threads, inline, ...(isAgainstJava ? [java] : [])], row.work)
      for (const runtime of ['threads', 'inline'] as const) {
        const ratio = ratios(slices.get(runtime)!, slices.get('stub')!, ({ perSecond }) => perSecond)
        const cpu = ratios(slices.get(runtime)!, slices.get('stub')!, ({ cpuUs }) => cpuUs)
        const least = row.goals?.[runtime]
        const wanted = [
          ...(least === undefined ? [] : [atLeast(least, '', median(ratio))]),
          ...(row.cpuGoal === undefined ? [] : [goal(`CPU at most ${row.cpuGoal} ×`, median(cpu) <= row.cpuGoal)]),
        ]
        measured.push({
          name: `${runtime}: ${row.name}`,
          value: `${spread(ratio)} × stub, CPU ${median(cpu).toFixed(1)} ×`,
          ...allOf(wanted),
        })
        if (row.hopGoalUs !== undefined) {
          const added = slices.get(runtime)!.map(({ p50Us }, i) => p50Us! - slices.get('stub')![i]!.p50Us!)
          measured.push({
            name: `${runtime}: ${row.name}, added at the median`,
            value: `${spread(added, 0)} µs`,
            ...atMost(row.hopGoalUs, ' µs', median(added)),
          })
        }
        if (isAgainstJava) {
          const ofJava = ratios(slices.get(runtime)!, slices.get(java.name)!, ({ perSecond }) => perSecond)
          measured.push({
            name: `${runtime}: ${row.name}`,
            value: `${spread(ofJava)} × mongo-java-server`,
            ...atLeast(row.javaGoal!, '', median(ofJava)),
          })
        }
      }
      const own = slices.get('stub')!
      measured.push({
        name: `stub: ${row.name}`,
        value: `${Math.round(median(own.map(({ perSecond }) => perSecond))).toLocaleString('en')} /s${row.hopGoalUs === undefined ? '' : `, ${median(own.map(({ p50Us }) => p50Us!)).toFixed(0)} µs at the median`}`,
      })
    }
  } finally {
    await Promise.all([stub, threads, inline, ...(java === null ? [] : [java])].map((server) => server.stop()))
  }
  if (java === null)
    measured.push({
      name: 'against mongo-java-server',
      value: 'not measured',
      goal: 'set MJS_CLASSPATH to its class path',
    })
  measured.push(...(await manyShards()))
  return {
    title: 'wire: five shards, a collection sharded by a hash, relative to a stub that only answers',
    rows: measured,
    note: `Figures of the emulator, not of MongoDB. Medians of ${rounds} interleaved slices of ${sliceMs} ms, minimum and maximum in brackets; the client itself uses about one core. Node ${process.version}, ${cpus().length} cores.`,
  }
}

/**
 * With a hundred shards on four threads: the cost of a broadcast, and its effect on targeted
 * operations.
 */
async function manyShards(): Promise<BenchRow[]> {
  const five = await startCluster('five', '--shards', '5', '--hosts', '2')
  const hundred = await startCluster('hundred', '--shards', '100', '--hosts', '2')
  try {
    for (const server of [five, hundred]) {
      const client = await RawClient.connect(server.endpoint)
      await checked(client, { createIndexes: collection, indexes: [{ key: { name: 1 }, name: 'name_1' }], $db: db })
      client.close()
    }
    const targeted = await takeTurns([five, hundred], raw('find', 128, 1))
    const one = await takeTurns([hundred], raw('find', 1, 1))
    const all = await takeTurns([hundred], raw('broadcast', 1, 1))
    const ofFive = ratios(targeted.get('hundred')!, targeted.get('five')!, ({ perSecond }) => perSecond)
    const ofFind = ratios(all.get('hundred')!, one.get('hundred')!, ({ perSecond }) => perSecond)
    return [
      {
        name: '100 shards on two threads: raw find, 128 connections',
        value: `${spread(ofFive)} × 5 shards`,
        ...atLeast(0.9, '', median(ofFive)),
      },
      {
        name: '100 shards on two threads: broadcast, one at a time',
        value: `${spread(ofFind)} × find by key`,
        ...atLeast(0.4, '', median(ofFind)),
      },
    ]
  } finally {
    await Promise.all([five.stop(), hundred.stop()])
  }
}

async function takeTurns(servers: readonly Server[], work: Work): Promise<Map<string, Slice[]>> {
  const slices = new Map<string, Slice[]>(servers.map(({ name }) => [name, []]))
  // Round 0 warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const server of servers) {
      const slice = await work(server, sliceMs)
      if (round > 0) slices.get(server.name)!.push(slice)
    }
  }
  return slices
}

const ratios = (ours: readonly Slice[], others: readonly Slice[], of: (slice: Slice) => number): number[] =>
  ours.map((slice, i) => of(slice) / of(others[i]!))

/**
 * One client runs a long operation over and over; fifty others, in a process of their own, find
 * documents by `_id` all the while. Then killOp ends each long operation.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpus } from 'node:os'
import { encode, type Document } from '@shardlab/bson'
import { RawClient } from '../support/raw-client.js'
import { up } from '../support/up.js'
import type { BenchResult } from './bench.js'
import { atMost, goal } from './goals.js'
import { clientCount, periodMs, type LatencyReply, type LatencyRequest } from './yields/latencies.js'

const documentCount = 200_000
const perInsert = 1000
const measuredMs = 6000
const kills = 10
const comment = 'long operation'
const goalFindMs = 50
const goalKillMs = 100

/** Backtracks without end in V8's engine, on each document. */
const worstExpression = '^(([a-z])+.)+[A-Z]([a-z])+$'

const operations: Readonly<Record<string, Document>> = {
  'the worst regular expression': { find: 'rows', filter: { text: { $regex: worstExpression } } },
  'a sort of 200,000 documents': {
    find: 'rows',
    sort: { name: 1, group: -1 },
    batchSize: documentCount,
    allowDiskUse: true,
  },
  'a $group into 50,021 groups': {
    aggregate: 'rows',
    pipeline: [{ $group: { _id: '$group', n: { $sum: 1 }, names: { $push: '$name' } } }],
    cursor: {},
  },
}

export async function measure(): Promise<BenchResult> {
  const running = await up('--port', '0', '--quiet', '--shards', '3')
  const endpoint = running.ready.mongos[0]!
  const admin = await RawClient.connect(endpoint)
  await fill(admin)
  const heavy = await RawClient.connect(endpoint)
  const finds = forkFinds(endpoint)
  const rows = []
  const idle = await finds.during(async () => sleep(measuredMs / 2))
  rows.push({ name: 'finds without another operation, p50 / p99', value: `${ms(idle.p50)} / ${ms(idle.p99)} ms` })
  for (const [name, operation] of Object.entries(operations)) {
    const command = { ...operation, comment, $db: 'app' }
    const found = await finds.during(async () => {
      const untilMs = performance.now() + measuredMs
      do await heavy.commandBytes(encode(command))
      while (performance.now() < untilMs)
    })
    rows.push({
      name: `${name}: finds, p50 / p99 / longest`,
      value: `${ms(found.p50)} / ${ms(found.p99)} / ${ms(found.max)} ms`,
      ...goal(`p99 below ${goalFindMs} ms`, found.p99 < goalFindMs),
    })
    const killMs = (await killed(heavy, admin, command)).toSorted((a, b) => a - b)
    rows.push({
      name: `${name}: killOp until the answer, median / longest of ${kills}`,
      value: `${ms(killMs[kills >> 1]!)} / ${ms(killMs.at(-1)!)} ms`,
      ...atMost(goalKillMs, ' ms', killMs.at(-1)!),
    })
  }
  await finds.stop()
  heavy.close()
  admin.close()
  await running.stop()
  return {
    title: `yields: ${clientCount} clients, each with a find by _id every ${periodMs} ms, next to a client with a long operation`,
    rows,
    note: `Figures of the emulator, not of MongoDB. Cluster of three shards on threads, clients and long operation in three processes; the operation is repeated for ${measuredMs / 1000} s. Other work on the machine delays each of the steps of a find. Node ${process.version}, ${cpus().length} cores.`,
  }
}

async function fill(client: RawClient): Promise<void> {
  await client.command({ shardCollection: 'app.rows', key: { _id: 'hashed' }, $db: 'admin' })
  for (let from = 0; from < documentCount; from += perInsert) {
    const documents = Array.from({ length: perInsert }, (_, i) => {
      const n = from + i
      return encode({
        _id: n,
        group: (n * 7919) % 50_021,
        name: `name ${(n * 31) % 1009}`,
        text: `${'abcdefghij'.repeat(4)}!`,
      })
    })
    await client.command({ insert: 'rows', ordered: false, $db: 'app' }, [['documents', documents]])
  }
}

/** How long the client of each killed operation waits for its error. */
async function killed(heavy: RawClient, admin: RawClient, command: Document): Promise<number[]> {
  const samples: number[] = []
  while (samples.length < kills) {
    let isOver = false
    const answer = heavy.command(command).finally(() => (isOver = true))
    const op = await operationId(admin, () => isOver)
    while (!isOver && !(await isWorking(admin)));
    const beganMs = performance.now()
    if (op !== null && !isOver) await admin.command({ killOp: 1, op, $db: 'admin' })
    const { code } = await answer
    // The others ended before the kill.
    if (code === 11601) samples.push(performance.now() - beganMs)
  }
  return samples
}

/** On the router. Null: the operation ended first. */
async function operationId(admin: RawClient, isOver: () => boolean): Promise<number | null> {
  while (!isOver()) {
    const { cursor } = (await admin.command({
      aggregate: 1,
      pipeline: [{ $currentOp: { localOps: true } }, { $match: { 'command.comment': comment } }],
      cursor: {},
      $db: 'admin',
    })) as { cursor: { firstBatch: { opid: number }[] } }
    if (cursor.firstBatch.length > 0) return cursor.firstBatch[0]!.opid
  }
  return null
}

/** Whether a shard has worked for the operation in several turns. */
async function isWorking(admin: RawClient): Promise<boolean> {
  const { inprog } = (await admin.command({ currentOp: 1, 'command.comment': comment, $db: 'admin' })) as {
    inprog: { numYields?: number }[]
  }
  return inprog.some(({ numYields }) => numYields !== undefined && numYields > 2)
}

interface Latencies {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

function forkFinds(endpoint: string): { during(work: () => Promise<void>): Promise<Latencies>; stop(): Promise<void> } {
  const child = fork(new URL('yields/latencies.js', import.meta.url), [endpoint, String(documentCount)], {
    serialization: 'advanced',
  })
  const ask = async (request: LatencyRequest): Promise<LatencyReply> => {
    const reply = once(child, 'message')
    child.send(request)
    return ((await reply) as [LatencyReply])[0]
  }
  return {
    async during(work) {
      await ask('begin')
      await work()
      const sorted = (await ask('end')).toSorted((a, b) => a - b)
      return {
        p50: sorted[Math.floor(sorted.length * 0.5)]!,
        p99: sorted[Math.floor(sorted.length * 0.99)]!,
        max: sorted.at(-1)!,
      }
    },
    async stop() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0)
const sleep = (durationMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, durationMs))

/**
 * The memory of a cluster after each stage of three loads, each in a cluster with a process of its
 * own. Standard error shows each thread: heap in use, heap and buffers.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { MongoClient } from 'mongodb'
import type { MemoryUsage } from 'shardlab'
import { ClusterProcess } from '../support/cluster-process.js'
import { createFillReadDrop, insertLargeMessages, insertRetryably } from '../support/memory-workloads.js'
import type { BenchResult } from './bench.js'
import { atMost, goal, type Goal } from './goals.js'

const soakMs = Number(process.env['SHARDLAB_SOAK_SECONDS'] ?? 60) * 1000
/** Idle threads collect their garbage meanwhile. */
const settleMs = 30_000

type Report = (name: string, value?: string, goal?: (memory: MemoryUsage) => Goal) => Promise<MemoryUsage>
type Load = (client: MongoClient, report: Report) => Promise<void>

/** Resident memory that may be left. */
const leftMaxMb: Record<string, number> = { soak: 150, 'retryable inserts': 100 }

export async function measure(): Promise<BenchResult> {
  const rows: BenchResult['rows'][number][] = []
  const loads: Record<string, Load> = { soak, 'retryable inserts': retryableInserts, 'large messages': largeMessages }
  for (const [load, run] of Object.entries(loads)) {
    await using cluster = await ClusterProcess.start()
    const report: Report = async (name, value, goal) => {
      const memory = await cluster.memory()
      process.stderr.write(`${load}: ${name}: ${value ?? ''} ${valueOf(memory)} [${threadsOf(memory)}]\n`)
      rows.push({ name: `${load}: ${name}`, value: value ?? valueOf(memory), ...goal?.(memory) })
      return memory
    }
    const client = await MongoClient.connect(cluster.uri)
    const start = await report('start')
    await run(client, report)
    await sleep(settleMs)
    const maxMb = leftMaxMb[load]
    const goalOf = ({ residentBytes }: MemoryUsage): Goal => {
      const leftMb = (residentBytes - start.residentBytes) / 2 ** 20
      return goal(`at most ${maxMb} MB more than at the start`, leftMb <= maxMb!)
    }
    await report('dropped and idle', undefined, maxMb === undefined ? undefined : goalOf)
    await client.close()
  }
  return {
    title: 'memory: resident, and of that heaps, buffers of threads, disks that threads share',
    rows,
    note: 'Figures of the emulator, not of MongoDB. Three shards on threads; the driver is in another process. Reserved memory that was never used is in the parts, and not in the resident memory.',
  }
}

async function soak(client: MongoClient, report: Report): Promise<void> {
  const endMs = performance.now() + soakMs
  let round = 0
  const work = async (): Promise<void> => {
    while (performance.now() < endMs) await createFillReadDrop(client, round++)
  }
  await Promise.all([work(), work()])
  await report('collections that came and went', String(round))
  const { metrics } = await client.db('admin').command({ serverStatus: 1 })
  await report('open cursors', String(metrics.cursor.open.total))
  await report('under load')
  for (let i = 0; i < 4; i++) await client.db(`soak${i}`).dropDatabase()
}

async function retryableInserts(client: MongoClient, report: Report): Promise<void> {
  await insertRetryably(client, 'retry.rows', 500_000)
  await report('500,000 inserted')
  const longestMs = await longestMoveMs(client)
  await report('longest of ten moves of empty chunks', `${longestMs.toFixed(0)} ms`, () =>
    atMost(200, ' ms', longestMs),
  )
  await client.db('retry').dropDatabase()
}

/** Of another collection. */
async function longestMoveMs(client: MongoClient): Promise<number> {
  const [admin, config] = [client.db('admin'), client.db('config')]
  await admin.command({ shardCollection: 'shop.orders', key: { customer: 1 } })
  for (let customer = 0; customer < 10; customer++) await admin.command({ split: 'shop.orders', middle: { customer } })
  const { primary } = (await config.collection('databases').findOne({ _id: 'shop' as never }))!
  const { _id: to } = (await config.collection('shards').findOne({ _id: { $ne: primary } }))!
  let longestMs = 0
  for (let customer = 0; customer < 10; customer++) {
    const startedMs = performance.now()
    await admin.command({ moveChunk: 'shop.orders', find: { customer }, to })
    longestMs = Math.max(longestMs, performance.now() - startedMs)
  }
  return longestMs
}

async function largeMessages(client: MongoClient, report: Report): Promise<void> {
  await insertLargeMessages(client, 'large.rows', 10)
  await report('ten inserts of 46 MB')
  await client.db('large').dropDatabase()
}

const mb = (bytes: number): string => String(Math.round(bytes / 2 ** 20))

function valueOf({ residentBytes, threads, sharedDiskBytes }: MemoryUsage): string {
  const heaps = threads.reduce((sum, { heapBytes }) => sum + heapBytes, 0)
  const buffers = threads.reduce((sum, { bufferBytes }) => sum + bufferBytes, 0)
  return `${mb(residentBytes)} MB: ${mb(heaps)}, ${mb(buffers)}, ${mb(sharedDiskBytes)}`
}

function threadsOf({ threads }: MemoryUsage): string {
  return threads
    .map((each) => `${each.threadId}: ${mb(each.heapUsedBytes)}/${mb(each.heapBytes)} + ${mb(each.bufferBytes)}`)
    .join(', ')
}

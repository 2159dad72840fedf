/**
 * Where the memory of a cluster is, after each stage of three workloads. Each runs in a cluster
 * with a process of its own.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { MongoClient } from 'mongodb'
import type { MemoryUsage } from 'shardlab'
import { ClusterProcess } from '../support/cluster-process.js'
import { createFillReadDrop, insertLargeMessages, insertRetryably } from '../support/memory-workloads.js'
import type { BenchResult } from './bench.js'

const soakMs = Number(process.env['SHARDLAB_SOAK_SECONDS'] ?? 60) * 1000
/** Idle threads collect their garbage. */
const settleMs = 30_000
const wanted = process.env['SHARDLAB_MEMORY']?.split(',')

type Row = BenchResult['rows'][number]

export async function measure(): Promise<BenchResult> {
  const rows: Row[] = []
  for (const [name, workload] of Object.entries({ soak, retry, large })) {
    if (wanted !== undefined && !wanted.includes(name)) continue
    await using cluster = await ClusterProcess.start()
    const report = async (stage: string): Promise<void> => {
      const row = { name: `${name}: ${stage}`, value: describe(await cluster.memory()) }
      process.stderr.write(`${row.name.padEnd(40)} ${row.value}\n`)
      rows.push(row)
    }
    await report('start')
    const client = await MongoClient.connect(cluster.uri)
    await workload(client, report)
    await report('at the end')
    await sleep(settleMs)
    await report('idle')
    await client.close()
    await sleep(settleMs)
    await report('client closed')
  }
  return {
    title:
      'memory: resident; heaps; buffers of threads; shared disks; the rest (code, stacks, free memory of malloc). MB',
    rows,
    note: 'Figures of the emulator, not of MongoDB. Three shards on threads; the driver is in another process.',
  }
}

async function soak(client: MongoClient, report: (stage: string) => Promise<void>): Promise<void> {
  const endMs = performance.now() + soakMs
  let round = 0
  const work = async () => {
    while (performance.now() < endMs) await createFillReadDrop(client, round++)
  }
  await Promise.all([work(), work()])
  await report(`${round} rounds`)
  for (let i = 0; i < 4; i++) await client.db(`soak${i}`).dropDatabase()
}

async function retry(client: MongoClient, report: (stage: string) => Promise<void>): Promise<void> {
  await insertRetryably(client, 'retry.rows', 500_000)
  await report('500,000 inserted')
  const longestMs = await longestMoveMs(client)
  await report(`empty chunks moved, in at most ${longestMs.toFixed(0)} ms each`)
  await client.db('retry').dropDatabase()
}

/** Of empty chunks of another collection. */
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

async function large(client: MongoClient, report: (stage: string) => Promise<void>): Promise<void> {
  await insertLargeMessages(client, 'large.rows', 10)
  await report('ten messages of 46 MB')
  await client.db('large').dropDatabase()
}

function describe({ residentBytes, threads, sharedDiskBytes }: MemoryUsage): string {
  const sum = (of: (thread: MemoryUsage['threads'][number]) => number) =>
    threads.reduce((all, thread) => all + of(thread), 0)
  const [heaps, used, buffers] = [sum((t) => t.heapBytes), sum((t) => t.heapUsedBytes), sum((t) => t.bufferBytes)]
  const rest = residentBytes - heaps - buffers - sharedDiskBytes
  const mb = (bytes: number) => String(Math.round(bytes / 2 ** 20))
  const each = threads
    .map((t) => `${t.threadId}:${mb(t.heapUsedBytes)}/${mb(t.heapBytes)}+${mb(t.bufferBytes)}`)
    .join(' ')
  return `${mb(residentBytes)}; ${mb(used)}/${mb(heaps)}; ${mb(buffers)}; ${mb(sharedDiskBytes)}; ${mb(rest)}  [${each}]`
}

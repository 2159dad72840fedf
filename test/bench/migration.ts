/**
 * Throughput of a migration between two shards on different threads, and the longest wait of
 * clients that write to the range. The plain copy that it is compared with sends the same number of
 * bytes in the same packets through the same kind of channel, and copies each document.
 */
import { PacketWriter } from '@shardlab/actor'
import { encode, type Document } from '@shardlab/bson'
import { once } from 'node:events'
import { cpus } from 'node:os'
import { Worker } from 'node:worker_threads'
import { ShardedCluster, type MigrationEvent } from 'shardlab'
import { RawClient } from '../support/raw-client.js'
import type { BenchResult } from './bench.js'
import { atLeast, goal } from './goals.js'

const count = 50_000
const rounds = 5
const writers = 2
const batchBytes = 1024 * 1024
const pad = 'x'.repeat(960)
const documents = Array.from({ length: count }, (_, i) => encode({ _id: i, k: i, n: 0, pad }))
const megabytes = documents.reduce((sum, { length }) => sum + length, 0) / 1024 / 1024

interface Round {
  readonly moveMs: number
  readonly movedWhileWrittenMs: number
  readonly criticalMs: number
  readonly longestWriteMs: number
  readonly usualLongestWriteMs: number
  readonly copyMs: number
}

export async function measure(): Promise<BenchResult> {
  await using cluster = await ShardedCluster.start({
    shards: 2,
    runtime: 'threads',
    hosts: 64,
    balancerRoundIntervalMs: 1_000_000,
  })
  const clients = await Promise.all(Array.from({ length: writers + 1 }, () => RawClient.connect(cluster.mongos[0]!)))
  const copier = new Worker(new URL('copy-worker.js', import.meta.url))
  const taken: Round[] = []
  try {
    // Round 0 warms up.
    for (let round = 0; round <= rounds; round++) {
      const measured = await oneRound(cluster, clients, copier, round)
      if (round > 0) taken.push(measured)
    }
  } finally {
    await copier.terminate()
    for (const client of clients) client.close()
  }
  const of = (pick: (round: Round) => number): number => median(taken.map(pick))
  const relative = of((r) => r.copyMs / r.moveMs)
  const criticalMs = of((r) => r.criticalMs)
  const longestWriteMs = of((r) => r.longestWriteMs)
  const rate = (ms: number): string => `${((megabytes / ms) * 1000).toFixed(0)} MB/s`
  return {
    title: `migration: ${count.toLocaleString('en')} documents, ${megabytes.toFixed(0)} MB, from one shard to another, each on its own thread`,
    rows: [
      { name: 'without writers', value: rate(of((r) => r.moveMs)) },
      { name: `${writers} connections update documents of the range`, value: rate(of((r) => r.movedWhileWrittenMs)) },
      { name: 'plain copy through the same channel', value: rate(of((r) => r.copyMs)) },
      {
        name: 'without writers, relative to the plain copy',
        value: relative.toFixed(2),
        ...atLeast(0.5, '', relative),
      },
      { name: 'critical section', value: `${criticalMs.toFixed(1)} ms` },
      {
        name: 'longest write during the migration',
        value: `${longestWriteMs.toFixed(1)} ms`,
        ...goal('at most the critical section + 10 ms', longestWriteMs <= criticalMs + 10),
      },
      { name: 'longest write before it, in equal time', value: `${of((r) => r.usualLongestWriteMs).toFixed(1)} ms` },
    ],
    note: `Figures of the emulator, not of MongoDB. Medians of ${rounds} interleaved rounds. Node ${process.version}, ${cpus().length} cores.`,
  }
}

async function oneRound(
  cluster: ShardedCluster,
  clients: readonly RawClient[],
  copier: Worker,
  round: number,
): Promise<Round> {
  const admin = clients[0]!
  const quiet = `bench.quiet${round}`
  const written = `bench.written${round}`
  for (const ns of [quiet, written]) {
    await checked(admin, { shardCollection: ns, key: { k: 1 }, $db: 'admin' })
    for (let from = 0; from < count; from += 1000) {
      const sequence = ['documents', documents.slice(from, from + 1000)] as const
      await checked(admin, { insert: ns.slice('bench.'.length), ordered: false, $db: 'bench' }, [sequence])
    }
  }
  const moveMs = await move(admin, quiet)
  const copyMs = await copy(copier)
  const critical = criticalSections(cluster, written)
  const before = await updatesDuring(
    clients.slice(1),
    written,
    () => new Promise((resolve) => setTimeout(resolve, moveMs)),
  )
  const during = await updatesDuring(clients.slice(1), written, () => move(admin, written))
  for (const ns of [quiet, written]) await checked(admin, { drop: ns.slice('bench.'.length), $db: 'bench' })
  return {
    moveMs,
    movedWhileWrittenMs: during.value as number,
    criticalMs: critical.stop(),
    longestWriteMs: during.longestMs,
    usualLongestWriteMs: before.longestMs,
    copyMs,
  }
}

async function move(admin: RawClient, ns: string): Promise<number> {
  const startedMs = performance.now()
  await checked(admin, { moveChunk: ns, find: { k: 0 }, to: await otherShard(admin, ns), $db: 'admin' })
  return performance.now() - startedMs
}

async function otherShard(admin: RawClient, ns: string): Promise<string> {
  const { cursor } = await checked(admin, { find: 'collections', filter: { _id: ns }, $db: 'config' })
  const { uuid } = cursor.firstBatch[0]
  const chunks = await checked(admin, { find: 'chunks', filter: { uuid }, $db: 'config' })
  return chunks.cursor.firstBatch[0].shard === 'shard01' ? 'shard02' : 'shard01'
}

/** Updates until `work` ends. Resolves with the longest time that one update took. */
async function updatesDuring(clients: readonly RawClient[], ns: string, work: () => Promise<unknown>) {
  let isWorking = true
  let longestMs = 0
  const writing = clients.map(async (client, number) => {
    for (let i = number; isWorking; i += clients.length) {
      const startedMs = performance.now()
      const updates = [{ q: { k: (i * 7919) % count }, u: { $inc: { n: 1 } } }]
      await checked(client, { update: ns.slice('bench.'.length), updates, $db: 'bench' })
      longestMs = Math.max(longestMs, performance.now() - startedMs)
    }
  })
  const value = await work()
  isWorking = false
  await Promise.all(writing)
  return { value, longestMs }
}

/** Measures the time from the first blocked write to the commit of the migration. */
function criticalSections(cluster: ShardedCluster, ns: string) {
  let ms = 0
  const listener = (event: MigrationEvent): void => {
    if (event.ns !== ns) return
    if (event.stage === 'critical-section') ms = -event.durationMs
    if (event.stage === 'committed') ms += event.durationMs
  }
  cluster.on('migration', listener)
  return {
    stop: () => {
      cluster.off('migration', listener)
      return ms
    },
  }
}

async function copy(copier: Worker): Promise<number> {
  const writer = new PacketWriter()
  const startedMs = performance.now()
  for (let from = 0; from < count;) {
    let bytes = 0
    let to = from
    while (to < count && bytes + documents[to]!.length <= batchBytes) bytes += documents[to++]!.length
    writer.addReply(1, 2, 1, 'shard.migrate-clone', {
      documents: documents.slice(from, to),
      sizes: null,
      last: to === count,
      error: null,
    })
    const packet = writer.take()
    copier.postMessage(packet, [packet.buffer])
    from = to
  }
  copier.postMessage(null)
  const [copied] = (await once(copier, 'message')) as [number]
  if (copied !== count) throw new Error(`the plain copy lost documents: ${copied} of ${count}`)
  return performance.now() - startedMs
}

async function checked(
  client: RawClient,
  command: Document,
  sequences?: readonly (readonly [string, readonly Uint8Array[]])[],
) {
  const reply = await client.command(command, sequences)
  if (reply['ok'] !== 1 || reply['writeErrors'] !== undefined)
    throw new Error(`${Object.keys(command)[0]} failed: ${JSON.stringify(reply)}`)
  return reply
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

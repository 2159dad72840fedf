/**
 * Clusters with `dbPath`: journaled inserts relative to bare appends of the same bytes, the start
 * with much data, and its memory.
 */
import {
  closeSync,
  fdatasync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { MongoClient } from 'mongodb'
import { residentBytes } from '../support/process-memory.js'
import { up, type RunningUp } from '../support/up.js'
import type { BenchResult } from './bench.js'
import { atLeast } from './goals.js'

const writers = 16
const oneMember = ['--topology', 'replica-set', '--members', '1']
const measuredMs = 4000
const rounds = 3
const text = 'x'.repeat(100)
const gigabyte = 2 ** 30
/** Of the log entry of an insert, with the headers of its frame. */
const entryBytes = 262
const filledBytes = Number(process.env['SHARDLAB_BENCH_BYTES'] ?? gigabyte)
const documentBytes = 1024

export async function measure(): Promise<BenchResult> {
  const bare: number[] = []
  const standalone: number[] = []
  const sharded: number[] = []
  const inMemory: number[] = []
  // Interleaved, so that a slow moment affects all variants.
  for (let round = 0; round < rounds; round++) {
    bare.push(await appendsPerSecond(entryBytes))
    standalone.push(await insertsPerSecond(true, ...oneMember))
    sharded.push(await insertsPerSecond(true, '--shards', '2'))
    inMemory.push(await insertsPerSecond(false, ...oneMember))
  }
  const base = median(bare)
  const filled = await startWith(filledBytes)
  const ratio = (values: readonly number[]) => (median(values) / base).toFixed(2)
  const perGigabyte = (value: number) => (value * gigabyte) / filledBytes
  return {
    title: `durable: data in files, ${writers} writers`,
    rows: [
      { name: 'bare appends, a flush for all that wait', value: `${Math.round(base)} per s` },
      {
        name: 'inserts with j: true, a set of one, relative to them',
        value: ratio(standalone),
        ...atLeast(0.7, '', median(standalone) / base),
      },
      { name: 'inserts with j: true, two shards, relative to them', value: ratio(sharded) },
      { name: 'the same inserts into a set of one in memory, relative', value: ratio(inMemory) },
      { name: 'start, per GB of data', value: `${(perGigabyte(filled.startMs) / 1000).toFixed(1)} s` },
      {
        name: 'memory after the start, per GB of data',
        value: `${(perGigabyte(filled.memoryBytes) / gigabyte).toFixed(2)} GB`,
      },
      {
        name: 'memory while it was filled, per GB of data',
        value: `${(perGigabyte(filled.filledMemoryBytes) / gigabyte).toFixed(2)} GB`,
      },
      { name: 'files, per GB of data', value: `${(perGigabyte(filled.fileBytes) / gigabyte).toFixed(2)} GB` },
    ],
    note: `Figures of the emulator, not of MongoDB. Medians of ${rounds} interleaved rounds of ${measuredMs / 1000} s; the cluster in a process of its own; documents of ${documentBytes} bytes for the start. Node ${process.version}, ${cpus().length} cores.`,
  }
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One append after the other by each writer, in a file that was filled with zeros before. */
async function appendsPerSecond(bytes: number): Promise<number> {
  return inFolder(async (folder) => {
    const fd = openSync(join(folder, 'log'), 'w')
    const zeros = Buffer.alloc(2 ** 26)
    writeSync(fd, zeros)
    fsyncSync(fd)
    let at = 0
    let waiting: (() => void)[] = []
    let isFlushing = false
    const flush = (): void => {
      if (isFlushing || waiting.length === 0) return
      isFlushing = true
      const served = waiting
      waiting = []
      writeSync(fd, Buffer.alloc(bytes * served.length, 1), 0, bytes * served.length, at)
      at = (at + bytes * served.length) % (zeros.length - bytes * writers)
      fdatasync(fd, (error) => {
        if (error !== null) throw error
        isFlushing = false
        for (const done of served) done()
        flush()
      })
    }
    const append = (): Promise<void> =>
      new Promise((resolve) => {
        waiting.push(resolve)
        flush()
      })
    const count = await during(append)
    closeSync(fd)
    return count
  })
}

async function insertsPerSecond(isDurable: boolean, ...options: string[]): Promise<number> {
  return inFolder(async (folder) => {
    const running = await up('--port', '0', ...(isDurable ? ['--dbpath', join(folder, 'data')] : []), ...options)
    const client = await MongoClient.connect(running.ready.uri, { minPoolSize: writers, maxPoolSize: writers })
    try {
      if (options[0] === '--shards')
        await client.db('admin').command({ shardCollection: 'app.a', key: { _id: 'hashed' } })
      const a = client.db('app').collection('a')
      const insert = () => a.insertOne({ text }, { writeConcern: { w: 1, j: true } })
      // Node.js compiles what is hot.
      await during(insert)
      return await during(insert)
    } finally {
      await client.close()
      await running.stop()
    }
  })
}

async function during(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  let count = 0
  await Promise.all(
    Array.from({ length: writers }, async () => {
      while (performance.now() - startMs < measuredMs) {
        await work()
        count++
      }
    }),
  )
  return (count * 1000) / (performance.now() - startMs)
}

async function startWith(bytes: number) {
  return inFolder(async (folder) => {
    const dbPath = join(folder, 'data')
    const start = () => up('--port', '0', '--dbpath', dbPath, '--topology', 'standalone', '--disk-size', '3900MB')
    let running = await start()
    await fill(running, bytes)
    const filledMemoryBytes = residentBytes(running.process.pid!)
    await kill(running)
    const fileBytes = sizeOf(dbPath)
    const startMs = performance.now()
    running = await start()
    const tookMs = performance.now() - startMs
    const memoryBytes = residentBytes(running.process.pid!)
    await kill(running)
    return { startMs: tookMs, memoryBytes, filledMemoryBytes, fileBytes }
  })
}

async function fill({ ready }: RunningUp, bytes: number): Promise<void> {
  const client = await MongoClient.connect(ready.uri)
  const a = client.db('app').collection<{ _id: number; text: string }>('a')
  const batch = 5000
  for (let i = 0; i < bytes / documentBytes; i += batch)
    await a.insertMany(Array.from({ length: batch }, (_, j) => ({ _id: i + j, text: 'x'.repeat(documentBytes - 40) })))
  await client.close()
}

async function kill({ process: child }: RunningUp): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

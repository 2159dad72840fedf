/**
 * The dashboard: frames of a page with 100 shards and 100,000 chunks that change, in a Chromium
 * (`CHROMIUM`, default /usr/bin/chromium), and the cost for clients of a cluster with a page open.
 */
import { cpus } from 'node:os'
import type { OperationsEvent, RoutedOperation } from '@shardlab/actor'
import { MongoClient } from 'mongodb'
import { chromium, type Browser, type Page } from 'playwright-core'
import { chunkDeltas, LiveState, Readers, type Delta, type LiveChunk } from '@shardlab/dashboard'
import { openDashboard, type DashboardTarget } from '@shardlab/dashboard/server'
import { up } from '../support/up.js'
import type { BenchResult } from './bench.js'
import { atLeast } from './goals.js'

const shards = Array.from({ length: 100 }, (_, i) => `shard${String(i + 1).padStart(3, '0')}`)
const chunkCount = 100_000
const changesPerSecond = 100
const changeEveryMs = 50
const reportedPerSecond = 5000
const routers = 4
const measuredMs = 3000
const ns = 'app.rows'
const writers = 16
const rounds = 9

export async function measure(): Promise<BenchResult> {
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-background-networking'] })
  try {
    const large = await framesOfLarge(browser)
    const ratio = await costOfPage(browser)
    return {
      title: `dashboard: a page of ${shards.length} shards, ${chunkCount} chunks, ${changesPerSecond} changes and ${reportedPerSecond} operations a second`,
      rows: [
        { name: 'from the request to the first map', value: `${large.firstMs.toFixed(0)} ms` },
        { name: 'frames a second, all chunks', value: large.all.toFixed(0), ...atLeast(30, '', large.all) },
        { name: 'frames a second, 200 chunks', value: large.near.toFixed(0), ...atLeast(30, '', large.near) },
        {
          name: 'frames a second, operations',
          value: large.operations.toFixed(0),
          ...atLeast(30, '', large.operations),
        },
        {
          name: `operations of ${writers} clients with a page open, relative to none`,
          value: ratio.toFixed(2),
          ...atLeast(0.95, '', ratio),
        },
      ],
      note: `Figures of the emulator, not of MongoDB. The ratio is the median of ${rounds} rounds. Node ${process.version}, ${cpus().length} cores.`,
    }
  } finally {
    await browser.close()
  }
}

async function framesOfLarge(
  browser: Browser,
): Promise<{ firstMs: number; all: number; near: number; operations: number }> {
  const state = largeState()
  const readers = new Readers({
    snapshot: () => state.snapshot(),
    abandoned: () => {},
    overflowed: () => {},
    newId: () => String(Math.random()),
  })
  const target: DashboardTarget = {
    ...{ faultForms: [], needsLogin: false },
    enter: async () => ({
      open: async () => readers.next(readers.open(), 0, 0),
      next: (reader, after, waitMs) => readers.next(reader, after, waitMs),
      close: async (reader) => readers.close(reader),
      control: async () => ({}),
      end: () => {},
    }),
  }
  const server = await openDashboard(target, { port: 0, exposure: null })
  let changed = 0
  const timer = setInterval(() => {
    for (let i = 0; i < (changesPerSecond * changeEveryMs) / 1000; i++) {
      const place = (changed++ * 7919) % (chunkCount - 1)
      const chunk: LiveChunk = { ...chunkAt(place), shard: shards[changed % shards.length]! }
      const delta: Delta = { type: 'chunks', ns, from: chunk.key, to: chunkAt(place + 1).key, chunks: [chunk] }
      state.apply(delta)
      readers.push(delta)
    }
  }, changeEveryMs)
  let reported = 0
  const reports = setInterval(() => {
    const delta: Delta = { type: 'operations', operations: operationsOf(`mongos0${1 + (reported++ % routers)}`) }
    state.apply(delta)
    readers.push(delta)
  }, 500 / routers)
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    const beganMs = performance.now()
    await page.goto(`${server.url}#collections`)
    await page.locator(`.summary[data-chunks="${chunkCount}"]`).waitFor()
    const firstMs = performance.now() - beganMs
    const all = await framesPerSecond(page)
    for (let i = 0; i < 9; i++) await page.getByRole('button', { name: 'Zoom in' }).click()
    const near = await framesPerSecond(page)
    await page.locator('nav a', { hasText: 'Operations' }).click()
    await page.locator('table.shapes').waitFor()
    return { firstMs, all, near, operations: await framesPerSecond(page) }
  } finally {
    clearInterval(timer)
    clearInterval(reports)
    await server.close()
  }
}

/** Half a second of a router. */
function operationsOf(mongos: string): OperationsEvent {
  const atMs = Date.now()
  const samples = Array.from({ length: 10 }, (_, i): RoutedOperation => {
    const { shard } = chunkAt(Math.floor(Math.random() * chunkCount))
    const bound = [`{"a":${i}}`, `{"a":${i}}`] as const
    return {
      ...{
        atMs,
        mongos,
        opId: i,
        connectionId: 1,
        ns,
        command: 'find',
        shardKey: '{"a":1}',
        shape: `{"f${i}":"?number"}`,
      },
      ...{ kind: 'targeted', shards: [shard], chunks: 1, bounds: [bound], durationMs: i, staleReplies: 0, error: null },
    }
  })
  const shapes = Array.from({ length: 100 }, (_, i) => ({
    ...({ ns, command: 'find', shape: `{"f${i}":"?number"}`, kind: 'targeted', failed: 0, durationMs: 10 } as const),
    ...{ operations: reportedPerSecond / (2 * routers * 100), slowest: samples[i % samples.length]! },
  }))
  const chunks = Array.from({ length: reportedPerSecond / (2 * routers) }, () => {
    const { key } = chunkAt(Math.floor(Math.random() * chunkCount))
    return [ns, key, key, 1] as const
  })
  return { type: 'operations', atMs, fromMs: atMs - 500, mongos, shapes, shards: [], chunks, samples }
}

const chunkAt = (place: number): LiveChunk => ({
  ...{ key: (0x20_0000 + place).toString(16), min: `{"a":${place}}` },
  shard: shards[(place * 31) % shards.length]!,
})

function largeState(): LiveState {
  const state = new LiveState()
  const cluster = { id: 'bench', uri: 'mongodb://h/', topology: 'sharded', emulate: '7.0', clock: 'real' } as const
  state.apply({ type: 'snapshot', cluster, recordedSinceMs: 0 })
  for (const id of shards) state.apply({ type: 'shard', shard: { id, draining: false, zones: [] } })
  const collection = { ns, shardKey: '{"a":1}', unsplittable: false, balanced: true, zones: [] }
  state.apply({ type: 'collection', collection })
  const chunks = Array.from({ length: chunkCount }, (_, place) => chunkAt(place))
  for (const delta of chunkDeltas(ns, chunks)) state.apply(delta)
  state.apply({ type: 'ready' })
  return state
}

function framesPerSecond(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const beganMs = performance.now()
    let frames = 0
    const next = (nowMs) => {
      frames++
      if (nowMs - beganMs < ${measuredMs}) requestAnimationFrame(next)
      else resolve((1000 * frames) / (nowMs - beganMs))
    }
    requestAnimationFrame(next)
  })`)
}

/** In turns, because other work of the machine changes with time. */
async function costOfPage(browser: Browser): Promise<number> {
  const running = await up('--port', '0', '--quiet', '--shards', '3', '--dashboard')
  const { uri, dashboard } = running.ready as unknown as { readonly uri: string; readonly dashboard: string }
  const client = await MongoClient.connect(uri, { maxPoolSize: writers })
  try {
    await client.db('admin').command({ shardCollection: ns, key: { _id: 'hashed' } })
    await operationsPerSecond(client)
    const ratios: number[] = []
    for (let round = 0; round < rounds; round++) {
      const without = await operationsPerSecond(client)
      const page = await browser.newPage()
      await page.goto(dashboard)
      await page.locator('h1').waitFor()
      const watched = await operationsPerSecond(client)
      await page.close()
      ratios.push(watched / without)
    }
    return ratios.toSorted((a, b) => a - b)[Math.floor(rounds / 2)]!
  } finally {
    await client.close()
    await running.stop()
  }
}

async function operationsPerSecond(client: MongoClient): Promise<number> {
  const rows = client.db('app').collection<{ n: number }>('rows')
  const endsMs = performance.now() + measuredMs
  const counts = await Promise.all(
    Array.from({ length: writers }, async () => {
      let count = 0
      for (; performance.now() < endsMs; count += 2) {
        const { insertedId } = await rows.insertOne({ n: count })
        await rows.findOne({ _id: insertedId })
      }
      return count
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0) / (measuredMs / 1000)
}

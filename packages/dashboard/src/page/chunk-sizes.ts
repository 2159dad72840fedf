/** Documents and bytes of the chunks of one collection, asked for while the page shows them. */
import type { ChunkSizesOfShard } from '../stream/chunk-sizes-of-shard.js'
import type { LiveChunk } from '../stream/deltas.js'
import type { App } from './app.js'

export interface ChunkSize {
  readonly end: string
  readonly documents: number
  readonly bytes: number
}

export interface ChunkSizes {
  /** By the keys of the chunks. Those without documents are left out. */
  readonly byKey: ReadonlyMap<string, ChunkSize>
  /** Sentences: why sizes are missing. */
  readonly errors: readonly string[]
}

const none: ChunkSizes = { byKey: new Map(), errors: [] }
const empty: ChunkSize = { end: '', documents: 0, bytes: 0 }
const leastIntervalMs = 2000
/** The shards read all documents for it, so they rest for so many times as long. */
const restFactor = 10

let shown: { readonly ns: string; readonly sizes: ChunkSizes } | null = null
/** The collection of the request that has no answer yet; null: no request waits. */
let asked: string | null = null
let nextMs = 0

/** The last sizes of the collection, which it asks for again when they are old. Null: none yet. */
export function chunkSizesOf(ns: string, app: App): ChunkSizes | null {
  if (!app.isPaused && asked !== ns && (shown?.ns !== ns || performance.now() >= nextMs)) void ask(ns, app)
  return shown?.ns === ns ? shown.sizes : null
}

async function ask(ns: string, app: App): Promise<void> {
  asked = ns
  const beganMs = performance.now()
  let sizes: ChunkSizes
  try {
    sizes = sizesIn(((await app.ask('chunkSizes', { ns })) as { readonly shards: readonly ChunkSizesOfShard[] }).shards)
  } catch (error) {
    sizes = { ...none, errors: [(error as Error).message] }
  }
  // Another collection may have been chosen during the wait.
  if (asked !== ns) return
  asked = null
  shown = { ns, sizes }
  const endedMs = performance.now()
  nextMs = endedMs + Math.max(leastIntervalMs, restFactor * (endedMs - beganMs))
  app.redraw()
}

export function sizesIn(shards: readonly ChunkSizesOfShard[]): ChunkSizes {
  const byKey = new Map<string, ChunkSize>()
  for (const { keys, ends, documents, bytes } of shards)
    // A chunk that moved between the answers of two shards counts once.
    for (const [i, key] of keys.entries()) byKey.set(key, { end: ends[i]!, documents: documents[i]!, bytes: bytes[i]! })
  const errors = shards.flatMap(({ shard, error }) => (error === null ? [] : [`No sizes of ${shard}: ${error}.`]))
  return { byKey, errors }
}

/** Nothing for a chunk that was split or merged after it was measured. */
export function sizeOfChunk({ byKey }: ChunkSizes, chunks: readonly LiveChunk[], place: number): ChunkSize {
  const size = byKey.get(chunks[place]!.key)
  const end = chunks[place + 1]?.key
  return size === undefined || (end !== undefined && end !== size.end) ? empty : size
}

import type { OperationsEvent } from '@shardlab/actor'
import type {
  ClusterFacts,
  Delta,
  LiveBalancer,
  LiveCatalog,
  LiveClock,
  LiveChunk,
  LiveCollection,
  LiveFault,
  LiveMember,
  LiveMigration,
  LiveShard,
  StreamedEvent,
} from './deltas.js'
import { weightOfChunk } from './weight.js'

/** Older events are dropped. */
export const eventsMax = 500

/** Older sums of operations are dropped. */
export const operationsKeptMs = 120_000
/** Eight routers send 1920 in that time. */
const operationsMax = 2000
/** Older samples, and sums of chunks, are dropped: they are most of the data. */
const samplesKeptMs = 60_000

/** Of one delta in a snapshot, so that no message is large. */
const chunksPerDelta = 1000
const deltaWeightMax = 1_000_000

export interface ChunkCounts {
  readonly byShard: ReadonlyMap<string, number>
  readonly jumbo: number
  /** Another number after each change of the chunks, and in each state. */
  readonly changes: number
}

class CountedChunks implements ChunkCounts {
  readonly byShard = new Map<string, number>()
  jumbo = 0
  changes = 0

  add({ shard, jumbo }: LiveChunk, count: 1 | -1): void {
    this.byShard.set(shard, (this.byShard.get(shard) ?? 0) + count)
    if (jumbo === true) this.jumbo += count
  }
}

/** So that no two collections have the same number, not even of a state and its copy. */
let changesMade = 0

const noChunks: ChunkCounts = { byShard: new Map(), jumbo: 0, changes: 0 }

/** What a reader knows: the sum of its deltas. The recorder, the page and other tools use this. */
export class LiveState {
  /** false: a snapshot has begun and not ended. */
  isReady = false
  cluster: ClusterFacts | null = null
  /** Of what happened before, nothing is known. Milliseconds since the epoch. */
  recordedSinceMs = 0
  readonly members = new Map<string, LiveMember>()
  readonly shards = new Map<string, LiveShard>()
  readonly collections = new Map<string, LiveCollection>()
  readonly migrations = new Map<string, LiveMigration>()
  faults: readonly LiveFault[] = []
  balancer: LiveBalancer | null = null
  catalog: LiveCatalog = { readAtMs: 0, error: null }
  /** null: the clock is real, or has not been read yet. */
  clock: LiveClock | null = null
  /** Oldest first. */
  readonly events: StreamedEvent[] = []
  /** Of all routers, oldest first. */
  readonly operations: OperationsEvent[] = []
  readonly #chunks = new Map<string, LiveChunk[]>()
  /** Kept up to date with each delta: there may be 100,000 chunks. */
  readonly #counts = new Map<string, CountedChunks>()

  /** In the order of their keys; empty: the collection is unknown. */
  chunksOf(ns: string): readonly LiveChunk[] {
    return this.#chunks.get(ns) ?? []
  }

  countsOf(ns: string): ChunkCounts {
    return this.#counts.get(ns) ?? noChunks
  }

  apply(delta: Delta): void {
    switch (delta.type) {
      case 'snapshot':
        this.#clear()
        this.cluster = delta.cluster
        this.recordedSinceMs = delta.recordedSinceMs
        return
      case 'ready':
        this.isReady = true
        return
      case 'member':
        this.members.set(delta.member.address, delta.member)
        return
      case 'member-removed':
        this.members.delete(delta.address)
        return
      case 'shard':
        this.shards.set(delta.shard.id, delta.shard)
        return
      case 'shard-removed':
        this.shards.delete(delta.id)
        return
      case 'collection':
        this.collections.set(delta.collection.ns, delta.collection)
        return
      case 'collection-removed':
        this.collections.delete(delta.ns)
        this.#chunks.delete(delta.ns)
        this.#counts.delete(delta.ns)
        return
      case 'chunks':
        this.#replace(delta)
        return
      case 'migration':
        this.migrations.set(delta.migration.id, delta.migration)
        return
      case 'migration-ended':
        this.migrations.delete(delta.id)
        return
      case 'faults':
        this.faults = delta.faults
        return
      case 'balancer':
        this.balancer = delta.balancer
        return
      case 'catalog':
        this.catalog = delta.catalog
        return
      case 'clock':
        this.clock = delta.clock
        return
      case 'operations':
        this.#addOperations(delta.operations)
        return
      case 'event':
        // An idle balancer would fill the history with its rounds.
        if (isIdleRound(delta.event) && isIdleRound(this.events.at(-1))) this.events.pop()
        this.events.push(delta.event)
        if (this.events.length > eventsMax) this.events.shift()
    }
  }

  /** Deltas from which another `LiveState` becomes equal to this one. */
  *snapshot(): Generator<Delta> {
    if (this.cluster === null) throw new Error('a state without a cluster has no snapshot')
    yield { type: 'snapshot', cluster: this.cluster, recordedSinceMs: this.recordedSinceMs }
    for (const member of this.members.values()) yield { type: 'member', member }
    for (const shard of this.shards.values()) yield { type: 'shard', shard }
    for (const collection of this.collections.values()) {
      yield { type: 'collection', collection }
      yield* chunkDeltas(collection.ns, this.chunksOf(collection.ns))
    }
    for (const migration of this.migrations.values()) yield { type: 'migration', migration }
    if (this.faults.length > 0) yield { type: 'faults', faults: this.faults }
    if (this.balancer !== null) yield { type: 'balancer', balancer: this.balancer }
    yield { type: 'catalog', catalog: this.catalog }
    if (this.clock !== null) yield { type: 'clock', clock: this.clock }
    for (const operations of this.operations) yield { type: 'operations', operations }
    for (const event of this.events) yield { type: 'event', event }
    yield { type: 'ready' }
  }

  /** It does not change with this one. */
  copy(): LiveState {
    const copy = new LiveState()
    for (const delta of this.snapshot()) copy.apply(delta)
    return copy
  }

  #addOperations(added: OperationsEvent): void {
    const { operations } = this
    operations.push(added)
    const isOlder = ({ atMs }: OperationsEvent, ms: number): boolean => atMs < added.atMs - ms
    while (operations.length > operationsMax || isOlder(operations[0]!, operationsKeptMs)) operations.shift()
    for (let i = 0; i < operations.length && isOlder(operations[i]!, samplesKeptMs); i++)
      if (operations[i]!.samples.length > 0) operations[i] = { ...operations[i]!, samples: [], chunks: [] }
  }

  #replace({ ns, from, to, chunks }: Extract<Delta, { type: 'chunks' }>): void {
    const known = this.#chunks.get(ns) ?? []
    const counts = this.#counts.get(ns) ?? new CountedChunks()
    this.#counts.set(ns, counts)
    const start = placeOf(known, from)
    const end = to === null ? known.length : placeOf(known, to)
    for (let i = start; i < end; i++) counts.add(known[i]!, -1)
    for (const chunk of chunks) counts.add(chunk, 1)
    counts.changes = ++changesMade
    this.#chunks.set(ns, known)
    // An argument for each chunk would exceed the stack.
    if (chunks.length > chunksPerDelta) {
      this.#chunks.set(ns, known.slice(0, start).concat(chunks, known.slice(end)))
      return
    }
    known.splice(start, end - start, ...chunks)
  }

  #clear(): void {
    this.isReady = false
    for (const map of [this.members, this.shards, this.collections, this.migrations, this.#chunks, this.#counts])
      map.clear()
    this.faults = []
    this.balancer = null
    this.catalog = { readAtMs: 0, error: null }
    this.clock = null
    this.events.length = 0
    this.operations.length = 0
  }
}

/** A round that changed nothing. */
function isIdleRound(event: StreamedEvent | undefined): boolean {
  if (event?.type !== 'balancer-round') return false
  return event.splits.length + event.migrations.length + event.defragmenting.length === 0
}

/** Deltas that replace all chunks of a collection. */
export function* chunkDeltas(ns: string, chunks: readonly LiveChunk[]): Generator<Extract<Delta, { type: 'chunks' }>> {
  for (let from = 0, to = 0; from < chunks.length; from = to) {
    to = endOfDelta(chunks, from)
    yield {
      ...{ type: 'chunks', ns, from: from === 0 ? '' : chunks[from]!.key },
      // The first delta removes whatever there was; the others append.
      to: null,
      chunks: chunks.slice(from, to),
    }
  }
}

function endOfDelta(chunks: readonly LiveChunk[], from: number): number {
  const most = Math.min(chunks.length, from + chunksPerDelta)
  let weight = weightOfChunk(chunks[from]!)
  for (let to = from + 1; to < most; to++) {
    weight += weightOfChunk(chunks[to]!)
    if (weight > deltaWeightMax) return to
  }
  return most
}

/** The first chunk that begins at the key or after it. */
export function placeOf(chunks: readonly LiveChunk[], key: string): number {
  let low = 0
  let high = chunks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (chunks[middle]!.key < key) low = middle + 1
    else high = middle
  }
  return low
}

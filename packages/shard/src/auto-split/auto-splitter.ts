/**
 * Counts the bytes written to each chunk, and splits full chunks one after the other.
 * Server: chunk_splitter.cpp.
 * Manual: core/sharding-data-partitioning (until 6.0.2).
 */
import { balancerAddress, configAddress, RequestFailedError, StepFailedError } from '@shardlab/actor'
import { CommandError, sameBytes } from '@shardlab/bson'
import { raiseError } from '@shardlab/node'
import { parseChunk, type ChunkEntry, type CollectionPlacement } from '@shardlab/sharding'
import type { LogEntry } from '@shardlab/storage'
import { chunkHandlers, type ChunkHost } from '../chunks/split-chunk.js'
import type { CollectionRanges, RangeStore } from '../ranges/collection-ranges.js'
import type { KeyRange } from '../ranges/key-range.js'
import { splitPoints } from './split-points.js'
import { cutForTopChunk } from './top-chunk.js'
import { WrittenBytes, type SplitCheck } from './written-bytes.js'

const configTimeoutMs = 10_000
const splitPointsMax = 8192

export interface WrittenSoFar {
  readonly written: ReadonlyMap<string, WrittenBytes>
  readonly maxChunkSizeBytes: number | null
}

interface AutoSplitHost extends ChunkHost {
  readonly ranges: RangeStore
}

export class AutoSplitter {
  readonly #host: AutoSplitHost
  readonly #checks: SplitCheck[] = []
  readonly #written = new Map<string, WrittenBytes>()
  /** null: not yet read from the config server. */
  #maxChunkSizeBytes: number | null = null
  #asking = false
  #working: Promise<void> | null = null
  readonly #moves = new Set<Promise<void>>()

  constructor(host: AutoSplitHost) {
    this.#host = host
  }

  start(): void {
    const { node } = this.#host
    if (node.behaviours.autoSplit) node.observe((entry) => this.#noteWrite(entry))
  }

  /** No check may be queued or running. */
  export(): WrittenSoFar {
    return { written: copyOf(this.#written), maxChunkSizeBytes: this.#maxChunkSizeBytes }
  }

  /** Call before {@link start}. */
  import({ written, maxChunkSizeBytes }: WrittenSoFar): void {
    for (const [ns, each] of copyOf(written)) this.#written.set(ns, each)
    this.#maxChunkSizeBytes = maxChunkSizeBytes
  }

  /** Waits for all checks and for moves of top chunks. @returns whether it waited */
  async idle(): Promise<boolean> {
    let worked = false
    for (;;) {
      const next = this.#working ?? this.#moves.values().next().value
      if (next === undefined) return worked
      worked = true
      await next
    }
  }

  #noteWrite({ op, ns, object }: LogEntry): void {
    // Collections of `config` are not sharded, and migrations write there often.
    if ((op !== 'i' && op !== 'u') || ns.startsWith('config.')) return
    const { placements, node } = this.#host
    const placement = placements.collection(ns)
    if (placement === undefined || placement === null) return
    const key = placement.shardKey.extract(object)
    if (typeof key === 'string') return
    const chunk = placement.table.chunkAt(key.keyString)
    // This shard does not own the documents of a migration before its commit.
    if (chunk.shard !== node.context.address) return
    this.#count(placement, chunk, object.length)
  }

  /** For bytes that were written to a chunk of this shard without an entry in the log. */
  noteWritten(placement: CollectionPlacement, chunk: ChunkEntry, bytes: number): void {
    if (this.#host.node.behaviours.autoSplit) this.#count(placement, chunk, bytes)
  }

  #count(placement: CollectionPlacement, chunk: ChunkEntry, bytes: number): void {
    const written = this.#writtenTo(placement)
    const place = written.add(chunk, bytes)
    if (this.#maxChunkSizeBytes === null) this.#askForSize(placement.ns)
    else this.#queueCheck(written, chunk.min, place, this.#maxChunkSizeBytes)
  }

  #queueCheck(written: WrittenBytes, min: string, place: number, maxChunkSizeBytes: number): void {
    const check = written.claim(min, place, maxChunkSizeBytes)
    if (check === null) return
    this.#checks.push(check)
    this.#working ??= this.#runChecks()
  }

  #writtenTo(placement: CollectionPlacement): WrittenBytes {
    const { ns, uuid, shardKey, table } = placement
    const known = this.#written.get(ns)
    if (known?.isOf(placement) === true) return known
    const { autoSplitChecksOuterChunksEarlier } = this.#host.node.behaviours
    const written = new WrittenBytes(
      { ns, uuid, shardKey, globalMax: table.globalMax },
      autoSplitChecksOuterChunksEarlier,
    )
    this.#written.set(ns, written)
    return written
  }

  #askForSize(ns: string): void {
    if (this.#asking) return
    this.#asking = true
    const ask = async () => {
      try {
        await this.#settings(ns)
        for (const written of this.#written.values())
          for (const [min, place] of written.all()) this.#queueCheck(written, min, place, this.#maxChunkSizeBytes!)
      } catch (error) {
        if (!isFailure(error)) throw error
      } finally {
        this.#asking = false
      }
    }
    this.#host.node.context.detach(ask())
  }

  async #settings(ns: string): Promise<boolean> {
    const { context } = this.#host.node
    const { maxChunkSizeBytes, autoSplit } = await context.request(
      configAddress,
      'config.get-split-settings',
      { ns },
      { timeoutMs: configTimeoutMs },
    )
    this.#maxChunkSizeBytes = maxChunkSizeBytes
    return autoSplit
  }

  async #runChecks(): Promise<void> {
    const { context, stopping } = this.#host.node
    try {
      // Reply first to the write that filled the chunk.
      await context.sleep(0, stopping.signal)
      for (let check = this.#checks.shift(); check !== undefined; check = this.#checks.shift()) await this.#check(check)
    } catch (error) {
      // The member is shutting down.
      if (!isFailure(error)) throw error
    } finally {
      this.#working = null
    }
  }

  async #check(check: SplitCheck): Promise<void> {
    const { written } = check
    const { ns } = written.collection
    const { context } = this.#host.node
    const bytes = written.bytesOf(check)
    try {
      await context.reach('shard.auto-split.started', { ns })
      const top = await this.#split(check)
      if (top !== null) this.#moveTopChunk(ns, top)
    } catch (error) {
      if (!isFailure(error)) throw error
      context.log('info', 'a chunk was not split as it grew', { ns, reason: error.message })
    } finally {
      written.release(check, bytes)
    }
  }

  /** @returns the lower bound of the top chunk to move; null: none, or there was no split */
  async #split(check: SplitCheck): Promise<Uint8Array | null> {
    const { ns, uuid } = check.written.collection
    const { node, placements, ranges } = this.#host
    const { behaviours } = node
    if (!(await this.#settings(ns))) return null
    const placement = await placements.refreshCollection(ns)
    const collection = node.collection(ns)
    if (placement === null || collection === undefined || !sameBytes(placement.uuid, uuid)) return null
    const now = placement.table.chunkAt(check.min)
    if (now.min !== check.min || now.max !== check.max || now.shard !== node.context.address) return null
    const { shardKey } = placement
    const documents = ranges.of(collection)
    const range = await this.#rangeOf(check, documents)
    if (range === null) return null
    const found = await splitPoints(node, documents, {
      shardKey,
      range,
      maxChunkSizeBytes: this.#maxChunkSizeBytes!,
      pointsMax: null,
    })
    // Parts are half as large as a chunk may be: a chunk with one split point may still grow.
    if (found.length <= (behaviours.autoSplitLeavesFullChunks ? 0 : 1)) return null
    const points = found.slice(0, splitPointsMax)
    const top = cutForTopChunk(documents, shardKey, range, points)
    const [epoch, seconds, increment] = placement.table.version
    const { min, max } = range
    const request = {
      ns,
      generation: [epoch, seconds, increment] as const,
      min,
      max,
      splitPoints: top?.points ?? points,
    }
    raiseError((await chunkHandlers['shard.split-chunk'](this.#host, request)).error)
    await node.context.reach('shard.auto-split.committed', { ns })
    return top?.min ?? null
  }

  /** null: the chunk no longer exists. */
  async #rangeOf({ written, min, max }: SplitCheck, documents: CollectionRanges): Promise<KeyRange | null> {
    const { ns, shardKey } = written.collection
    const key = documents.keyBetween(shardKey, min, max)
    if (key === null) return null
    const { chunk } = await this.#host.node.context.request(
      configAddress,
      'config.find-chunk',
      { ns, key },
      { timeoutMs: configTimeoutMs },
    )
    if (chunk === null) return null
    const range = parseChunk(chunk)
    return shardKey.keyStringOfBound(range.min) === min && shardKey.keyStringOfBound(range.max) === max ? range : null
  }

  /** Other chunks are checked meanwhile. The split stays if the move fails. */
  #moveTopChunk(ns: string, min: Uint8Array): void {
    const move = this.#requestMove(ns, min)
    this.#moves.add(move)
    this.#host.node.context.detach(move.finally(() => this.#moves.delete(move)))
  }

  async #requestMove(ns: string, min: Uint8Array): Promise<void> {
    const { context, stopping } = this.#host.node
    try {
      raiseError(
        (await context.request(balancerAddress, 'balancer.rebalance-chunk', { ns, min }, { signal: stopping.signal }))
          .error,
      )
    } catch (error) {
      if (!isFailure(error)) throw error
      context.log('info', 'the chunk at the end of the key space was not moved', { ns, reason: error.message })
    }
  }
}

function copyOf(written: WrittenSoFar['written']): Map<string, WrittenBytes> {
  return new Map([...written].map(([ns, bytes]) => [ns, bytes.clone()]))
}

function isFailure(error: unknown): error is Error {
  return error instanceof CommandError || error instanceof StepFailedError || error instanceof RequestFailedError
}

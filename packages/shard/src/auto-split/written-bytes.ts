/** How much has been written to each chunk since it was last looked at. Server: chunk_writes_tracker.h, shard_server_op_observer.cpp. */
import { sameBytes, type RawValue } from '@shardlab/bson'
import type { ChunkEntry, CollectionPlacement, ShardKeyPattern } from '@shardlab/sharding'

/** A chunk is looked at when a fifth of what it may hold has been written to it. */
const looksPerChunk = 5
/** Of that, for the first and the last chunk, where the version does so. */
const atTheEnds = 0.9

/** The collection, under one shard key, whose chunks are written to. */
export interface WrittenCollection {
  readonly ns: string
  readonly uuid: Uint8Array
  readonly shardKey: ShardKeyPattern
  readonly globalMax: string
}

/** What has been written to one chunk: there may be one for each of a million, so it holds on to nothing that is kept for it alone. */
export interface ChunkTally {
  readonly collection: WrittenCollection
  readonly min: string
  readonly max: string
  readonly major: number
  readonly minor: number
  /** The shard key of one document in it; null: that at its lower bound. */
  readonly values: readonly RawValue[] | null
  bytes: number
  /** It is being looked at, or is going to be. */
  isTaken: boolean
}

export class WrittenBytes {
  readonly #collection: WrittenCollection
  readonly #looksEarlierAtTheEnds: boolean
  readonly #byChunk = new Map<string, ChunkTally>()

  constructor(collection: WrittenCollection, looksEarlierAtTheEnds: boolean) {
    this.#collection = collection
    this.#looksEarlierAtTheEnds = looksEarlierAtTheEnds
  }

  /** Chunks of a collection that was made anew, or that has another shard key, have other tallies. */
  isOf({ uuid, shardKey }: CollectionPlacement): boolean {
    const known = this.#collection
    if (!sameBytes(known.uuid, uuid)) return false
    return known.shardKey === shardKey || sameBytes(known.shardKey.document, shardKey.document)
  }

  add({ min, max, major, minor }: ChunkEntry, values: readonly RawValue[] | null, bytes: number): ChunkTally {
    let tally = this.#byChunk.get(min)
    // A chunk with another version begins anew.
    if (tally === undefined || tally.major !== major || tally.minor !== minor) {
      tally = { collection: this.#collection, min, max, major, minor, values, bytes: 0, isTaken: false }
      this.#byChunk.set(min, tally)
    }
    tally.bytes += bytes
    return tally
  }

  clone(): WrittenBytes {
    const copy = new WrittenBytes(this.#collection, this.#looksEarlierAtTheEnds)
    for (const [min, tally] of this.#byChunk) copy.#byChunk.set(min, { ...tally })
    return copy
  }

  all(): IterableIterator<ChunkTally> {
    return this.#byChunk.values()
  }

  /** Is the chunk to be looked at? If so, it is taken. */
  take(tally: ChunkTally, maxChunkSizeBytes: number): boolean {
    if (tally.isTaken) return false
    const { shardKey, globalMax } = this.#collection
    const isAtAnEnd = tally.max === globalMax || tally.min === shardKey.globalMinKeyString
    const full = this.#looksEarlierAtTheEnds && isAtAnEnd ? Math.trunc(maxChunkSizeBytes * atTheEnds) : maxChunkSizeBytes
    if (tally.bytes < Math.trunc(full / looksPerChunk)) return false
    tally.isTaken = true
    return true
  }
}

/** What was written before the look does not count any more; what came in meanwhile does. */
export function looked(tally: ChunkTally, bytesBefore: number): void {
  tally.bytes -= bytesBefore
  tally.isTaken = false
}

/** How much has been written to each chunk since it was last looked at. Server: chunk_writes_tracker.h, shard_server_op_observer.cpp. */
import type { ChunkEntry, CollectionPlacement, ExtractedKey } from '@shardlab/sharding'

/** A chunk is looked at when a fifth of what it may hold has been written to it. */
const looksPerChunk = 5
/** Of that, for the first and the last chunk, where the version does so. */
const atTheEnds = 0.9

/** What has been written to one chunk. */
export interface ChunkTally {
  readonly placement: CollectionPlacement
  readonly chunk: ChunkEntry
  /** Of one document in it. */
  readonly key: ExtractedKey
  bytes: number
  /** It is being looked at, or is going to be. */
  isTaken: boolean
}

export class WrittenBytes {
  readonly #looksEarlierAtTheEnds: boolean
  readonly #byChunk = new Map<string, ChunkTally>()

  constructor(looksEarlierAtTheEnds: boolean) {
    this.#looksEarlierAtTheEnds = looksEarlierAtTheEnds
  }

  add(placement: CollectionPlacement, chunk: ChunkEntry, key: ExtractedKey, bytes: number): ChunkTally {
    let tally = this.#byChunk.get(chunk.min)
    // A chunk with another version begins anew.
    if (tally === undefined || tally.chunk.major !== chunk.major || tally.chunk.minor !== chunk.minor) {
      tally = { placement, chunk, key, bytes: 0, isTaken: false }
      this.#byChunk.set(chunk.min, tally)
    }
    tally.bytes += bytes
    return tally
  }

  clone(): WrittenBytes {
    const copy = new WrittenBytes(this.#looksEarlierAtTheEnds)
    for (const [min, tally] of this.#byChunk) copy.#byChunk.set(min, { ...tally })
    return copy
  }

  all(): IterableIterator<ChunkTally> {
    return this.#byChunk.values()
  }

  /** Is the chunk to be looked at? If so, it is taken. */
  take(tally: ChunkTally, maxChunkSizeBytes: number): boolean {
    if (tally.isTaken) return false
    const { placement, chunk } = tally
    const isAtAnEnd = chunk.max === placement.table.globalMax || chunk.min === placement.shardKey.globalMinKeyString
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

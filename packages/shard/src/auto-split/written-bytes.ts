/**
 * Bytes written to each chunk since its last check.
 * Server: chunk_writes_tracker.h, shard_server_op_observer.cpp.
 */
import { sameBytes } from '@shardlab/bson'
import type { ChunkEntry, CollectionPlacement, ShardKeyPattern } from '@shardlab/sharding'

/** A chunk is checked when a fifth of its maximum size has been written to it. */
const checksPerChunk = 5
/** For the first and the last chunk, in versions that check them earlier. */
const outerChunkShare = 0.9
const initialCapacity = 16

export interface WrittenCollection {
  readonly ns: string
  readonly uuid: Uint8Array
  readonly shardKey: ShardKeyPattern
  readonly globalMax: string
}

/** A chunk whose check is queued or running. */
export interface SplitCheck {
  readonly written: WrittenBytes
  readonly place: number
  readonly min: string
  readonly max: string
}

/** There may be a million chunks: the values of each are in arrays, indexed by its place. */
export class WrittenBytes {
  readonly collection: WrittenCollection
  readonly #checksOuterChunksEarlier: boolean
  /** Keys are lower bounds. */
  #places = new Map<string, number>()
  #maxes: string[] = []
  #majors = new Uint32Array(initialCapacity)
  #minors = new Uint32Array(initialCapacity)
  #bytes = new Float64Array(initialCapacity)
  /** Claimed chunks, by place. */
  #checks = new Map<number, SplitCheck>()

  constructor(collection: WrittenCollection, checksOuterChunksEarlier: boolean) {
    this.collection = collection
    this.#checksOuterChunksEarlier = checksOuterChunksEarlier
  }

  /** False: another collection or shard key, which is counted separately. */
  isOf({ uuid, shardKey }: CollectionPlacement): boolean {
    const known = this.collection
    if (known.uuid !== uuid && !sameBytes(known.uuid, uuid)) return false
    return known.shardKey === shardKey || sameBytes(known.shardKey.document, shardKey.document)
  }

  add({ min, max, major, minor }: ChunkEntry, bytes: number): number {
    let place = this.#places.get(min)
    if (place === undefined) {
      place = this.#places.size
      this.#places.set(min, place)
      if (place === this.#bytes.length) this.#grow()
      this.#begin(place, max, major, minor)
    } else if (this.#majors[place] !== major || this.#minors[place] !== minor) this.#begin(place, max, major, minor)
    this.#bytes[place]! += bytes
    return place
  }

  clone(): WrittenBytes {
    const copy = new WrittenBytes(this.collection, this.#checksOuterChunksEarlier)
    copy.#places = new Map(this.#places)
    copy.#maxes = this.#maxes.slice()
    copy.#majors = this.#majors.slice()
    copy.#minors = this.#minors.slice()
    copy.#bytes = this.#bytes.slice()
    copy.#checks = new Map(this.#checks)
    return copy
  }

  /** In the order of the chunks' first writes. */
  all(): IterableIterator<[min: string, place: number]> {
    return this.#places.entries()
  }

  /** null: the chunk is not full enough, or is already claimed. */
  claim(min: string, place: number, maxChunkSizeBytes: number): SplitCheck | null {
    if (this.#checks.has(place)) return null
    const { shardKey, globalMax } = this.collection
    const max = this.#maxes[place]!
    const isOuter = max === globalMax || min === shardKey.globalMinKeyString
    const full =
      this.#checksOuterChunksEarlier && isOuter ? Math.trunc(maxChunkSizeBytes * outerChunkShare) : maxChunkSizeBytes
    if (this.#bytes[place]! < Math.trunc(full / checksPerChunk)) return null
    const check = { written: this, place, min, max }
    this.#checks.set(place, check)
    return check
  }

  bytesOf(check: SplitCheck): number {
    return this.#isClaimed(check) ? this.#bytes[check.place]! : 0
  }

  /** Keeps the bytes written since the check began: they count towards the next one. */
  release(check: SplitCheck, bytesBefore: number): void {
    if (!this.#isClaimed(check)) return
    this.#checks.delete(check.place)
    this.#bytes[check.place]! -= bytesBefore
  }

  /** False: the chunk has a newer version than the check. */
  #isClaimed(check: SplitCheck): boolean {
    return this.#checks.get(check.place) === check
  }

  #begin(place: number, max: string, major: number, minor: number): void {
    this.#maxes[place] = max
    this.#majors[place] = major
    this.#minors[place] = minor
    this.#bytes[place] = 0
    if (this.#checks.size > 0) this.#checks.delete(place)
  }

  #grow(): void {
    const room = 2 * this.#bytes.length
    this.#majors = resized(this.#majors, new Uint32Array(room))
    this.#minors = resized(this.#minors, new Uint32Array(room))
    this.#bytes = resized(this.#bytes, new Float64Array(room))
  }
}

function resized<A extends Uint32Array | Float64Array>(list: A, larger: A): A {
  larger.set(list)
  return larger
}

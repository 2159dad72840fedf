/** How much has been written to each chunk since it was last looked at. Server: chunk_writes_tracker.h, shard_server_op_observer.cpp. */
import { sameBytes } from '@shardlab/bson'
import type { ChunkEntry, CollectionPlacement, ShardKeyPattern } from '@shardlab/sharding'

/** A chunk is looked at when a fifth of what it may hold has been written to it. */
const looksPerChunk = 5
/** Of that, for the first and the last chunk, where the version does so. */
const atTheEnds = 0.9
/** Chunks for which there is room at first. */
const roomAtFirst = 16

/** The collection, under one shard key, whose chunks are written to. */
export interface WrittenCollection {
  readonly ns: string
  readonly uuid: Uint8Array
  readonly shardKey: ShardKeyPattern
  readonly globalMax: string
}

/** A chunk that is being looked at, or is going to be. */
export interface ChunkLook {
  readonly written: WrittenBytes
  readonly place: number
  readonly min: string
  readonly max: string
}

/** There may be a million chunks: what is kept for each of them are numbers, in lists in which it has a place. */
export class WrittenBytes {
  readonly collection: WrittenCollection
  readonly #looksEarlierAtTheEnds: boolean
  /** By lower bound. */
  #places = new Map<string, number>()
  #maxes: string[] = []
  #majors = new Uint32Array(roomAtFirst)
  #minors = new Uint32Array(roomAtFirst)
  #bytes = new Float64Array(roomAtFirst)
  /** By place: chunks that are taken. */
  #looks = new Map<number, ChunkLook>()

  constructor(collection: WrittenCollection, looksEarlierAtTheEnds: boolean) {
    this.collection = collection
    this.#looksEarlierAtTheEnds = looksEarlierAtTheEnds
  }

  /** Chunks of a collection that was made anew, or that has another shard key, are counted apart. */
  isOf({ uuid, shardKey }: CollectionPlacement): boolean {
    const known = this.collection
    if (known.uuid !== uuid && !sameBytes(known.uuid, uuid)) return false
    return known.shardKey === shardKey || sameBytes(known.shardKey.document, shardKey.document)
  }

  /** So much more has been written to the chunk. @returns its place */
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
    const copy = new WrittenBytes(this.collection, this.#looksEarlierAtTheEnds)
    copy.#places = new Map(this.#places)
    copy.#maxes = this.#maxes.slice()
    copy.#majors = this.#majors.slice()
    copy.#minors = this.#minors.slice()
    copy.#bytes = this.#bytes.slice()
    copy.#looks = new Map(this.#looks)
    return copy
  }

  /** Lower bounds and places of all chunks, in the order in which they were first written to. */
  all(): IterableIterator<[min: string, place: number]> {
    return this.#places.entries()
  }

  /** Is the chunk to be looked at? If so, it is taken; null: it is not, or is taken already. */
  take(min: string, place: number, maxChunkSizeBytes: number): ChunkLook | null {
    if (this.#looks.has(place)) return null
    const { shardKey, globalMax } = this.collection
    const max = this.#maxes[place]!
    const isAtAnEnd = max === globalMax || min === shardKey.globalMinKeyString
    const full =
      this.#looksEarlierAtTheEnds && isAtAnEnd ? Math.trunc(maxChunkSizeBytes * atTheEnds) : maxChunkSizeBytes
    if (this.#bytes[place]! < Math.trunc(full / looksPerChunk)) return null
    const look = { written: this, place, min, max }
    this.#looks.set(place, look)
    return look
  }

  /** How much has been written to a chunk that is taken. */
  bytesOf(look: ChunkLook): number {
    return this.#isTaken(look) ? this.#bytes[look.place]! : 0
  }

  /** What was written before the look does not count any more; what came in meanwhile does. */
  looked(look: ChunkLook, bytesBefore: number): void {
    if (!this.#isTaken(look)) return
    this.#looks.delete(look.place)
    this.#bytes[look.place]! -= bytesBefore
  }

  /** False: the chunk has got another version since. */
  #isTaken(look: ChunkLook): boolean {
    return this.#looks.get(look.place) === look
  }

  /** Nothing has been written to this version of the chunk. */
  #begin(place: number, max: string, major: number, minor: number): void {
    this.#maxes[place] = max
    this.#majors[place] = major
    this.#minors[place] = minor
    this.#bytes[place] = 0
    if (this.#looks.size > 0) this.#looks.delete(place)
  }

  #grow(): void {
    const room = 2 * this.#bytes.length
    this.#majors = widened(this.#majors, new Uint32Array(room))
    this.#minors = widened(this.#minors, new Uint32Array(room))
    this.#bytes = widened(this.#bytes, new Float64Array(room))
  }
}

function widened<A extends Uint32Array | Float64Array>(list: A, wider: A): A {
  wider.set(list)
  return wider
}

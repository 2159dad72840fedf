/**
 * Initial chunks are packed for messages: there may be a million, and objects would be larger than
 * the bounds in them.
 */
import { readInt32 } from '@shardlab/bson'

/** The bounds are BSON documents. */
export type ChunkAssignment = readonly [min: Uint8Array, max: Uint8Array, shard: string]

/**
 * Chunks in key order, without gaps. `bounds`: BSON documents one after the other, the lower bound
 * of each chunk, then the upper bound of the last one. `shards`: those that get chunks. `owners`:
 * for each chunk the index in `shards`, as a little-endian uint32.
 */
export type PackedChunks = readonly [bounds: Uint8Array, shards: readonly string[], owners: Uint8Array]

const ownerBytes = 4

export class ChunkPacker {
  #bounds: Uint8Array
  #boundsLength: number
  #owners: Uint8Array = new Uint8Array(16 * ownerBytes)
  #count = 0
  readonly #numbers = new Map<string, number>()

  /** @param min the lower bound of the first chunk */
  constructor(min: Uint8Array) {
    this.#bounds = new Uint8Array(Math.max(256, min.length))
    this.#bounds.set(min)
    this.#boundsLength = min.length
  }

  /** Adds a chunk from the end of the last one. `max` is copied. */
  add(max: Uint8Array, shard: string): this {
    const end = this.#boundsLength + max.length
    if (end > this.#bounds.length) this.#bounds = grown(this.#bounds, end)
    this.#bounds.set(max, this.#boundsLength)
    this.#boundsLength = end
    let number = this.#numbers.get(shard)
    if (number === undefined) this.#numbers.set(shard, (number = this.#numbers.size))
    const at = this.#count++ * ownerBytes
    if (at === this.#owners.length) this.#owners = grown(this.#owners, at + ownerBytes)
    for (let i = 0; i < ownerBytes; i++) this.#owners[at + i] = number >>> (8 * i)
    return this
  }

  finish(): PackedChunks {
    const bounds = this.#bounds.subarray(0, this.#boundsLength)
    return [bounds, [...this.#numbers.keys()], this.#owners.subarray(0, this.#count * ownerBytes)]
  }
}

/** @param chunks without gaps, at least one */
export function packChunks(chunks: readonly ChunkAssignment[]): PackedChunks {
  const packer = new ChunkPacker(chunks[0]![0])
  for (const [, max, shard] of chunks) packer.add(max, shard)
  return packer.finish()
}

export function packedCount([, , owners]: PackedChunks): number {
  return owners.length / ownerBytes
}

/** There is at least one chunk. */
export class PackedChunkCursor {
  readonly #packed: PackedChunks
  /** Holds the bounds. */
  readonly bytes: Uint8Array
  minStart = 0
  /** Also the end of the lower bound. */
  maxStart: number
  maxEnd: number
  #at = 0

  constructor(packed: PackedChunks) {
    this.#packed = packed
    this.bytes = packed[0]
    this.maxStart = this.#endOf(0)
    this.maxEnd = this.#endOf(this.maxStart)
  }

  get shard(): string {
    const [, shards, owners] = this.#packed
    return shards[readInt32(owners, this.#at)]!
  }

  /** @returns false after the last chunk */
  next(): boolean {
    this.#at += ownerBytes
    if (this.#at >= this.#packed[2].length) return false
    this.minStart = this.maxStart
    this.maxStart = this.maxEnd
    this.maxEnd = this.#endOf(this.maxEnd)
    return true
  }

  /** The bounds are views. */
  get chunk(): ChunkAssignment {
    return [
      this.bytes.subarray(this.minStart, this.maxStart),
      this.bytes.subarray(this.maxStart, this.maxEnd),
      this.shard,
    ]
  }

  #endOf(start: number): number {
    return start + readInt32(this.bytes, start)
  }
}

/** The bounds are views. */
export function* unpackChunks(packed: PackedChunks): Generator<ChunkAssignment, void, void> {
  const cursor = new PackedChunkCursor(packed)
  do yield cursor.chunk
  while (cursor.next())
}

function grown(bytes: Uint8Array, length: number): Uint8Array {
  const larger = new Uint8Array(Math.max(2 * bytes.length, length))
  larger.set(bytes)
  return larger
}

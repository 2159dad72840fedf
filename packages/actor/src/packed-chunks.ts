/** The chunks that a collection begins with, for messages: there may be a million, and an object for each of their bounds is more than the bounds. */
import { documentAt, readInt32 } from '@shardlab/bson'

/** One initial chunk: where it begins and ends (BSON documents) and on which shard. */
export type ChunkAssignment = readonly [min: Uint8Array, max: Uint8Array, shard: string]

/**
 * In key order, each beginning where the one before it ends. `bounds`: BSON documents one after the other, the lower bound of each chunk, then the
 * upper bound of the last one; `shards`: those that get chunks; `owners`: for each chunk the number of its shard, in four bytes, the lowest first.
 */
export type PackedChunks = readonly [bounds: Uint8Array, shards: readonly string[], owners: Uint8Array]

const ownerBytes = 4

export class ChunkPacker {
  #bounds: Uint8Array
  #boundsLength: number
  #owners: Uint8Array = new Uint8Array(16 * ownerBytes)
  #count = 0
  readonly #numbers = new Map<string, number>()

  /** @param min where the first chunk begins */
  constructor(min: Uint8Array) {
    this.#bounds = new Uint8Array(Math.max(256, min.length))
    this.#bounds.set(min)
    this.#boundsLength = min.length
  }

  /** One more chunk, from the end of the last one. */
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

/** Views. */
export function* unpackChunks([bounds, shards, owners]: PackedChunks): Generator<ChunkAssignment, void, void> {
  let at = 0
  let min: Uint8Array | null = null
  for (let owner = 0; owner < owners.length; owner += ownerBytes) {
    min ??= documentAt(bounds, 0)
    at += min.length
    const max = documentAt(bounds, at)
    yield [min, max, shards[readInt32(owners, owner)]!]
    min = max
  }
}

function grown(bytes: Uint8Array, length: number): Uint8Array {
  const larger = new Uint8Array(Math.max(2 * bytes.length, length))
  larger.set(bytes)
  return larger
}

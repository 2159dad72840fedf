/**
 * There may be a million cached chunks, so bounds are packed into one buffer and become documents
 * on access.
 */
import { documentAt, readInt32 } from '@shardlab/bson'
import type { ChunkFields } from './chunk-fields.js'
import type { ChunkPlace } from '../policy/distribution.js'

export interface KnownChunk extends ChunkPlace {
  readonly minDocument: Uint8Array
  readonly maxDocument: Uint8Array
  /** Measured by a defragmentation at the chunk's version; null: not measured. */
  readonly estimatedBytes: number | null
}

export type ChunkFacts = Pick<KnownChunk, 'shard' | 'isJumbo' | 'estimatedBytes'>

/** Documents one after another. Written only while the chunks of one reply are parsed. */
interface Bounds {
  bytes: Uint8Array
}

export class PackedChunk implements KnownChunk {
  readonly min: string
  readonly max: string
  readonly #facts: ChunkFacts
  readonly #bounds: Bounds
  /** Offset of the lower bound; the upper bound follows it. */
  readonly #at: number

  constructor(min: string, max: string, facts: ChunkFacts, bounds: Bounds, at: number) {
    this.min = min
    this.max = max
    this.#facts = facts
    this.#bounds = bounds
    this.#at = at
  }

  get shard(): string {
    return this.#facts.shard
  }

  get isJumbo(): boolean {
    return this.#facts.isJumbo
  }

  get estimatedBytes(): number | null {
    return this.#facts.estimatedBytes
  }

  get minDocument(): Uint8Array {
    return documentAt(this.#bounds.bytes, this.#at)
  }

  get maxDocument(): Uint8Array {
    const { bytes } = this.#bounds
    return documentAt(bytes, this.#at + readInt32(bytes, this.#at))
  }

  /** The same bounds with other facts; `this` if they are equal. */
  with(facts: ChunkFacts): PackedChunk {
    const { shard, isJumbo, estimatedBytes } = this.#facts
    const isSame = facts.shard === shard && facts.isJumbo === isJumbo && facts.estimatedBytes === estimatedBytes
    return isSame ? this : new PackedChunk(this.min, this.max, facts, this.#bounds, this.#at)
  }
}

/** Packs the bounds of one reply. Neighbours share their bound. */
export class BoundsWriter {
  readonly #bounds: Bounds
  #length = 0
  #lastAt = 0

  constructor(count: number) {
    this.#bounds = { bytes: new Uint8Array(32 * count + 32) }
  }

  /** @param continues whether the chunk starts where the last written one ends */
  chunk(
    min: string,
    max: string,
    facts: ChunkFacts,
    { bytes, minAt, maxAt }: ChunkFields,
    continues: boolean,
  ): PackedChunk {
    const at = continues ? this.#lastAt : this.#add(bytes, minAt)
    this.#lastAt = this.#add(bytes, maxAt)
    return new PackedChunk(min, max, facts, this.#bounds, at)
  }

  finish(): void {
    this.#bounds.bytes = this.#bounds.bytes.slice(0, this.#length)
  }

  #add(source: Uint8Array, start: number): number {
    const at = this.#length
    const length = readInt32(source, start)
    if (at + length > this.#bounds.bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.#bounds.bytes.length, at + length))
      larger.set(this.#bounds.bytes)
      this.#bounds.bytes = larger
    }
    const { bytes } = this.#bounds
    for (let i = 0; i < length; i++) bytes[at + i] = source[start + i]!
    this.#length = at + length
    return at
  }
}

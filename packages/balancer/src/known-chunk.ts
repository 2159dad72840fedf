/** A chunk as the balancer remembers it: there may be a million, so their bounds lie together, and become documents when somebody asks. */
import { documentAt, sameBytes } from '@shardlab/bson'
import type { ChunkPlace } from './policy/distribution.js'

/** A chunk with its bounds as config.chunks has them. */
export interface KnownChunk extends ChunkPlace {
  readonly minDocument: Uint8Array
  readonly maxDocument: Uint8Array
  /** What a defragmentation has found in it; null: nothing. As it was when the chunk got its version. */
  readonly estimatedBytes: number | null
}

type Facts = Pick<KnownChunk, 'shard' | 'isJumbo' | 'estimatedBytes'>

/** Documents one after the other; written to only while the chunks of one answer are made. */
interface Bounds {
  bytes: Uint8Array
}

export class PackedChunk implements KnownChunk {
  readonly min: string
  readonly max: string
  readonly shard: string
  readonly isJumbo: boolean
  readonly estimatedBytes: number | null
  readonly #bounds: Bounds
  readonly #minAt: number
  readonly #maxAt: number

  constructor(facts: Facts & Pick<ChunkPlace, 'min' | 'max'>, bounds: Bounds, minAt: number, maxAt: number) {
    this.min = facts.min
    this.max = facts.max
    this.shard = facts.shard
    this.isJumbo = facts.isJumbo
    this.estimatedBytes = facts.estimatedBytes
    this.#bounds = bounds
    this.#minAt = minAt
    this.#maxAt = maxAt
  }

  get minDocument(): Uint8Array {
    return documentAt(this.#bounds.bytes, this.#minAt)
  }

  get maxDocument(): Uint8Array {
    return documentAt(this.#bounds.bytes, this.#maxAt)
  }

  /** The same bounds, and other facts. */
  with({ shard = this.shard, isJumbo = this.isJumbo, estimatedBytes = this.estimatedBytes }: Partial<Facts>): PackedChunk {
    return new PackedChunk({ min: this.min, max: this.max, shard, isJumbo, estimatedBytes }, this.#bounds, this.#minAt, this.#maxAt)
  }

  /** Is this its lower bound? */
  beginsWith(bound: Uint8Array): boolean {
    return sameBytes(this.minDocument, bound)
  }

  /** Where its lower bound lies in these bytes; -1: it does not. */
  beginsIn(bounds: Bounds): number {
    return bounds === this.#bounds ? this.#minAt : -1
  }
}

/** The bounds of the chunks of one answer, each of them once. */
export class BoundsWriter {
  readonly #bounds: Bounds = { bytes: new Uint8Array(64) }
  #length = 0

  /** @param next the chunk behind it, if one begins with its upper bound */
  chunk(
    facts: ConstructorParameters<typeof PackedChunk>[0],
    { min, max }: { readonly min: Uint8Array; readonly max: Uint8Array },
    next: PackedChunk | null,
  ): PackedChunk {
    const shared = next === null ? -1 : next.beginsIn(this.#bounds)
    const maxAt = shared < 0 ? this.#add(max) : shared
    return new PackedChunk(facts, this.#bounds, this.#add(min), maxAt)
  }

  /** No more than what is needed is kept. */
  finish(): void {
    this.#bounds.bytes = this.#bounds.bytes.slice(0, this.#length)
  }

  #add(document: Uint8Array): number {
    const start = this.#length
    const end = start + document.length
    if (end > this.#bounds.bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.#bounds.bytes.length, end))
      larger.set(this.#bounds.bytes)
      this.#bounds.bytes = larger
    }
    this.#bounds.bytes.set(document, start)
    this.#length = end
    return start
  }
}

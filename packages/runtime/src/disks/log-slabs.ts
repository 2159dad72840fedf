/** The memory of logs: slabs that an emptied log releases are reused by others. */
import { unzeroed } from '@shardlab/actor'

/** A pool of slabs of one size. */
export class LogSlabs {
  readonly bytes: number
  readonly #spareMax: number
  readonly #spare: Uint8Array[] = []

  /** @param spareBytesMax how much unused memory the pool keeps */
  constructor(bytes: number, spareBytesMax: number) {
    this.bytes = bytes
    this.#spareMax = spareBytesMax / bytes
  }

  /** A slab that is not zeroed. */
  take(): Uint8Array {
    return this.#spare.pop() ?? unzeroed(this.bytes)
  }

  /** Returns a slab, which must not be read any longer. */
  give(slab: Uint8Array): void {
    if (this.#spare.length < this.#spareMax) this.#spare.push(slab)
  }
}

/**
 * For short logs, such as most of the thousand logs of a large cluster: with large slabs the unused
 * ends of their last slabs would be much memory. The pool is large because all shards may empty
 * their logs within a minute.
 */
export const smallSlabs = new LogSlabs(4 * 1024, 64 * 1024 * 1024)

/** For logs so long that the unused end of a slab is a small part of them. */
export const largeSlabs = new LogSlabs(64 * 1024, 16 * 1024 * 1024)

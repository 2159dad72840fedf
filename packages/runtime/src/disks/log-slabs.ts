import { unzeroed } from '@shardlab/actor'

/** Slabs of one size. Those that an emptied log releases are reused by others. */
export class LogSlabs {
  readonly bytes: number
  readonly #spareMax: number
  readonly #spare: Uint8Array[] = []

  constructor(bytes: number, spareBytesMax: number) {
    this.bytes = bytes
    this.#spareMax = spareBytesMax / bytes
  }

  /** Not zeroed. */
  take(): Uint8Array {
    return this.#spare.pop() ?? unzeroed(this.bytes)
  }

  /** The slab must not be read any longer. */
  give(slab: Uint8Array): void {
    if (this.#spare.length < this.#spareMax) this.#spare.push(slab)
  }
}

/**
 * For short logs, as most logs of a large cluster are: the unused ends of large slabs would add up.
 * The pool is large because all shards may empty their logs within a minute.
 */
export const smallSlabs = new LogSlabs(4 * 1024, 64 * 1024 * 1024)

/** For logs so long that the unused end of a slab is a small part. */
export const largeSlabs = new LogSlabs(64 * 1024, 16 * 1024 * 1024)

/** The memory that logs lie in: what one gives back when it is emptied is what another one grows in. */
import { unzeroed } from '@shardlab/actor'

/** Slabs of one size. */
export class LogSlabs {
  readonly bytes: number
  readonly #spareMax: number
  readonly #spare: Uint8Array[] = []

  /** @param spareBytesMax so much is kept of what nobody uses */
  constructor(bytes: number, spareBytesMax: number) {
    this.bytes = bytes
    this.#spareMax = spareBytesMax / bytes
  }

  /** One whose bytes may be anything. */
  take(): Uint8Array {
    return this.#spare.pop() ?? unzeroed(this.bytes)
  }

  /** Nobody may read it any more. */
  give(slab: Uint8Array): void {
    if (this.#spare.length < this.#spareMax) this.#spare.push(slab)
  }
}

/**
 * A large cluster has a thousand logs, of which most are short: what the last slab of each has left would be much. All of them may be emptied
 * within a minute, since all shards do much the same.
 */
export const smallSlabs = new LogSlabs(4 * 1024, 64 * 1024 * 1024)

/** Of logs so long that this is a small part of them. */
export const largeSlabs = new LogSlabs(64 * 1024, 16 * 1024 * 1024)

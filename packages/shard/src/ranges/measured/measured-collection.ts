import type { SizedRange } from '@shardlab/actor'
import type { Size } from '../collection-ranges.js'
import type { Interval } from './position.js'
import type { RangeSizes } from './range-sizes.js'
import { negative, sizeOf } from './sized-range.js'

export class MeasuredCollection {
  readonly uuid: Uint8Array
  readonly sizes: RangeSizes
  readonly #changed: () => void
  readonly #listeners = new Set<(changed: SizedRange) => void>()

  /** @param changed called after each change of the size */
  constructor(uuid: Uint8Array, sizes: RangeSizes, changed: () => void) {
    this.uuid = uuid
    this.sizes = sizes
    this.#changed = changed
  }

  /**
   * Adds documents, or deletes those of ranges with a negative size.
   * @returns the size of all that was added or deleted
   */
  change(ranges: readonly SizedRange[]): Size {
    let [documents, bytes] = [0, 0]
    for (const range of ranges) {
      const changed = range.documents < 0 ? this.#shrink(negative(range)) : this.#grow(range)
      documents += changed.documents
      bytes += changed.bytes
    }
    this.#changed()
    return { documents, bytes }
  }

  take(interval: Interval): SizedRange[] {
    const taken = this.sizes.take(interval)
    this.#changed()
    return taken
  }

  /** @param listener gets ranges with a negative size for deleted documents */
  onChange(listener: (changed: SizedRange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #grow(range: SizedRange): SizedRange {
    this.sizes.grow(range)
    for (const listener of this.#listeners) listener(range)
    return range
  }

  #shrink(range: SizedRange): Size {
    const deleted = this.sizes.shrink(range)
    for (const each of deleted) for (const listener of this.#listeners) listener(negative(each))
    return sizeOf(deleted)
  }
}

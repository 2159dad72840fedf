import type { SizedRange } from '@shardlab/actor'
import type { Interval, RangeSizes } from './range-sizes.js'

export class MeasuredCollection {
  readonly uuid: Uint8Array
  readonly sizes: RangeSizes
  readonly #changed: () => void
  readonly #listeners = new Set<(grown: SizedRange) => void>()

  /** @param changed called after each change of the size */
  constructor(uuid: Uint8Array, sizes: RangeSizes, changed: () => void) {
    this.uuid = uuid
    this.sizes = sizes
    this.#changed = changed
  }

  grow(ranges: readonly SizedRange[]): void {
    for (const grown of ranges) {
      this.sizes.grow(grown)
      for (const listener of this.#listeners) listener(grown)
    }
    this.#changed()
  }

  take(interval: Interval): SizedRange[] {
    const taken = this.sizes.take(interval)
    this.#changed()
    return taken
  }

  onGrowth(listener: (grown: SizedRange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

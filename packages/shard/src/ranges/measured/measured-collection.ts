import type { SizedRange } from '@shardlab/actor'
import type { RangeSizes } from './range-sizes.js'

export class MeasuredCollection {
  readonly uuid: Uint8Array
  readonly sizes: RangeSizes
  readonly #listeners = new Set<(grown: SizedRange) => void>()

  constructor(uuid: Uint8Array, sizes: RangeSizes) {
    this.uuid = uuid
    this.sizes = sizes
  }

  grow(grown: SizedRange): void {
    this.sizes.grow(grown)
    for (const listener of this.#listeners) listener(grown)
  }

  onGrowth(listener: (grown: SizedRange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

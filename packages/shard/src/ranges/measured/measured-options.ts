import type { Address, RekeyedRanges, SizedRange } from '@shardlab/actor'
import { RangeSizes } from './range-sizes.js'

/** Like disks, the sizes outlive the shards. All members of a set have the same. */
export class MeasuredDisks {
  readonly #byShard = new Map<Address, Map<string, RangeSizes>>()

  /** By UUID of the collection. */
  of(shard: Address): Map<string, RangeSizes> {
    let sizes = this.#byShard.get(shard)
    if (sizes === undefined) this.#byShard.set(shard, (sizes = new Map()))
    return sizes
  }
}

export interface MeasuredOptions {
  /** They need not exist yet. */
  readonly namespaces: readonly string[]
  /** Speed of a recipient. */
  readonly cloneBytesPerSecond: number
  readonly disks: MeasuredDisks
  /**
   * The same documents at their positions under the new key. Absent: collections cannot be
   * resharded.
   */
  readonly rekey?: (request: RekeyedRanges) => SizedRange[]
}

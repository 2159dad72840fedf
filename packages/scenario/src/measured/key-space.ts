/** Positions in the key space of a measured collection. */
import { hashValue, toRawValue } from '@shardlab/bson'
import type { Progress } from '../keys/keys.js'
import type { KeyWeight } from '../keys/key-weights.js'

/** As in the shards' `SizedRange`, with its share of the whole. */
export interface Weighted {
  readonly x0: number
  readonly y0: number
  readonly x1: number
  readonly y1: number
  readonly weight: number
}

const none = Number.NEGATIVE_INFINITY
const hashes = { from: -(2 ** 63), to: 2 ** 63 } as const

export class KeySpace {
  readonly #isHashed: boolean
  readonly #isSecondHashed: boolean
  readonly isCompound: boolean
  readonly #hashes = new Map<number, number>()
  /** By position of a value: the highest document number so far. */
  readonly #grownTo = new Map<number, number>()

  constructor(key: Readonly<Record<string, 1 | 'hashed'>>) {
    const [first, second] = Object.values(key)
    this.#isHashed = first === 'hashed'
    this.#isSecondHashed = second === 'hashed'
    this.isCompound = second !== undefined
  }

  get isHashed(): boolean {
    return this.#isHashed
  }

  /**
   * Values listed one by one spread along the second field, which holds document numbers: it may
   * become part of the shard key later.
   */
  ofDocuments(weights: readonly KeyWeight[], { documents }: Progress, count: number): Weighted[] {
    return this.#places(weights, (x) => this.#grownTo.get(x) ?? 0, documents + count)
  }

  noteGrown(x: number, to: number): void {
    this.#grownTo.set(x, to)
  }

  ofOperations(weights: readonly KeyWeight[], { documents }: Progress): Weighted[] {
    return this.#places(weights, () => 0, Math.max(1, documents))
  }

  /**
   * @param from first document number of a value
   * @param to last document number
   */
  #places(weights: readonly KeyWeight[], from: (x: number) => number, to: number): Weighted[] {
    const second = (x: number): Pick<Weighted, 'y0' | 'y1'> =>
      this.#isSecondHashed ? { y0: hashes.from, y1: hashes.to } : { y0: from(x), y1: to }
    const places: Weighted[] = []
    let scattered = 0
    for (const { from: low, to: high, weight } of weights) {
      if (high - low === 1) {
        const x = this.#isHashed ? this.#hashOf(low) : low
        places.push({ x0: x, x1: x, ...second(x), weight })
      } else if (this.#isHashed) scattered += weight
      else places.push({ x0: low, y0: none, x1: high, y1: none, weight })
    }
    if (scattered > 0) places.push({ x0: hashes.from, y0: none, x1: hashes.to, y1: none, weight: scattered })
    return places.sort((a, b) => a.x0 - b.x0)
  }

  #hashOf(value: number): number {
    let hash = this.#hashes.get(value)
    if (hash === undefined) this.#hashes.set(value, (hash = Number(hashValue(toRawValue(value)))))
    return hash
  }
}

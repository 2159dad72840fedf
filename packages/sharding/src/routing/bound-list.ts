/** Ascending lower bounds, for binary searches; the first one is not used. Immutable. */
import { commonKeyLength, keyHead, keyHeadAmong } from '@shardlab/bson'

const withoutHeadsMax = 16

export class BoundList {
  readonly bounds: readonly string[]
  /** Common to all bounds except the first. */
  readonly #prefixLength: number
  /** The head of each bound after that prefix: see `keyHead`. Null: there are few bounds. */
  readonly #heads: Float64Array | null

  private constructor(bounds: readonly string[], prefixLength: number, heads: Float64Array | null) {
    this.bounds = bounds
    this.#prefixLength = prefixLength
    this.#heads = heads
  }

  static of(bounds: readonly string[]): BoundList {
    if (bounds.length <= withoutHeadsMax) return new BoundList(bounds, 0, null)
    const prefixLength = commonKeyLength(bounds[1]!, bounds[bounds.length - 1]!)
    const heads = new Float64Array(bounds.length)
    for (let i = 0; i < bounds.length; i++) heads[i] = keyHead(bounds[i]!, prefixLength)
    return new BoundList(bounds, prefixLength, heads)
  }

  get length(): number {
    return this.bounds.length
  }

  at(i: number): string | undefined {
    return this.bounds[i]
  }

  /** Index of the last bound at or before the key; 0: the key is before all bounds. */
  position(keyString: string): number {
    const { bounds } = this
    const heads = this.#heads
    let low = 0
    let high = bounds.length
    if (heads === null) {
      while (high - low > 1) {
        const middle = (low + high) >>> 1
        if (bounds[middle]! <= keyString) low = middle
        else high = middle
      }
      return low
    }
    const head = this.#headOf(keyString)
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      const other = heads[middle]!
      if (other < head || (other === head && bounds[middle]! <= keyString)) low = middle
      else high = middle
    }
    return low
  }

  /** Takes time proportional to the length of the list. */
  toSpliced(start: number, deleteCount: number, ...others: readonly string[]): BoundList {
    const bounds = this.bounds.toSpliced(start, deleteCount, ...others)
    if (this.#heads === null || bounds.length <= withoutHeadsMax) return BoundList.of(bounds)
    const own = others.map((bound) => this.#headOf(bound))
    const isFirstBound = start === 0 && deleteCount === 0
    if (isFirstBound || own.some((head, i) => start + i > 0 && (head < 0 || head === Infinity)))
      return BoundList.of(bounds)
    const heads = new Float64Array(bounds.length)
    heads.set(this.#heads.subarray(0, start))
    heads.set(own, start)
    heads.set(this.#heads.subarray(start + deleteCount), start + own.length)
    return new BoundList(bounds, this.#prefixLength, heads)
  }

  #headOf(key: string): number {
    return keyHeadAmong(this.bounds[this.bounds.length - 1]!, this.#prefixLength, key)
  }
}

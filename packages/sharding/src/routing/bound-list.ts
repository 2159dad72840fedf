/** Ascending lower bounds in which keys are looked for; the first one bounds nothing. Immutable. */
import { commonKeyLength, keyHead, keyHeadAmong } from '@shardlab/bson'

/** So few are compared as they are. */
const fewMax = 16

export class BoundList {
  readonly bounds: readonly string[]
  /** With so many characters all of them begin alike, but the first one. */
  readonly #shared: number
  /** What each goes on with behind that; null: there are few. */
  readonly #heads: Float64Array | null

  private constructor(bounds: readonly string[], shared: number, heads: Float64Array | null) {
    this.bounds = bounds
    this.#shared = shared
    this.#heads = heads
  }

  static of(bounds: readonly string[]): BoundList {
    if (bounds.length <= fewMax) return new BoundList(bounds, 0, null)
    const shared = commonKeyLength(bounds[1]!, bounds[bounds.length - 1]!)
    const heads = new Float64Array(bounds.length)
    for (let i = 0; i < bounds.length; i++) heads[i] = keyHead(bounds[i]!, shared)
    return new BoundList(bounds, shared, heads)
  }

  get length(): number {
    return this.bounds.length
  }

  /** Undefined behind the last one. */
  at(i: number): string | undefined {
    return this.bounds[i]
  }

  /** Index of the last bound at or before the key; 0 when the key is before all. */
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

  /** With others in the place of some; costs as much as the list is long. */
  toSpliced(start: number, deleteCount: number, ...others: readonly string[]): BoundList {
    const bounds = this.bounds.toSpliced(start, deleteCount, ...others)
    if (this.#heads === null || bounds.length <= fewMax) return BoundList.of(bounds)
    const own = others.map((bound) => this.#headOf(bound))
    const isFirstBound = start === 0 && deleteCount === 0
    if (isFirstBound || own.some((head, i) => start + i > 0 && (head < 0 || head === Infinity)))
      return BoundList.of(bounds)
    const heads = new Float64Array(bounds.length)
    heads.set(this.#heads.subarray(0, start))
    heads.set(own, start)
    heads.set(this.#heads.subarray(start + deleteCount), start + own.length)
    return new BoundList(bounds, this.#shared, heads)
  }

  #headOf(key: string): number {
    return keyHeadAmong(this.bounds[this.bounds.length - 1]!, this.#shared, key)
  }
}

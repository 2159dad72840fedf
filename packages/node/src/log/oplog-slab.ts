import { readUint32 } from '@shardlab/bson'
import { opTimeOf, type OpTime } from '@shardlab/storage'

/** Whole entries, one after the other. Bytes below {@link end} are never written again. */
export class OplogSlab {
  readonly bytes: Uint8Array
  /** Of the first entry. */
  readonly start: number
  end: number
  /** The position of {@link start} in the oplog. */
  readonly position: number
  /** Others may read its bytes even after the oplog has dropped it. */
  isShared = false
  /** Where entries begin, as far as they were needed: found by their lengths, without decoding. */
  readonly #starts: number[] = []
  #startsEnd: number

  constructor(bytes: Uint8Array, start: number, end: number, position: number) {
    this.bytes = bytes
    this.start = start
    this.end = end
    this.position = position
    this.#startsEnd = start
  }

  /** The position after the last entry. */
  get endPosition(): number {
    return this.position + this.end - this.start
  }

  /** Number of entries that begin below the offset `before`. */
  countBefore(before: number): number {
    while (this.#startsEnd < before) {
      this.#starts.push(this.#startsEnd)
      this.#startsEnd += readUint32(this.bytes, this.#startsEnd)
    }
    let [low, high] = [0, this.#starts.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#starts[middle]! < before) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Of the entry with this number, which must be below the result of {@link countBefore}. */
  startOf(index: number): number {
    return this.#starts[index]!
  }

  optimeAt(index: number): OpTime {
    return opTimeOf(this.bytes, this.startOf(index))
  }
}

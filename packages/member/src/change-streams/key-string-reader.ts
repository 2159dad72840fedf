/**
 * Reads the server's KeyString of a resume token. Server: `KeyString::toBsonSafe` in
 * key_string.cpp.
 */
import { CommandError } from '@shardlab/bson'

const zero = 41
const positive1Byte = 43
const positive8Bytes = 50
const negative8Bytes = 32
const endOfKey = 4

export class KeyStringReader {
  readonly bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** Whether values follow. */
  get hasMore(): boolean {
    return this.at < this.bytes.length && this.bytes[this.at] !== endOfKey
  }

  /** The first byte of the next value. */
  peek(): number {
    return this.bytes[this.at] ?? endOfKey
  }

  timestamp(): readonly [seconds: number, increment: number] {
    const from = this.at + 1
    this.#require(from + 8)
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + from, 8)
    this.at = from + 8
    return [view.getUint32(0), view.getUint32(4)]
  }

  get isInteger(): boolean {
    return this.peek() === zero || (this.peek() >= negative8Bytes && this.peek() <= positive8Bytes)
  }

  /** Negative ones are -1: they have no meaning in a resume token. */
  integer(): number {
    const kind = this.peek()
    const from = this.at
    this.skip()
    if (kind === zero) return 0
    if (kind < positive1Byte) return -1
    let shifted = 0
    for (let at = from + 1; at < this.at; at++) shifted = shifted * 256 + this.bytes[at]!
    return Math.floor(shifted / 2)
  }

  /** @throws CommandError 50810 for bytes that are no value */
  skip(): void {
    const kind = this.peek()
    const from = this.at + 1
    if (kind === 10 || kind === 15 || kind === 20 || kind === 240 || kind === 110 || kind === 111) this.#to(from)
    else if (kind === 30 || kind === zero) this.#to(from)
    else if (kind === 31 || kind === 51 || kind === 40 || kind === 42) this.#to(from + 8)
    else if (kind >= negative8Bytes && kind < 40) this.#to(from + 40 - kind)
    else if (kind >= positive1Byte && kind <= positive8Bytes) this.#to(from + kind - 42)
    else if (kind === 60 || kind === 160) this.#to(this.#endOfText(from))
    else if (kind === 70) {
      this.at = from
      this.#skipFields()
    } else if (kind === 80) {
      this.at = from
      while (this.peek() !== 0) this.skip()
      this.at++
    } else if (kind === 90) this.#to(this.#endOfBinary(from))
    else if (kind === 100) this.#to(from + 12)
    else if (kind === 120 || kind === 130) this.#to(from + 8)
    else if (kind === 140) this.#to(this.#endOfName(this.#endOfName(from)))
    else if (kind === 150) this.#to(from + 4 + this.#uint32(from) + 12)
    else if (kind === 170) {
      this.at = this.#endOfText(from)
      this.#skipFields()
    } else throw malformed()
  }

  #skipFields(): void {
    while (this.peek() !== 0) {
      this.at = this.#endOfName(this.at + 1)
      this.skip()
    }
    this.at++
  }

  #endOfName(from: number): number {
    const end = this.bytes.indexOf(0, from)
    if (end < 0) throw malformed()
    return end + 1
  }

  /** A zero byte within it is `00 FF`. */
  #endOfText(from: number): number {
    let end = this.#endOfName(from)
    while (this.bytes[end] === 0xff) end = this.#endOfName(end)
    return end
  }

  #endOfBinary(from: number): number {
    const length = this.bytes[from] ?? 0
    return length === 0xff ? from + 5 + this.#uint32(from + 1) + 1 : from + 1 + length + 1
  }

  #uint32(at: number): number {
    this.#require(at + 4)
    return new DataView(this.bytes.buffer, this.bytes.byteOffset + at, 4).getUint32(0)
  }

  #to(end: number): void {
    this.#require(end)
    this.at = end
  }

  #require(end: number): void {
    if (end > this.bytes.length) throw malformed()
  }
}

function malformed(): CommandError {
  return new CommandError(50810, 'KeyString format error: Unknown type')
}

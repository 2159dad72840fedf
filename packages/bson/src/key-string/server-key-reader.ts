/**
 * Reads what {@link ServerKeyString} has written, as far as resume tokens need it. Server:
 * `KeyString::toBsonSafe` in key_string.cpp.
 */
import { CommandError } from '../errors/command-error.js'
import { BsonType } from '../values/types.js'
import {
  endOfKey,
  firstBytes,
  infinity,
  nan,
  negative8Bytes,
  negativeLarge,
  negativeSmall,
  positive1Byte,
  positive8Bytes,
  positiveLarge,
  positiveSmall,
  zero,
} from './server-key-first-bytes.js'

const typesByFirstByte = new Map(Object.entries(firstBytes).map(([type, byte]) => [byte, Number(type)]))
/** The value of a boolean is in its first byte. */
const trueByte = firstBytes[BsonType.bool]! + 1

export class ServerKeyReader {
  readonly bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** Whether values follow. */
  get hasMore(): boolean {
    return this.at < this.bytes.length && this.bytes[this.at] !== endOfKey
  }

  /** Numbers have one type: `isInteger` says more. */
  isNext(type: number): boolean {
    const first = this.#peek()
    return first === firstBytes[type] || (type === BsonType.bool && first === trueByte)
  }

  bool(): boolean {
    const isTrue = this.#peek() === trueByte
    this.at++
    return isTrue
  }

  timestamp(): readonly [seconds: number, increment: number] {
    const from = this.at + 1
    this.#require(from + 8)
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + from, 8)
    this.at = from + 8
    return [view.getUint32(0), view.getUint32(4)]
  }

  get isInteger(): boolean {
    return this.#peek() === zero || (this.#peek() >= negative8Bytes && this.#peek() <= positive8Bytes)
  }

  /** Negative ones are -1: they have no meaning in a resume token. */
  integer(): number {
    const kind = this.#peek()
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
    const first = this.#peek()
    const from = this.at + 1
    if (first >= nan && first <= positiveLarge) return this.#to(from + this.#lengthOfNumber(first, from))
    if (first === trueByte) return this.#to(from)
    switch (typesByFirstByte.get(first)) {
      case BsonType.minKey:
      case BsonType.maxKey:
      case BsonType.undefined:
      case BsonType.null:
      case BsonType.bool:
        return this.#to(from)
      // A symbol has the first byte of a string.
      case BsonType.string:
      case BsonType.symbol:
      case BsonType.code:
        return this.#to(this.#endOfText(from))
      case BsonType.object:
        this.at = from
        return this.#skipFields()
      case BsonType.array:
        this.at = from
        while (this.#peek() !== 0) this.skip()
        this.at++
        return
      case BsonType.binary:
        return this.#to(this.#endOfBinary(from))
      case BsonType.objectId:
        return this.#to(from + 12)
      case BsonType.date:
      case BsonType.timestamp:
        return this.#to(from + 8)
      case BsonType.regex:
        return this.#to(this.#endOfName(this.#endOfName(from)))
      case BsonType.dbPointer:
        return this.#to(from + 4 + this.#uint32(from) + 12)
      case BsonType.codeWithScope:
        this.at = this.#endOfText(from)
        return this.#skipFields()
      default:
        throw malformed()
    }
  }

  /**
   * Of what follows the first byte: an integer of one to eight bytes or eight bytes of magnitude,
   * the rest of a fraction up to eight bytes, and for many decimals eight bytes more.
   */
  #lengthOfNumber(first: number, from: number): number {
    if (first === nan || first === zero) return 0
    const isNegative = first < zero
    const isMagnitude = [negativeLarge, negativeSmall, positiveSmall, positiveLarge].includes(first)
    const integerBytes = isNegative ? negativeSmall - first : first - positiveSmall
    if (!isMagnitude && (this.#byte(from + integerBytes - 1, isNegative) & 1) === 0) return integerBytes
    const bits = this.#uint64(from, isNegative)
    if (!isMagnitude) return integerBytes === 8 || (bits & 1n) === 1n ? 16 : 8
    const isDecimal =
      first === negativeSmall || first === positiveSmall ? bits >> 62n === 0n : bits >> 63n === 1n && bits !== infinity
    return isDecimal || (bits !== infinity && (bits & 1n) === 1n) ? 16 : 8
  }

  #byte(at: number, isInverted: boolean): number {
    this.#require(at + 1)
    return isInverted ? ~this.bytes[at]! & 0xff : this.bytes[at]!
  }

  #uint64(at: number, isInverted: boolean): bigint {
    this.#require(at + 8)
    const bits = new DataView(this.bytes.buffer, this.bytes.byteOffset + at, 8).getBigUint64(0)
    return isInverted ? BigInt.asUintN(64, ~bits) : bits
  }

  /** The first byte of the next value. */
  #peek(): number {
    return this.bytes[this.at] ?? endOfKey
  }

  #skipFields(): void {
    while (this.#peek() !== 0) {
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

/**
 * The server's KeyString, version 1, ascending. Clients and other programs see it in the resume
 * tokens of change streams; indexes use {@link encodeKeyString}. Server: key_string.cpp.
 */
import { readDouble, readInt32, readInt64, readUint32 } from '../bytes/little-endian.js'
import { FieldIterator, cstringEnd } from '../scan/scan.js'
import { readDecimal128 } from '../values/decimal128.js'
import type { RawValue } from '../values/raw-value.js'
import { BsonType, typeName } from '../values/types.js'
import { continuedDecimal, doubleMarks, type DoubleMark } from './server-key-decimal.js'
import {
  endOfKey,
  firstBytes,
  infinity,
  nan,
  negative1Byte,
  negative8Bytes,
  negativeLarge,
  negativeSmall,
  positive1Byte,
  positive8Bytes,
  positiveLarge,
  positiveSmall,
  zero,
} from './server-key-first-bytes.js'
import { TypeBits } from './type-bits.js'

export class ServerKeyString {
  #bytes = Buffer.allocUnsafe(128)
  #length = 0
  /** What the bytes leave open, such as the types of numbers. */
  readonly typeBits = new TypeBits()

  integer(value: number): this {
    this.typeBits.int32()
    this.#int32(value)
    return this
  }

  /** Without a value of BSON. */
  byte(value: number): this {
    if (this.#length === this.#bytes.length) this.#grow(1)
    this.#bytes[this.#length++] = value
    return this
  }

  append(value: RawValue): this {
    this.#value(value, null)
    return this
  }

  timestamp(seconds: number, increment: number): this {
    this.byte(firstBytes[BsonType.timestamp]!)
    this.#uint32(seconds)
    this.#uint32(increment)
    return this
  }

  bool(value: boolean): this {
    return this.byte(firstBytes[BsonType.bool]! + (value ? 1 : 0))
  }

  null(): this {
    return this.byte(firstBytes[BsonType.null]!)
  }

  uuid(bytes: Uint8Array): this {
    this.byte(firstBytes[BsonType.binary]!).byte(bytes.length).byte(4)
    return this.bytes(bytes)
  }

  bytes(bytes: Uint8Array): this {
    this.#grow(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
    return this
  }

  /** A whole document as an object. */
  document(document: Uint8Array, start = 0): this {
    this.byte(firstBytes[BsonType.object]!)
    return this.#fields(document, start)
  }

  /** Upper-case, with the end of the key. */
  hex(): string {
    this.byte(endOfKey)
    this.#length--
    return this.#bytes.toString('hex', 0, this.#length + 1).toUpperCase()
  }

  #fields(document: Uint8Array, start: number): this {
    for (const it = new FieldIterator(document, start); it.next();) {
      const value = it.value()
      this.byte(firstBytes[value.type]!)
      this.#value(value, it.name())
    }
    return this.byte(0)
  }

  #value(value: RawValue, name: string | null): void {
    if (name !== null) this.bytes(Buffer.from(name, 'utf8')).byte(0)
    const { type, bytes, start } = value
    switch (type) {
      case BsonType.minKey:
      case BsonType.maxKey:
      case BsonType.undefined:
      case BsonType.null:
        this.byte(firstBytes[type]!)
        return
      case BsonType.int32:
        this.typeBits.int32()
        return this.#int32(readInt32(bytes, start))
      case BsonType.int64:
        this.typeBits.int64()
        return this.#integer(readInt64(bytes, start))
      case BsonType.double:
        return this.#double(readDouble(bytes, start))
      case BsonType.decimal128:
        return this.#decimal(value)
      case BsonType.string:
      case BsonType.symbol:
        this.typeBits.string(type === BsonType.symbol)
        this.byte(firstBytes[type]!)
        return this.#text(bytes.subarray(start + 4, value.end - 1))
      case BsonType.code:
        this.byte(firstBytes[type]!)
        return this.#text(bytes.subarray(start + 4, value.end - 1))
      case BsonType.codeWithScope: {
        this.byte(firstBytes[type]!)
        const scopeAt = start + 8 + readUint32(bytes, start + 4)
        this.#text(bytes.subarray(start + 8, scopeAt - 1))
        this.#fields(bytes, scopeAt)
        return
      }
      case BsonType.object:
        this.document(bytes, start)
        return
      case BsonType.array:
        this.byte(firstBytes[type]!)
        for (const it = new FieldIterator(bytes, start); it.next();) this.#value(it.value(), null)
        this.byte(0)
        return
      case BsonType.binary:
        return this.#binary(value)
      case BsonType.objectId:
        this.byte(firstBytes[type]!).bytes(bytes.subarray(start, value.end))
        return
      case BsonType.bool:
        this.bool(value.asBool())
        return
      case BsonType.date:
        this.byte(firstBytes[type]!)
        return this.#uint64(value.asBigInt() ^ (1n << 63n))
      case BsonType.timestamp:
        this.timestamp(readUint32(bytes, start + 4), readUint32(bytes, start))
        return
      case BsonType.regex: {
        const patternEnd = cstringEnd(bytes, start)
        this.byte(firstBytes[type]!).bytes(bytes.subarray(start, patternEnd + 1))
        this.bytes(bytes.subarray(patternEnd + 1, value.end))
        return
      }
      case BsonType.dbPointer: {
        const length = readUint32(bytes, start) - 1
        this.byte(firstBytes[type]!)
        this.#uint32(length)
        this.bytes(bytes.subarray(start + 4, start + 4 + length)).bytes(bytes.subarray(value.end - 12, value.end))
        return
      }
      default:
        throw new TypeError(`a KeyString cannot have a value of type ${typeName(type)}`)
    }
  }

  #binary({ type, bytes, start, end }: RawValue): void {
    const length = readUint32(bytes, start)
    this.byte(firstBytes[type]!)
    if (length < 0xff) this.byte(length)
    else {
      this.byte(0xff)
      this.#uint32(length)
    }
    this.byte(bytes[start + 4]!).bytes(bytes.subarray(start + 5, end))
  }

  /** A zero byte within the text becomes `00 FF`. */
  #text(text: Uint8Array): void {
    let from = 0
    for (let at = text.indexOf(0); at >= 0; at = text.indexOf(0, from)) {
      this.bytes(text.subarray(from, at + 1)).byte(0xff)
      from = at + 1
    }
    this.bytes(text.subarray(from)).byte(0)
  }

  #int32(value: number): void {
    if (value === 0) {
      this.byte(zero)
      return
    }
    // Shifted by the bit which says whether a fraction follows.
    const shifted = 2 * Math.abs(value)
    const lengthBytes = Math.floor(Math.log2(shifted) / 8) + 1
    this.byte(value < 0 ? negative1Byte - (lengthBytes - 1) : positive1Byte + (lengthBytes - 1))
    for (let i = lengthBytes - 1; i >= 0; i--) {
      const byte = Math.floor(shifted / 256 ** i) & 0xff
      this.byte(value < 0 ? ~byte & 0xff : byte)
    }
  }

  #integer(value: bigint): void {
    if (value === 0n) this.byte(zero)
    else if (value === -(1n << 63n)) this.#large(Number(value), doubleMarks.equal)
    else this.#shifted((value < 0n ? -value : value) << 1n, value < 0n)
  }

  /** An integer that was shifted left by the bit which says whether a fraction follows. */
  #shifted(value: bigint, isNegative: boolean): void {
    const lengthBytes = Math.ceil(value.toString(2).length / 8)
    this.byte(isNegative ? negative1Byte - (lengthBytes - 1) : positive1Byte + (lengthBytes - 1))
    for (let i = lengthBytes - 1; i >= 0; i--) {
      const byte = Number((value >> BigInt(8 * i)) & 0xffn)
      this.byte(isNegative ? ~byte & 0xff : byte)
    }
  }

  #double(value: number): void {
    if (Object.is(value, -0)) this.typeBits.negativeZero()
    else this.typeBits.double()
    this.#number(value, doubleMarks.equal)
  }

  #number(value: number, mark: DoubleMark): void {
    const magnitude = Math.abs(value)
    if (Number.isNaN(value)) this.byte(nan)
    else if (value === 0) this.byte(zero)
    else if (magnitude < 1) this.#small(value, mark)
    else if (magnitude >= 2 ** 63) this.#large(value, mark)
    else {
      const integer = BigInt(Math.trunc(magnitude))
      if (Number(integer) === magnitude && mark === doubleMarks.equal) return this.#shifted(integer << 1n, value < 0)
      const fractionBytes = Math.floor((64 - (integer << 1n).toString(2).length) / 8)
      this.byte(value < 0 ? negative8Bytes + fractionBytes : positive8Bytes - fractionBytes)
      // Exact: a power of two.
      const scaled = BigInt(magnitude * 256 ** fractionBytes)
      this.#signed((scaled + ((integer + 1n) << BigInt(8 * fractionBytes))) | BigInt(mark), value < 0)
    }
  }

  #small(value: number, mark: DoubleMark): void {
    const magnitude = Math.abs(value)
    this.byte(value < 0 ? negativeSmall : positiveSmall)
    const encoded =
      magnitude >= 2 ** -255
        ? (bitsOf(magnitude) << 2n) | BigInt(mark)
        : ((bitsOf(magnitude * 2 ** 256) << 1n) | (mark === doubleMarks.equal ? 0n : 1n)) + (1n << 62n)
    this.#signed(encoded, value < 0)
  }

  #large(value: number, mark: DoubleMark): void {
    this.byte(value < 0 ? negativeLarge : positiveLarge)
    // The highest bit of the exponent is always set.
    const bits = BigInt.asUintN(63, bitsOf(Math.abs(value)) << 1n) | (mark === doubleMarks.equal ? 0n : 1n)
    this.#signed(Number.isFinite(value) ? bits : infinity, value < 0)
  }

  #decimal({ bytes, start }: RawValue): void {
    const decimal = readDecimal128(bytes, start)
    if (decimal.kind === 'finite' && decimal.coefficient === 0n) {
      this.typeBits.decimalZero(decimal.exponent, decimal.negative)
      this.byte(zero)
      return
    }
    this.typeBits.decimal()
    if (decimal.kind === 'nan') this.byte(nan)
    else if (decimal.kind === 'infinity') this.#large(decimal.negative ? -Infinity : Infinity, doubleMarks.equal)
    else {
      this.typeBits.decimalExponent(decimal.exponent)
      for (const part of continuedDecimal(decimal)) {
        if (part.kind === 'double') this.#number(part.value, part.mark)
        else if (part.kind === 'shifted') this.#shifted(part.value, decimal.negative)
        else if (part.kind === 'byte') this.byte(decimal.negative ? ~part.value & 0xff : part.value)
        else if (part.kind === 'magnitude') this.byte(magnitudeKind(part.size, decimal.negative))
        else this.#signed(part.value, decimal.negative)
      }
    }
  }

  #signed(value: bigint, isNegative: boolean): void {
    this.#uint64(isNegative ? ~value : value)
  }

  #uint64(value: bigint): void {
    this.#grow(8)
    this.#length = this.#bytes.writeBigUInt64BE(BigInt.asUintN(64, value), this.#length)
  }

  #uint32(value: number): void {
    this.#grow(4)
    this.#length = this.#bytes.writeUInt32BE(value, this.#length)
  }

  #grow(lengthBytes: number): void {
    if (this.#length + lengthBytes <= this.#bytes.length) return
    const grown = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + lengthBytes))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}

function magnitudeKind(size: 'small' | 'large', isNegative: boolean): number {
  if (size === 'small') return isNegative ? negativeSmall : positiveSmall
  return isNegative ? negativeLarge : positiveLarge
}

const scratch = new DataView(new ArrayBuffer(8))

function bitsOf(value: number): bigint {
  scratch.setFloat64(0, value)
  return scratch.getBigUint64(0)
}

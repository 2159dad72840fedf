/**
 * Extended JSON as BSON, with the order of its fields: in an object of JavaScript, names that are
 * whole numbers come first. Manual: reference/mongodb-extended-json.
 */
import * as BSON from 'bson'
import { findField } from '../scan/scan.js'
import { RawValue } from '../values/raw-value.js'
import { BsonType } from '../values/types.js'
import { encode } from './codec.js'
import { DocumentWriter } from './writer.js'

/** @throws SyntaxError the text is no JSON object, or has a value that is no extended JSON */
export function parseExtendedJson(text: string): Uint8Array {
  const reader = new Reader(text)
  reader.expect('{')
  const writer = new DocumentWriter(text.length)
  reader.fieldsInto(writer)
  reader.expectEnd()
  return writer.finish()
}

/** Not `$regex`, which is an operator, too. */
const namesOfValues: ReadonlySet<string> = new Set([
  ...['$oid', '$date', '$numberInt', '$numberLong', '$numberDouble', '$numberDecimal', '$binary', '$uuid'],
  ...['$timestamp', '$regularExpression', '$code', '$symbol', '$minKey', '$maxKey', '$undefined', '$dbPointer'],
])
const startOfName = /\s*"(\$\w+)"/y
const string = /"(?:[^"\\]|\\.)*"/y
const scalar = /-?\d[\d.eE+-]*|true|false|null/y
const space = /\s*/y

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  expect(token: string): void {
    if (!this.#skip(token)) throw this.#error(`${token} is missing`)
  }

  expectEnd(): void {
    this.#match(space)
    if (this.#at < this.#text.length) throw this.#error('there is more text')
  }

  /** After `{`. */
  fieldsInto(writer: DocumentWriter): void {
    if (this.#skip('}')) return
    do {
      const name = this.#name()
      this.#valueInto(writer, name)
    } while (this.#skip(','))
    this.expect('}')
  }

  #valueInto(writer: DocumentWriter, name: string): void {
    const start = this.#skipSpace()
    if (this.#skip('[')) {
      writer.startArray(name)
      for (let i = 0; !this.#skip(']'); i++) {
        if (i > 0) this.expect(',')
        this.#valueInto(writer, String(i))
      }
      writer.end()
      return
    }
    if (!this.#skip('{')) {
      const found = this.#match(string) ?? this.#match(scalar)
      if (found === null) throw this.#error('a value is missing')
      try {
        writer.value(name, valueOf(found))
      } catch (error) {
        throw this.#error((error as Error).message)
      }
      return
    }
    const known = this.#isValue() ? this.#known(start) : null
    if (known !== null) writer.value(name, known)
    else {
      writer.startDocument(name)
      this.fieldsInto(writer)
      writer.end()
    }
  }

  /** After `{`. Other names with a dollar sign are operators. */
  #isValue(): boolean {
    startOfName.lastIndex = this.#at
    const name = startOfName.exec(this.#text)?.[1]
    return name !== undefined && namesOfValues.has(name)
  }

  /** The value that the object at `start` stands for. Null: it is a document with such names. */
  #known(start: number): RawValue | null {
    const inside = this.#at
    this.fieldsInto(new DocumentWriter(128))
    const text = this.#text.slice(start, this.#at)
    let value: RawValue | null
    try {
      value = parsed(text)
    } catch (error) {
      throw this.#error((error as Error).message)
    }
    if (value === null) this.#at = inside
    return value
  }

  #name(): string {
    this.#skipSpace()
    const found = this.#match(string)
    if (found === null) throw this.#error('a name is missing')
    this.expect(':')
    return JSON.parse(found) as string
  }

  #skip(token: string): boolean {
    this.#skipSpace()
    if (!this.#text.startsWith(token, this.#at)) return false
    this.#at += token.length
    return true
  }

  #skipSpace(): number {
    this.#match(space)
    return this.#at
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found === null) return null
    this.#at += found[0].length
    return found[0]
  }

  #error(problem: string): SyntaxError {
    return new SyntaxError(`${problem} at character ${this.#at + 1}`)
  }
}

const integer = /^-?\d+$/
const isLargeInteger = (text: string): boolean => integer.test(text) && !Number.isSafeInteger(Number(text))
const libraryValueOf = (text: string): unknown => BSON.EJSON.parse(text, { relaxed: false }) as unknown

/** The library would change its digits, and make the nearest int64 of one that is too large. */
function integerOf(text: string): BSON.Long | BSON.Double {
  const whole = BigInt(text)
  return whole === BigInt.asIntN(64, whole) ? BSON.Long.fromBigInt(whole) : new BSON.Double(Number(text))
}

function valueOf(text: string): RawValue {
  return findField(encode({ value: isLargeInteger(text) ? integerOf(text) : libraryValueOf(text) }), 'value')!
}

const dateInMs = /^\{\s*"\$date"\s*:\s*\{\s*"\$numberLong"\s*:\s*"(-?\d+)"\s*\}\s*\}$/

/** Its bytes begin with their length. */
const oldBinarySubtype = 2
const binary =
  /^\{\s*"\$binary"\s*:\s*\{\s*"base64"\s*:\s*"([^"]*)"\s*,\s*"subType"\s*:\s*"([0-9a-fA-F]{1,2})"\s*\}\s*\}$/

/** Null: a document. */
function parsed(text: string): RawValue | null {
  const ms = dateInMs.exec(text)?.[1]
  // A Date of JavaScript does not have all of them.
  if (ms !== undefined) {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(ms))
    return new RawValue(BsonType.date, bytes, 0, 8)
  }
  const [, base64, subtype] = binary.exec(text) ?? []
  // The library makes UUIDs of some, and refuses others.
  if (base64 !== undefined) {
    const type = Number.parseInt(subtype!, 16)
    const bytes = Buffer.from(base64, 'base64')
    const length = Buffer.alloc(4)
    length.writeInt32LE(bytes.length)
    const content = type === oldBinarySubtype ? Buffer.concat([length, bytes]) : bytes
    const document = new DocumentWriter(64).binary('value', type, content)
    return findField(document.finish(), 'value')!
  }
  const value = BSON.EJSON.parse(text, { relaxed: false }) as unknown
  const isDocument = value !== null && Object.getPrototypeOf(value) === Object.prototype
  return isDocument ? null : findField(encode({ value }), 'value')!
}

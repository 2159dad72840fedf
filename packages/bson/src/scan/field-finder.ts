/**
 * Finds several top-level fields in one pass.
 *
 * Documents of a collection mostly have the same layout. If the types, names and lengths up to the
 * last wanted field are the bytes that the previous document had there, the values are at the same
 * offsets. Comparing those bytes is cheaper than walking the document.
 */
import { RawValue } from '../values/raw-value.js'
import { readInt32 } from '../bytes/little-endian.js'
import { FieldIterator } from './scan.js'
import { BsonType } from '../values/types.js'

/** Longer layouts are not memoized: few documents would share one. */
const layoutBytesMax = 256
const noBytes = new Uint8Array(0)

export class FieldFinder {
  readonly #names: readonly Uint8Array[]
  readonly #starts: number[]
  readonly #ends: number[]
  readonly #types: number[]
  #missing: number
  /** All offsets are relative to `#start`. */
  #bytes: Uint8Array = noBytes
  #start = 0
  /** Offsets of the bytes that determine the memoized layout, and their values. */
  readonly #places: number[] = []
  readonly #layout: number[] = []
  /** How many layout bytes to compare. 0: no layout is memoized. */
  #layoutBytes = 0
  #lengthBytes = 0

  constructor(names: readonly string[]) {
    this.#names = names.map((name) => Buffer.from(name))
    this.#starts = names.map(() => -1)
    this.#ends = names.map(() => -1)
    this.#types = names.map(() => -1)
    this.#missing = names.length
  }

  /**
   * Of repeated names the first counts. The methods below describe this document until the next
   * call and return -1 for a missing field.
   * @returns the number of missing fields
   */
  locate(bytes: Uint8Array, start = 0): number {
    this.#bytes = bytes
    this.#start = start
    if (!this.#hasMemoizedLayout(bytes, start)) this.#walk(bytes, start)
    return this.#missing
  }

  startOf(field: number): number {
    const start = this.#starts[field]!
    return start < 0 ? -1 : this.#start + start
  }

  endOf(field: number): number {
    const end = this.#ends[field]!
    return end < 0 ? -1 : this.#start + end
  }

  typeOf(field: number): number {
    return this.#types[field]!
  }

  valueOf(field: number): RawValue | undefined {
    const start = this.#starts[field]!
    return start < 0
      ? undefined
      : new RawValue(this.#types[field]!, this.#bytes, this.#start + start, this.#start + this.#ends[field]!)
  }

  /**
   * @param found receives the value of each field, `undefined` if missing
   * @returns as {@link locate}
   */
  find(bytes: Uint8Array, start: number, found: (RawValue | undefined)[]): number {
    const missing = this.locate(bytes, start)
    for (let i = 0; i < this.#names.length; i++) found[i] = this.valueOf(i)
    return missing
  }

  /** Drops the reference to the document, which may be a view of a large buffer. */
  release(): void {
    this.#bytes = noBytes
  }

  #hasMemoizedLayout(bytes: Uint8Array, start: number): boolean {
    const places = this.#places
    const layout = this.#layout
    const count = this.#layoutBytes
    for (let i = 0; i < count; i++) if (bytes[start + places[i]!] !== layout[i]) return false
    return count > 0
  }

  #walk(bytes: Uint8Array, start: number): void {
    const names = this.#names
    const lengthBytes = readInt32(bytes, start)
    // A new length means a new layout: skip memoizing it.
    const isMemoized = lengthBytes === this.#lengthBytes
    this.#lengthBytes = lengthBytes
    this.#layout.length = this.#places.length = this.#layoutBytes = 0
    this.#starts.fill(-1)
    this.#ends.fill(-1)
    this.#types.fill(-1)
    let missing = names.length
    const it = new FieldIterator(bytes, start)
    for (let at = it.valueEnd; missing > 0; at = it.valueEnd) {
      const isField = it.next()
      if (isMemoized) this.#memoize(at, isField ? it.valueStart + determiningBytes(it) : at + 1)
      if (!isField) break
      const length = it.valueStart - 1 - it.nameStart
      for (let i = 0; i < names.length; i++) {
        if (names[i]!.length !== length || this.#starts[i]! >= 0 || !isAt(names[i]!, bytes, it.nameStart)) continue
        this.#starts[i] = it.valueStart - start
        this.#ends[i] = it.valueEnd - start
        this.#types[i] = it.type
        missing--
      }
    }
    this.#missing = missing
    if (this.#layout.length <= layoutBytesMax) this.#layoutBytes = this.#layout.length
  }

  #memoize(from: number, to: number): void {
    for (let at = from; at < to && this.#layout.length <= layoutBytesMax; at++) {
      this.#places.push(at - this.#start)
      this.#layout.push(this.#bytes[at] ?? -1)
    }
  }
}

/** How many leading bytes of the value determine where the next field begins. */
function determiningBytes({ type, valueStart, valueEnd }: FieldIterator): number {
  switch (type) {
    case BsonType.string:
    case BsonType.code:
    case BsonType.symbol:
    case BsonType.object:
    case BsonType.array:
    case BsonType.codeWithScope:
    case BsonType.binary:
    case BsonType.dbPointer:
      return 4
    case BsonType.regex:
      return valueEnd - valueStart
    default:
      return 0
  }
}

function isAt(name: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name[i]) return false
  return true
}

/**
 * Where the values of several top-level fields lie, found in one go through a document.
 *
 * Documents of a collection are mostly laid out alike: of one whose types, names and lengths stand where they stood in another one, up to the last
 * of the fields, the values lie where they lay there. What has to be compared for that is less than what has to be read to find them.
 */
import { RawValue } from './raw-value.js'
import { readInt32 } from './read.js'
import { FieldIterator } from './scan.js'
import { BsonType } from './types.js'

/** A layout of more bytes is not remembered: few documents would have the same one. */
const layoutBytesMax = 256
const noBytes = new Uint8Array(0)

export class FieldFinder {
  readonly #names: readonly Uint8Array[]
  readonly #starts: number[]
  readonly #ends: number[]
  readonly #types: number[]
  #missing: number
  /** The document looked at last, and where it begins: all places are counted from there. */
  #bytes: Uint8Array = noBytes
  #start = 0
  /** Of the document in which the fields were found: where what says how it is laid out stands, and what stands there. */
  readonly #places: number[] = []
  readonly #layout: number[] = []
  /** 0: no document is known to be laid out like this one, of which perhaps not all was read. */
  #layoutBytes = 0
  /** Of the document looked at last. */
  #lengthBytes = 0

  constructor(names: readonly string[]) {
    this.#names = names.map((name) => Buffer.from(name))
    this.#starts = names.map(() => -1)
    this.#ends = names.map(() => -1)
    this.#types = names.map(() => -1)
    this.#missing = names.length
  }

  /**
   * Looks for the fields in the document that begins here; of fields of one name the first counts. The methods below speak of it until the next call.
   * @returns how many are missing
   */
  locate(bytes: Uint8Array, start = 0): number {
    this.#bytes = bytes
    this.#start = start
    if (!this.#isLaidOutAlike(bytes, start)) this.#walk(bytes, start)
    return this.#missing
  }

  /** Where the value of the field with this number begins; -1: there is none. */
  startOf(field: number): number {
    const start = this.#starts[field]!
    return start < 0 ? -1 : this.#start + start
  }

  /** Where it ends; -1: there is none. */
  endOf(field: number): number {
    const end = this.#ends[field]!
    return end < 0 ? -1 : this.#start + end
  }

  /** Its type; -1: there is none. */
  typeOf(field: number): number {
    return this.#types[field]!
  }

  /** Its value, `undefined` where there is none. */
  valueOf(field: number): RawValue | undefined {
    const start = this.#starts[field]!
    return start < 0
      ? undefined
      : new RawValue(this.#types[field]!, this.#bytes, this.#start + start, this.#start + this.#ends[field]!)
  }

  /**
   * @param start where the document begins in the bytes
   * @param found gets the value of each field, `undefined` where there is none
   * @returns as {@link locate}
   */
  find(bytes: Uint8Array, start: number, found: (RawValue | undefined)[]): number {
    const missing = this.locate(bytes, start)
    for (let i = 0; i < this.#names.length; i++) found[i] = this.valueOf(i)
    return missing
  }

  /** Lets go of the document, which may lie in something large: its values cannot be asked for any more. */
  release(): void {
    this.#bytes = noBytes
  }

  #isLaidOutAlike(bytes: Uint8Array, start: number): boolean {
    const places = this.#places
    const layout = this.#layout
    const count = this.#layoutBytes
    for (let i = 0; i < count; i++) if (bytes[start + places[i]!] !== layout[i]) return false
    return count > 0
  }

  #walk(bytes: Uint8Array, start: number): void {
    const names = this.#names
    const lengthBytes = readInt32(bytes, start)
    // Where lengths change all the time nothing is laid out alike: to remember it would be in vain.
    const isRemembered = lengthBytes === this.#lengthBytes
    this.#lengthBytes = lengthBytes
    this.#layout.length = this.#places.length = this.#layoutBytes = 0
    this.#starts.fill(-1)
    this.#ends.fill(-1)
    this.#types.fill(-1)
    let missing = names.length
    const it = new FieldIterator(bytes, start)
    for (let at = it.valueEnd; missing > 0; at = it.valueEnd) {
      const isField = it.next()
      if (isRemembered) this.#remember(at, isField ? it.valueStart + determiningBytes(it) : at + 1)
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

  /** What stands from here to there in the document tells how it is laid out. */
  #remember(from: number, to: number): void {
    for (let at = from; at < to && this.#layout.length <= layoutBytesMax; at++) {
      this.#places.push(at - this.#start)
      this.#layout.push(this.#bytes[at] ?? -1)
    }
  }
}

/** How many bytes of its value tell where the next field begins. */
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

/**
 * A document is given by its array and the offset of its length prefix, so embedded documents need
 * no views. These functions trust the structure: bytes from outside must first pass `validateBson`.
 */
import { RawValue, readName, readUtf8 } from '../values/raw-value.js'
import { readInt32 } from '../bytes/little-endian.js'
import { BsonType } from '../values/types.js'
import { fixedValueBytes, lengthHeaderBytes } from '../values/value-sizes.js'

export function valueEnd(type: number, bytes: Uint8Array, start: number): number {
  const size = fixedValueBytes[type]!
  if (size >= 0) return start + size
  const header = lengthHeaderBytes[type]!
  if (header >= 0) return start + header + readInt32(bytes, start)
  if (type === BsonType.regex) return cstringEnd(bytes, cstringEnd(bytes, start))
  throw new Error(`not a BSON type: ${type}`)
}

/** The offset after the NUL. */
export function cstringEnd(bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at] !== 0) {
    if (at >= bytes.length) throw new Error('unterminated cstring')
    at++
  }
  return at + 1
}

/** Of repeated names the first counts. */
export function findField(bytes: Uint8Array, name: string, documentStart = 0): RawValue | undefined {
  let at = documentStart + 4
  const length = name.length
  for (;;) {
    const type = bytes[at]!
    if (type === 0 || type === undefined) return undefined
    const nameStart = at + 1
    let i = 0
    for (; i < length; i++) {
      const code = name.charCodeAt(i)
      // A NUL in the wanted name must not match the end of a stored one.
      if (code > 0x7f || bytes[nameStart + i] !== code || code === 0) break
    }
    const matches =
      i === length ? bytes[nameStart + i] === 0 : bytes[nameStart + i]! > 0x7f && namesEqual(bytes, nameStart, name)
    const start = matches && i === length ? nameStart + length + 1 : cstringEnd(bytes, nameStart + i)
    const end = valueEnd(type, bytes, start)
    if (matches) return new RawValue(type, bytes, start, end)
    at = end
  }
}

/** The stored name may have non-ASCII characters. */
function namesEqual(bytes: Uint8Array, nameStart: number, name: string): boolean {
  return readUtf8(bytes, nameStart, cstringEnd(bytes, nameStart) - 1) === name
}

/**
 * Follows a dotted path through embedded documents only; the walk of `query` enters arrays too.
 * Undefined: a part is missing or not a document.
 */
export function findPath(bytes: Uint8Array, path: string, documentStart = 0): RawValue | undefined {
  let start = documentStart
  let from = 0
  for (;;) {
    const dot = path.indexOf('.', from)
    const value = findField(bytes, dot < 0 ? (from === 0 ? path : path.slice(from)) : path.slice(from, dot), start)
    if (dot < 0 || value === undefined) return value
    if (value.type !== BsonType.object) return undefined
    start = value.start
    from = dot + 1
  }
}

/** `for (const it = new FieldIterator(doc); it.next(); ) it.name(), it.value()` */
export class FieldIterator {
  readonly bytes: Uint8Array
  type = 0
  nameStart = 0
  valueStart = 0
  valueEnd: number

  constructor(bytes: Uint8Array, documentStart = 0) {
    this.bytes = bytes
    this.valueEnd = documentStart + 4
  }

  next(): boolean {
    const at = this.valueEnd
    const type = this.bytes[at]!
    if (type === 0 || type === undefined) return false
    this.type = type
    this.nameStart = at + 1
    this.valueStart = cstringEnd(this.bytes, at + 1)
    this.valueEnd = valueEnd(type, this.bytes, this.valueStart)
    return true
  }

  name(): string {
    return readName(this.bytes, this.nameStart, this.valueStart - 1)
  }

  value(): RawValue {
    return new RawValue(this.type, this.bytes, this.valueStart, this.valueEnd)
  }
}

export function fieldsOf(bytes: Uint8Array, documentStart = 0): [name: string, value: RawValue][] {
  const fields: [string, RawValue][] = []
  for (const it = new FieldIterator(bytes, documentStart); it.next();) fields.push([it.name(), it.value()])
  return fields
}

/** The elements of an array, or the values of a document, in order. */
export function elementsOf(array: RawValue): RawValue[] {
  const values: RawValue[] = []
  for (const it = new FieldIterator(array.bytes, array.start); it.next();) values.push(it.value())
  return values
}

/** Skips elements that are not documents. */
export function documentsOf(array: RawValue): Uint8Array[] {
  const documents: Uint8Array[] = []
  for (const it = new FieldIterator(array.bytes, array.start); it.next();) {
    if (it.type === BsonType.object) documents.push(it.bytes.subarray(it.valueStart, it.valueEnd))
  }
  return documents
}

/** In a command, the command's name. Undefined: the document is empty. */
export function firstFieldName(bytes: Uint8Array): string | undefined {
  const it = new FieldIterator(bytes)
  return it.next() ? it.name() : undefined
}

export function isEmptyDocument(bytes: Uint8Array, documentStart = 0): boolean {
  return bytes[documentStart + 4] === 0
}

export function documentAt(bytes: Uint8Array, start: number): Uint8Array {
  return bytes.subarray(start, start + readInt32(bytes, start))
}

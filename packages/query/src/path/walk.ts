/**
 * Walks a path as query predicates do: arrays on the path are traversed, an array at the end gives
 * its elements and then itself, a missing value is passed as type 0. Server: `ElementPath` and
 * `BSONElementIterator` of matcher/path.cpp.
 */
import { BsonType, cstringEnd, valueEnd } from '@shardlab/bson'
import type { PathPart } from './field-path.js'

export const missingType = 0

/** `type` is {@link missingType} when there is no value. */
export type ValueTest = (type: number, bytes: Uint8Array, start: number, end: number) => boolean

/**
 * How an array at the end of the path is tested: by its elements and as a whole, or only as a
 * whole.
 */
export type LeafArrays = 'elements' | 'whole'

let foundType = 0

/** Offset of the field's value, or -1; its type is in `foundType`. */
function locate(bytes: Uint8Array, documentStart: number, name: Uint8Array): number {
  const length = name.length
  let at = documentStart + 4
  for (;;) {
    const type = bytes[at]!
    if (type === 0) return -1
    at++
    let i = 0
    while (i < length && bytes[at + i] === name[i]) i++
    if (i === length && bytes[at + i] === 0) {
      foundType = type
      return at + i + 1
    }
    at += i
    while (bytes[at] !== 0) at++
    at = type === BsonType.int32 ? at + 5 : valueEnd(type, bytes, at + 1)
  }
}

export function anyValue(
  bytes: Uint8Array,
  documentStart: number,
  parts: readonly PathPart[],
  from: number,
  leaf: LeafArrays,
  test: ValueTest,
): boolean {
  let start = documentStart
  const last = parts.length - 1
  for (let i = from; ; i++) {
    const at = locate(bytes, start, parts[i]!.bytes)
    if (at < 0) return test(missingType, bytes, 0, 0)
    const type = foundType
    if (i === last) {
      if (type === BsonType.array && leaf === 'elements') return anyElement(bytes, at, test)
      return test(type, bytes, at, valueEnd(type, bytes, at))
    }
    if (type === BsonType.array) return anyBelowArray(bytes, at, parts, i + 1, leaf, test)
    if (type !== BsonType.object) return test(missingType, bytes, 0, 0)
    start = at
  }
}

/** For a caller that already has the value of the part before `next`. */
export function anyValueBelow(
  type: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  parts: readonly PathPart[],
  next: number,
  leaf: LeafArrays,
  test: ValueTest,
): boolean {
  if (next === parts.length)
    return type === BsonType.array && leaf === 'elements'
      ? anyElement(bytes, start, test)
      : test(type, bytes, start, end)
  if (type === BsonType.object) return anyValue(bytes, start, parts, next, leaf, test)
  if (type === BsonType.array) return anyBelowArray(bytes, start, parts, next, leaf, test)
  return test(missingType, bytes, 0, 0)
}

/** The elements come first, then the array itself. */
export function anyElement(bytes: Uint8Array, arrayStart: number, test: ValueTest): boolean {
  let at = arrayStart + 4
  for (;;) {
    const type = bytes[at]!
    if (type === 0) return test(BsonType.array, bytes, arrayStart, at + 1)
    const start = cstringEnd(bytes, at + 1)
    const end = valueEnd(type, bytes, start)
    if (test(type, bytes, start, end)) return true
    at = end
  }
}

function anyBelowArray(
  bytes: Uint8Array,
  arrayStart: number,
  parts: readonly PathPart[],
  next: number,
  leaf: LeafArrays,
  test: ValueTest,
): boolean {
  if (!parts[next]!.isEmptyEnd) return anyInArray(bytes, arrayStart, parts, next, leaf, test)
  if (leaf === 'elements') return anyElement(bytes, arrayStart, test)
  return test(BsonType.array, bytes, arrayStart, valueEnd(BsonType.array, bytes, arrayStart))
}

function anyInArray(
  bytes: Uint8Array,
  arrayStart: number,
  parts: readonly PathPart[],
  next: number,
  leaf: LeafArrays,
  test: ValueTest,
): boolean {
  const part = parts[next]!
  let at = arrayStart + 4
  for (;;) {
    const type = bytes[at]!
    if (type === 0) return false
    const nameStart = at + 1
    const start = cstringEnd(bytes, nameStart)
    const end = valueEnd(type, bytes, start)
    if (type === BsonType.object && anyValue(bytes, start, parts, next, leaf, test)) return true
    if (part.isIndex && nameIs(bytes, nameStart, part.bytes)) {
      if (next === parts.length - 1) {
        if (test(type, bytes, start, end)) return true
      } else if (type === BsonType.object) {
        if (anyValue(bytes, start, parts, next + 1, leaf, test)) return true
      } else if (type === BsonType.array) {
        // Below an array index, the server tests the elements of such an array for every operator.
        if (
          parts[next + 1]!.isEmptyEnd
            ? anyElement(bytes, start, test)
            : anyInArray(bytes, start, parts, next + 1, leaf, test)
        )
          return true
      }
    }
    at = end
  }
}

function nameIs(bytes: Uint8Array, nameStart: number, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[nameStart + i] !== name[i]) return false
  return bytes[nameStart + name.length] === 0
}

/**
 * Index, in the outermost array on the path, of the first element through which the test passes; -1
 * without an array or such an element. For the positional operator.
 */
export function positionInOutermostArray(
  bytes: Uint8Array,
  parts: readonly PathPart[],
  leaf: LeafArrays,
  test: ValueTest,
): number {
  let start = 0
  const last = parts.length - 1
  for (let i = 0; i <= last; i++) {
    const at = locate(bytes, start, parts[i]!.bytes)
    if (at < 0) return -1
    if (foundType === BsonType.array) return positionIn(bytes, at, parts, i + 1, leaf, test)
    if (foundType !== BsonType.object) return -1
    start = at
  }
  return -1
}

function positionIn(
  bytes: Uint8Array,
  arrayStart: number,
  parts: readonly PathPart[],
  next: number,
  leaf: LeafArrays,
  test: ValueTest,
): number {
  let at = arrayStart + 4
  for (let index = 0; ; index++) {
    const type = bytes[at]!
    if (type === 0) return -1
    const start = cstringEnd(bytes, at + 1)
    const end = valueEnd(type, bytes, start)
    const passes =
      next === parts.length || parts[next]!.isEmptyEnd
        ? leaf === 'elements' && test(type, bytes, start, end)
        : type === BsonType.object && anyValue(bytes, start, parts, next, leaf, test)
    if (passes) return index
    at = end
  }
}

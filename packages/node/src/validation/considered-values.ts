/** The values at a path that a query operator examines. Server: ElementPath, path_internal. */
import { BsonType, elementsOf, findField, RawValue } from '@shardlab/bson'
import { consideredValuesMax, type ConsideredValues } from './details-writer.js'

/** Whether an array at the end of the path is examined as its `elements` or as a `whole`. */
export type LeafArrays = 'elements' | 'whole'

/** @returns null when the path does not exist */
export function consideredValues(document: Uint8Array, path: string, leafArrays: LeafArrays): ConsideredValues | null {
  const found: RawValue[] = []
  const exists = collect(
    new RawValue(BsonType.object, document, 0, document.length),
    path.split('.'),
    0,
    leafArrays,
    found,
  )
  if (!exists) return null
  return { values: found.slice(0, consideredValuesMax), truncated: found.length > consideredValuesMax }
}

/** @returns whether the path exists, even if it ends in an empty array */
function collect(
  parent: RawValue,
  parts: readonly string[],
  at: number,
  leafArrays: LeafArrays,
  found: RawValue[],
): boolean {
  if (at === parts.length) {
    if (parent.type === BsonType.array && leafArrays === 'elements')
      for (const element of elementsOf(parent)) found.push(element)
    else found.push(parent)
    return true
  }
  if (parent.type === BsonType.object) {
    const field = findField(parent.bytes, parts[at]!, parent.start)
    if (field === undefined) return false
    if (field.type !== BsonType.array || at + 1 === parts.length)
      return collect(field, parts, at + 1, leafArrays, found)
    return collectInArray(field, parts, at + 1, leafArrays, found)
  }
  return false
}

/**
 * Continues in each document of an array, and in the element that the next path component numbers.
 */
function collectInArray(
  array: RawValue,
  parts: readonly string[],
  at: number,
  leafArrays: LeafArrays,
  found: RawValue[],
): boolean {
  let exists = false
  elementsOf(array).forEach((element, index) => {
    if (element.type === BsonType.object && collect(element, parts, at, leafArrays, found)) exists = true
    if (parts[at] === String(index)) {
      if (at + 1 === parts.length) {
        found.push(element)
        exists = true
      } else if (collect(element, parts, at + 1, leafArrays, found)) exists = true
    }
  })
  return exists
}

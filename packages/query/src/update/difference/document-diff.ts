/** Server: document_diff_calculator.cpp (`computeOplogDiff`). */
import { BsonType, documentValue, FieldIterator, type RawValue } from '@shardlab/bson'
import { identical } from '../../values/build.js'
import { ArrayDiff, encodeDiff, ObjectDiff, type Diff } from './diff-tree.js'

type Field = readonly [name: string, value: RawValue]

/**
 * How the oplog tells an update by a pipeline: the difference of the documents before and after.
 * @param paddingBytes what the entry needs besides the difference
 * @returns null: it would be no shorter than the new document
 */
export function documentDiff(before: Uint8Array, after: Uint8Array, paddingBytes = 0): Uint8Array | null {
  const diff = encodeDiff(diffOfObjects(documentValue(before), documentValue(after)))
  return diff.length + paddingBytes < after.length ? diff : null
}

function diffOfObjects(before: RawValue, after: RawValue): ObjectDiff {
  const diff = new ObjectDiff()
  const [old, now] = [fieldsOf(before), fieldsOf(after)]
  const skipped = new Set<string>()
  let at = 0
  let next = 0
  for (; at < old.length && next < now.length; at++) {
    const [name, value] = old[at]!
    const [newName, newValue] = now[next]!
    if (name !== newName) {
      // Removed, or moved behind: then it is inserted below, which also removes it here.
      skipped.add(name)
      continue
    }
    next++
    if (!identical(value, newValue))
      tell(
        value,
        newValue,
        (update) => diff.updated.push([name, update]),
        (nested) => diff.changed.push([name, nested]),
      )
  }
  for (const [name] of old.slice(at)) diff.deleted.push(name)
  for (const [name, value] of now.slice(next)) {
    diff.inserted.push([name, value])
    skipped.delete(name)
  }
  diff.deleted.push(...[...skipped].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
  return diff
}

function diffOfArrays(before: RawValue, after: RawValue): ArrayDiff {
  const diff = new ArrayDiff()
  const [old, now] = [fieldsOf(before), fieldsOf(after)]
  for (const [index, [, value]] of now.entries()) {
    if (index >= old.length) diff.elements.push([index, value])
    else if (!identical(old[index]![1], value))
      tell(
        old[index]![1],
        value,
        (update) => diff.elements.push([index, update]),
        (nested) => diff.elements.push([index, nested]),
      )
  }
  if (old.length > now.length) diff.length = now.length
  return diff
}

function tell(
  before: RawValue,
  after: RawValue,
  update: (value: RawValue) => void,
  change: (diff: Diff) => void,
): void {
  const isArray = after.type === BsonType.array
  if (before.type !== after.type || (!isArray && after.type !== BsonType.object)) return update(after)
  const diff = isArray ? diffOfArrays(before, after) : diffOfObjects(before, after)
  if (encodeDiff(diff).length < after.end - after.start) change(diff)
  else update(after)
}

function fieldsOf(value: RawValue): Field[] {
  const fields: Field[] = []
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) fields.push([it.name(), it.value()])
  return fields
}

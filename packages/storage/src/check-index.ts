/** Does an index hold the keys of its documents, and nothing else? Server: index_consistency.cpp. Manual page: reference/command/validate. */
import type { Collection, Index } from './types.js'

export interface IndexCheck {
  /** Keys in the index. */
  readonly keys: number
  /** Keys of documents that the index lacks. */
  readonly missing: number
  /** Keys in the index that no document has. */
  readonly extra: number
}

/** Reads every document and every key. */
export function checkIndex(collection: Collection, index: Index): IndexCheck {
  const expected = new Set<string>()
  const scan = collection.scan()
  for (let record = scan.next(); record !== null; record = scan.next()) {
    for (const key of index.keysOf(record.document)) expected.add(`${record.recordId} ${key}`)
  }
  let keys = 0
  let extra = 0
  const cursor = index.scanKeys(undefined, undefined, false)
  for (let recordId = cursor.next(); recordId >= 0; recordId = cursor.next()) {
    keys++
    const key = index.unique ? cursor.key : cursor.key.slice(0, -recordIdLength)
    if (!expected.delete(`${recordId} ${key}`)) extra++
  }
  return { keys, missing: expected.size, extra }
}

/** What a non-unique index appends to its keys. */
const recordIdLength = 6

/** Server: index_consistency.cpp. Manual page: reference/command/validate. */
import type { KeyTuple } from './index-keys.js'
import { recordIdLength } from './record-key.js'
import type { StoredRecord } from '../records/record-table.js'
import type { Collection, Index } from '../engine/types.js'

export interface IndexCheck {
  readonly keys: number
  /** In natural order of the documents. */
  readonly missing: readonly MissingKey[]
  /** Keys that belong to no document, in the order of the index. */
  readonly extra: readonly ExtraKey[]
}

export interface MissingKey {
  readonly record: StoredRecord
  /** Empty if they cannot be determined. */
  readonly values: KeyTuple
}

export interface ExtraKey {
  readonly recordId: number
  /** Without the record id. */
  readonly key: string
}

/** Reads every document and every key, and yields after each. The collection must not change. */
export function* checkIndex(collection: Collection, index: Index): Generator<void, IndexCheck, void> {
  const expected = new Map<string, { readonly record: StoredRecord; readonly key: string }>()
  const scan = collection.scan()
  for (let record = scan.next(); record !== null; record = scan.next()) {
    for (const key of index.keysOf(record.document)) expected.set(`${record.recordId} ${key}`, { record, key })
    yield
  }
  let keys = 0
  const extra: ExtraKey[] = []
  const cursor = index.scanKeys(undefined, undefined, false)
  for (let recordId = cursor.next(); recordId >= 0; recordId = cursor.next()) {
    keys++
    const key = index.unique ? cursor.key : cursor.key.slice(0, -recordIdLength)
    if (!expected.delete(`${recordId} ${key}`)) extra.push({ recordId, key })
    yield
  }
  const missing = [...expected.values()].map(({ record, key }) => ({
    record,
    values: index.tuplesOf(record.document).find((tuple) => index.encode(tuple) === key) ?? [],
  }))
  return { keys, missing, extra }
}

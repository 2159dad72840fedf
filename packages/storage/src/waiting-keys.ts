/** Keys of documents that are stored already, for an index that has none of them yet: made and added all at once. See decision 0019. */
import { keyStringUpperBound } from '@shardlab/bson'
import { duplicateKeyError } from './duplicate-key.js'
import type { DocumentKeys } from './index-keys.js'
import { isIdKey, type IndexSpec } from './index-spec.js'
import { recordIdLength, withRecordId } from './record-key.js'
import type { RecordTable } from './record-table.js'
import { ascending } from './tree/ascending.js'
import type { KeyRun, KeyTree } from './tree/key-tree.js'
import type { Index } from './types.js'

/** Keys that are not in the tree yet, of all records from where it ends to `end`. */
export interface WaitingKeys {
  readonly run: KeyRun
  /** What there is to know of documents with arrays. */
  readonly arrays: readonly DocumentKeys[]
  readonly end: number
}

/** What makes the keys. */
type KeySource = Index & { generate(bytes: Uint8Array, start: number): DocumentKeys }

/**
 * Of an index with this specification, may keys wait until somebody reads it? Nothing can be wrong with a key by itself, and nobody has to be told of
 * one that is there already: whoever changes a collection looks for the same `_id` by other means.
 */
export function mayWait({ unique, prepareUnique, partialFilter, key }: IndexSpec): boolean {
  return (!unique || isIdKey(key)) && !prepareUnique && partialFilter === null
}

/** The keys of the records from `from` on and below `end`. */
export function makeKeys(index: KeySource, table: RecordTable, from: number, end: number): WaitingKeys {
  // Mostly as long as they become: lists that grow leave much memory behind.
  const room = Math.min(table.count, end - from)
  const keys = new Array<string>(room)
  const recordIds = new Array<number>(room)
  let count = 0
  const arrays: DocumentKeys[] = []
  const records = table.scan(false, from - 1)
  while (records.step()) {
    const { recordId } = records
    if (recordId >= end) break
    const generated = index.generate(records.bytes, records.start)
    for (const key of generated.keys) {
      keys[count] = index.unique ? key : withRecordId(key, recordId)
      recordIds[count++] = recordId
    }
    if (generated.arrays !== null || generated.arrayPaths !== undefined) arrays.push(generated)
  }
  keys.length = recordIds.length = count
  return { run: ascending(keys, recordIds), arrays, end }
}

/** @throws CommandError DuplicateKey for a key that is in the run twice */
export function checkRepeated(index: Index, ns: string, records: RecordTable, { keys, values }: KeyRun): void {
  for (let i = 1; i < keys.length; i++)
    if (keys[i - 1] === keys[i]) throw duplicateKeyError(index, ns, records.get(values[i]!)!.document, keys[i]!)
}

/** @throws CommandError DuplicateKey for a key that is in the tree */
export function checkAgainst(
  index: Index,
  tree: KeyTree,
  ns: string,
  records: RecordTable,
  { keys, values }: KeyRun,
): void {
  // Most runs lie where there is nothing yet.
  if (keys.length === 0 || tree.scan(keys[0], keyStringUpperBound(keys.at(-1)!), false).next() < 0) return
  for (let i = 0; i < keys.length; i++)
    if (tree.get(keys[i]!) !== undefined)
      throw duplicateKeyError(index, ns, records.get(values[i]!)!.document, keys[i]!)
}

/** Of an index that is to become unique: @throws CommandError DuplicateKey for a key that is in the run twice, or in the tree */
export function checkPrepared(
  index: Index,
  tree: KeyTree,
  ns: string,
  records: RecordTable,
  { keys, values }: KeyRun,
): void {
  let before = ''
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!.slice(0, -recordIdLength)
    if (key === before || tree.scan(key, keyStringUpperBound(key), false).next() >= 0)
      throw duplicateKeyError(index, ns, records.get(values[i]!)!.document, key)
    before = key
  }
}

/**
 * Keys of stored documents that their index generates and adds later in one run: see decision 0019.
 */
import { keyStringUpperBound } from '@shardlab/bson'
import { duplicateKeyError } from './duplicate-key.js'
import type { DocumentKeys } from './index-keys.js'
import { isIdKey, type IndexSpec } from '../index-specs/index-spec.js'
import { recordIdLength, withRecordId } from './record-key.js'
import type { RecordTable } from '../records/record-table.js'
import { sortedRun } from '../tree/sort-run.js'
import type { KeyRun, KeyTree } from '../tree/key-tree.js'
import type { Index } from '../engine/types.js'

/** Of all records from the first deferred one to `end`; not in the tree yet. */
export interface DeferredKeys {
  readonly run: KeyRun
  readonly arrays: readonly DocumentKeys[]
  readonly end: number
}

type KeySource = Index & { generate(bytes: Uint8Array, start: number): DocumentKeys }

/**
 * Whether an index may defer keys until it is read: its keys cannot be invalid, and inserts need no
 * check for duplicates in it. The `_id` table checks `_id_`.
 */
export function mayDefer({ unique, prepareUnique, partialFilter, key }: IndexSpec): boolean {
  return (!unique || isIdKey(key)) && !prepareUnique && partialFilter === null
}

/**
 * @param from first record id
 * @param end one past the last record id
 * @param most the record with this key is the last one
 */
export function generateKeys(
  index: KeySource,
  table: RecordTable,
  from: number,
  end: number,
  most = Infinity,
): DeferredKeys {
  // Usually the final size: growing the arrays would leave garbage.
  const room = Math.min(table.count, end - from, most)
  const keys = new Array<string>(room)
  const recordIds = new Array<number>(room)
  let count = 0
  let last = end
  const arrays: DocumentKeys[] = []
  const records = table.scan(false, from - 1)
  while (records.step()) {
    const { recordId } = records
    if (recordId >= last) break
    const generated = index.generate(records.bytes, records.start)
    for (const key of generated.keys) {
      keys[count] = index.unique ? key : withRecordId(key, recordId)
      recordIds[count++] = recordId
    }
    if (generated.arrays !== null || generated.arrayPaths !== undefined) arrays.push(generated)
    if (count >= most) last = recordId + 1
  }
  keys.length = recordIds.length = count
  return { run: sortedRun(keys, recordIds), arrays, end: last }
}

/** @throws CommandError DuplicateKey for a key that is in the run twice */
export function checkNotRepeated(index: Index, ns: string, records: RecordTable, { keys, values }: KeyRun): void {
  for (let i = 1; i < keys.length; i++)
    if (keys[i - 1] === keys[i]) throw duplicateKeyError(index, ns, records.get(values[i]!)!.document, keys[i]!)
}

/** @throws CommandError DuplicateKey for a key that is in the tree */
export function checkNotInTree(
  index: Index,
  tree: KeyTree,
  ns: string,
  records: RecordTable,
  { keys, values }: KeyRun,
): void {
  // Most runs do not overlap the tree.
  if (keys.length === 0 || tree.scan(keys[0], keyStringUpperBound(keys.at(-1)!), false).next() < 0) return
  for (let i = 0; i < keys.length; i++)
    if (tree.get(keys[i]!) !== undefined)
      throw duplicateKeyError(index, ns, records.get(values[i]!)!.document, keys[i]!)
}

/** @throws CommandError DuplicateKey for a key that is in the run twice or in the tree */
export function checkPrepareUnique(
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

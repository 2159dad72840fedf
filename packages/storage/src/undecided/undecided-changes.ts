/**
 * What a prepared transaction changes in a collection, for reads that need its outcome. Server:
 * WT_PREPARE_CONFLICT, which a cursor gets from a key or a record with a prepared update.
 */
import { findField } from '@shardlab/bson'
import type { Collection } from '../engine/types.js'

export interface UndecidedChanges {
  /** Keys of `_id`. Null: keys of this collection cannot be compared, any document may change. */
  readonly ids: ReadonlySet<string> | null
  /**
   * Keys that are added or removed, sorted, by the name of the index. Null: they cannot be
   * compared, so any key of the index may change. Absent: as null, because the index is new.
   */
  readonly keys: ReadonlyMap<string, readonly string[] | null>
  /** Whether documents are added after the last one. */
  readonly inserts: boolean
}

/** Undefined: it does not exist. */
export type DocumentChange = readonly [before: Uint8Array | undefined, after: Uint8Array | undefined]

/** @param changes each document once */
export function undecidedChanges(collection: Collection, changes: Iterable<DocumentChange>): UndecidedChanges {
  const indexes = collection.indexes()
  const ids = isComparable(collection) ? new Set<string>() : null
  const changed = new Map(indexes.map(({ name, labels }) => [name, labels === null ? new Set<string>() : null]))
  let inserts = false
  for (const [before, after] of changes) {
    const document = before ?? after
    if (document === undefined) continue
    ids?.add(idKeyOf(collection, document))
    inserts ||= before === undefined
    for (const index of indexes) {
      const keys = changed.get(index.name)
      if (keys == null) continue
      const [old, next] = [before, after].map((each) => (each === undefined ? [] : index.keysOf(each)))
      for (const key of old!) if (!next!.includes(key)) keys.add(key)
      for (const key of next!) if (!old!.includes(key)) keys.add(key)
    }
  }
  const sorted = ([name, keys]: [string, Set<string> | null]) =>
    [name, keys === null ? null : [...keys].sort()] as const
  return { ids, keys: new Map([...changed].map(sorted)), inserts }
}

/** The keys of strings under a collation depend on the strings that an index has had. */
export const isComparable = (collection: Collection): boolean => collection.indexes()[0]?.labels === null

const idKeyOf = (collection: Collection, document: Uint8Array): string =>
  collection.indexes()[0]!.encode([findField(document, '_id')!])

/** The least position whose key is not below `key`. */
export function positionOf(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (keys[middle]! < key) low = middle + 1
    else high = middle
  }
  return low
}

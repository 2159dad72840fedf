/**
 * Documents and unique keys that open transactions have written, each with its transaction. The
 * first writer wins: another transaction that writes one fails, and a writer outside waits. Server:
 * update conflicts of WiredTiger.
 */
import { CommandError, findField, sameBytes, type RawValue } from '@shardlab/bson'
import type { Collection } from '@shardlab/storage'
import type { LogChange } from '../log/log-change.js'
import type { Transaction } from './transaction.js'

/** The document or key belongs to an open transaction. Writers outside wait until it ends. */
export class TransactionConflict extends CommandError {
  readonly holder: Transaction

  constructor(holder: Transaction) {
    super('WriteConflict', conflictText)
    this.name = 'TransactionConflict'
    this.holder = holder
  }
}

const conflictText =
  'WriteConflict error: this operation conflicted with another operation. Please retry your operation or multi-document transaction.'

export const writeConflict = (): CommandError => new CommandError('WriteConflict', conflictText)

export class WriteKeys {
  readonly #holders = new Map<string, Transaction>()

  get isEmpty(): boolean {
    return this.#holders.size === 0
  }

  get size(): number {
    return this.#holders.size
  }

  holderOf(key: string): Transaction | undefined {
    return this.#holders.get(key)
  }

  take(transaction: Transaction, keys: Iterable<string>): void {
    for (const key of keys) {
      this.#holders.set(key, transaction)
      transaction.keys.add(key)
    }
  }

  release(transaction: Transaction): void {
    for (const key of transaction.keys) this.#holders.delete(key)
    transaction.keys.clear()
  }

  /**
   * For a change outside of transactions.
   * @param collection that changes, or undefined: it does not exist
   * @throws TransactionConflict
   */
  checkFree(change: LogChange, collection: Collection | undefined): void {
    for (const key of keysOf(change, collection)) {
      const holder = this.#holders.get(key)
      if (holder !== undefined) throw new TransactionConflict(holder)
    }
  }
}

const prefixOf = ({ uuid }: Collection): string => Buffer.from(uuid).toString('latin1')

/** null: the collection is clustered and has no index on `_id`. */
function idKeyOf(collection: Collection, id: RawValue): string | null {
  const [idIndex] = collection.indexes()
  return idIndex === undefined ? null : `${prefixOf(collection)}_id_\0${idIndex.encode([id])}`
}

/** Of the documents before and after the change, and their unique keys. */
export function keysOf(change: LogChange, collection: Collection | undefined): string[] {
  const keys: string[] = []
  if (change.op === 'n' || change.op === 'c' || collection === undefined) return keys
  const id = change.id ?? findField(change.object, '_id')!
  const idKey = idKeyOf(collection, id)
  if (idKey === null) return keys
  keys.push(idKey)
  const prefix = prefixOf(collection)
  const [, ...others] = collection.indexes()
  const unique = others.filter((index) => index.unique)
  if (unique.length === 0) return keys
  const before = change.op === 'i' ? undefined : collection.findById(id)?.document
  for (const index of unique) {
    const name = `${prefix}${index.name}\0`
    if (before !== undefined) for (const key of index.keysOf(before)) keys.push(name + key)
    if (change.op !== 'd') for (const key of index.keysOf(change.object)) keys.push(name + key)
  }
  return keys
}

/**
 * Whether the data has changed since the snapshot in a way that the change of a transaction would
 * undo or repeat. Keys that the transaction holds cannot have changed.
 * @param own the collection as the transaction sees it, without the change
 * @param keys that the transaction holds
 */
export function hasChangedSince(
  change: LogChange,
  own: Collection,
  live: Collection,
  keys: ReadonlySet<string>,
): boolean {
  const id = change.id ?? findField(change.object, '_id')!
  if (!keys.has(idKeyOf(own, id) ?? '')) {
    const [mine, theirs] = [own.findById(id), live.findById(id)]
    if (change.op === 'i') {
      // Otherwise the insert fails for the snapshot, too: with the error for a duplicate key.
      if (mine === undefined && theirs !== undefined) return true
    } else if (mine === undefined || theirs === undefined || mine.recordId !== theirs.recordId) return true
    else if (!sameBytes(mine.document, theirs.document)) return true
  }
  return change.op !== 'd' && takesKeyOf(change.object, id, own, live, keys)
}

/** Whether another document has got a unique key of this one since the snapshot. */
function takesKeyOf(
  document: Uint8Array,
  id: RawValue,
  own: Collection,
  live: Collection,
  keys: ReadonlySet<string>,
): boolean {
  for (const index of live.indexes()) {
    if (!index.unique || index.name === '_id_') continue
    for (const key of index.keysOf(document)) {
      // The transaction has removed the key from another document, so it has not changed since.
      if (keys.has(`${prefixOf(live)}${index.name}\0${key}`)) continue
      const range = { low: key, high: key }
      const recordId = index.seek(range).next()
      if (recordId < 0 || recordId === live.findById(id)?.recordId) continue
      if ((own.index(index.name)?.seek(range).next() ?? -1) < 0) return true
    }
  }
  return false
}

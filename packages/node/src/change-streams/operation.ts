/**
 * The changes in an entry of the oplog: one, or those of a transaction. Server:
 * document_source_change_stream_unwind_transaction.cpp.
 */
import type { TimestampPair } from '@shardlab/actor'
import { CommandError, documentValue, DocumentWriter, FieldIterator, findField, type RawValue } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import { opTimeOf, type OpTime } from '@shardlab/storage'
import type { OplogWindow } from '../log/oplog-window.js'

export interface Operation {
  /** The document with `op`, `ns`, `ui`, `o` and `o2`. */
  readonly document: RawValue
  /** The entry that committed it, with `ts` and `wall`. */
  readonly entry: Uint8Array
  readonly clusterTime: TimestampPair
  /** Null: not in a transaction. */
  readonly transaction: TransactionPlace | null
}

export interface TransactionPlace {
  readonly txnOpIndex: number
}

/** A field of the operation. */
export function fieldOf({ document }: Pick<Operation, 'document'>, name: string): RawValue | undefined {
  return findField(document.bytes, name, document.start)
}

export function operationOf(entry: Uint8Array): Operation {
  return { document: documentValue(entry), entry, clusterTime: opTimeOf(entry).ts, transaction: null }
}

/** Of a command; an empty text for any other operation. */
export function commandOf({ document }: Pick<Operation, 'document'>): string {
  const object = findField(document.bytes, 'o', document.start)!
  const it = new FieldIterator(object.bytes, object.start)
  return it.next() ? it.name() : ''
}

/**
 * The operations of the transaction that this command commits, in order.
 * @param window for the earlier entries of a long or a prepared transaction
 * @returns empty: it commits nothing yet
 * @throws CommandError 286 ChangeStreamHistoryLost: the oplog has dropped earlier entries
 */
export function operationsOfTransaction(entry: Uint8Array, window: OplogWindow): Operation[] {
  const object = findField(entry, 'o')!
  const isCommit = findField(object.bytes, 'commitTransaction', object.start) !== undefined
  if (!isCommit && (isSet(object, 'prepare') || isSet(object, 'partialTxn'))) return []
  const holders = isCommit ? [] : [entry]
  for (let previous = previousOf(entry); previous !== null;) {
    const found = window.entryOf(previous)
    if (found === undefined) throw transactionLost(previous)
    holders.unshift(found)
    previous = previousOf(found)
  }
  const clusterTime = opTimeOf(entry).ts
  const operations: Operation[] = []
  for (const holder of holders) {
    const applyOps = findField(findField(holder, 'o')!.slice(), 'applyOps')
    if (applyOps === undefined) continue
    for (const it = new FieldIterator(applyOps.bytes, applyOps.start); it.next();) {
      const transaction = { txnOpIndex: operations.length }
      operations.push({ document: it.value(), entry, clusterTime, transaction })
    }
  }
  return operations
}

function transactionLost({ ts, term }: OpTime): CommandError {
  const optime = formatDocument(new DocumentWriter(32).timestamp('ts', ts[0], ts[1]).int64('t', term).finish())
  return new CommandError(
    'ChangeStreamHistoryLost',
    `Oplog no longer has history necessary for $changeStream to observe operations from a committed transaction. :: caused by :: oplog no longer contains the complete write history of this transaction, log with opTime ${optime} cannot be found`,
  )
}

function isSet(object: RawValue, name: string): boolean {
  return findField(object.bytes, name, object.start)?.isTruthy() === true
}

/** The previous entry of the same transaction. Null: this one is the first. */
function previousOf(entry: Uint8Array): OpTime | null {
  const value = findField(entry, 'prevOpTime')
  if (value === undefined) return null
  const optime = opTimeOf(value.bytes, value.start)
  return optime.ts[0] === 0 && optime.ts[1] === 0 ? null : optime
}

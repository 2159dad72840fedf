/**
 * The oplog entries of transactions. Server: op_observer_impl.cpp,
 * packTransactionStatementsForApplyOps.
 */
import type { TimestampPair } from '@shardlab/actor'
import { arrayIndexName, DocumentWriter } from '@shardlab/bson'
import { writeOperation, writeOperationStatement, type LogSession } from '@shardlab/storage'
import type { LogChange } from '../../log/log-change.js'

const commandNs = 'admin.$cmd'
/** Of the operations in one entry. */
export const entryBytesMax = 16 * 1024 * 1024

export interface EntryLimits {
  /** Parameter maxNumberOfTransactionOperationsInSingleOplogEntry. */
  readonly operationsMax: number
}

export function encodedOperation(change: LogChange): Uint8Array {
  const writer = writeOperation(new DocumentWriter(change.object.length + 128), { difference: null, ...change })
  return (change.session === null ? writer : writeOperationStatement(writer, change.session)).finish()
}

/**
 * A chain of `applyOps`: all but the last entry have `partialTxn: true`, and the last one of
 * several has their number of operations.
 * @param operations encoded by {@link encodedOperation}
 * @param isPrepare whether another entry will commit them
 */
export function applyOpsEntries(
  operations: readonly Uint8Array[],
  session: LogSession,
  isPrepare: boolean,
  limits: EntryLimits,
): LogChange[] {
  const groups = grouped(operations, limits)
  return groups.map((group, i) => {
    const isLast = i === groups.length - 1
    const writer = new DocumentWriter(group.reduce((sum, { length }) => sum + length + 8, 64)).startArray('applyOps')
    group.forEach((operation, j) => writer.document(arrayIndexName(j), operation))
    writer.end()
    if (!isLast) writer.bool('partialTxn', true)
    else if (isPrepare) writer.bool('prepare', true)
    if (isLast && groups.length > 1) writer.int64('count', operations.length)
    return commandEntry(writer.finish(), session)
  })
}

function grouped(operations: readonly Uint8Array[], { operationsMax }: EntryLimits): Uint8Array[][] {
  const groups: Uint8Array[][] = [[]]
  let bytes = 0
  for (const operation of operations) {
    const last = groups.at(-1)!
    const isFull = last.length > 0 && (last.length >= operationsMax || bytes + operation.length > entryBytesMax)
    if (isFull) groups.push([operation])
    else last.push(operation)
    bytes = isFull ? operation.length : bytes + operation.length
  }
  return groups
}

export function commitEntry(session: LogSession, [seconds, increment]: TimestampPair): LogChange {
  const writer = new DocumentWriter(64).int32('commitTransaction', 1)
  return commandEntry(writer.timestamp('commitTimestamp', seconds, increment).finish(), session)
}

export function abortEntry(session: LogSession): LogChange {
  return commandEntry(new DocumentWriter(32).int32('abortTransaction', 1).finish(), session)
}

function commandEntry(object: Uint8Array, session: LogSession): LogChange {
  return { op: 'c', ns: commandNs, uuid: null, object, id: null, session }
}

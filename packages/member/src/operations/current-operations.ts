import type { UserName } from '@shardlab/auth'
import { isSharedWith } from '../access/ownership.js'
import type { MemberHost } from '../member-host.js'
import type { CurrentOpOptions } from './current-op-options.js'
import {
  idleConnectionDocument,
  idleCursorDocument,
  idleTransactionDocument,
  operationDocument,
  type IdleCursor,
} from './operation-document.js'
import type { ShardLabel } from './shard-label.js'

/**
 * Running operations come first, then those that are idle, where requested.
 * @param shownTo only operations of these users; null: all
 */
export function currentOperations(
  host: MemberHost,
  options: Pick<CurrentOpOptions, 'idleConnections' | 'idleCursors' | 'idleSessions' | 'truncateOps'>,
  cursors: Iterable<IdleCursor>,
  shard: ShardLabel = null,
  shownTo: readonly UserName[] | null = null,
): Uint8Array[] {
  const documents: Uint8Array[] = []
  const busy = new Set<number>()
  const transactions = [...(host.openTransactions?.() ?? [])]
  for (const operation of host.operations) {
    if (shownTo !== null && !isSharedWith(operation.users, shownTo)) continue
    busy.add(operation.connectionId)
    const transaction = transactions.find((each) => each.operation === operation)
    documents.push(operationDocument(host, operation, shard, options.truncateOps, transaction))
  }
  if (shownTo !== null) return documents
  if (options.idleConnections)
    for (const connection of host.connections)
      if (!busy.has(connection.id)) documents.push(idleConnectionDocument(host, connection, shard))
  if (options.idleSessions)
    for (const transaction of transactions)
      if (transaction.operation === null) documents.push(idleTransactionDocument(host, transaction, shard))
  if (options.idleCursors) for (const cursor of cursors) documents.push(idleCursorDocument(host, cursor, shard))
  if (host.sampling !== null) documents.push(...host.sampling.operations(shard))
  if (host.backgroundOperations !== undefined) documents.push(...host.backgroundOperations(shard))
  return documents
}

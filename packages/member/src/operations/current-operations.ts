import type { MemberHost } from '../member-host.js'
import type { CurrentOpOptions } from './current-op-options.js'
import { idleConnectionDocument, idleCursorDocument, operationDocument, type IdleCursor } from './operation-document.js'
import type { ShardLabel } from './shard-label.js'

/** Running operations come first, then idle connections and idle cursors where requested. */
export function currentOperations(
  host: MemberHost,
  options: Pick<CurrentOpOptions, 'idleConnections' | 'idleCursors' | 'truncateOps'>,
  cursors: Iterable<IdleCursor>,
  shard: ShardLabel = null,
): Uint8Array[] {
  const documents: Uint8Array[] = []
  const busy = new Set<number>()
  for (const operation of host.operations) {
    busy.add(operation.connectionId)
    documents.push(operationDocument(host, operation, shard, options.truncateOps))
  }
  if (options.idleConnections)
    for (const connection of host.connections)
      if (!busy.has(connection.id)) documents.push(idleConnectionDocument(host, connection, shard))
  if (options.idleCursors) for (const cursor of cursors) documents.push(idleCursorDocument(host, cursor, shard))
  if (host.sampling !== null) documents.push(...host.sampling.operations(shard))
  if (host.backgroundOperations !== undefined) documents.push(...host.backgroundOperations(shard))
  return documents
}

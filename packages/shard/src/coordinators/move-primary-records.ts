/** Moves of databases that have begun and not ended, kept where the server keeps them. Server: move_primary_coordinator_document.idl. */
import { DocumentWriter, elementsOf, findField } from '@shardlab/bson'
import type { StorageNode } from '@shardlab/node'
import { RecordStore } from '../record-store.js'
import { ddlRecordId, ddlRecordsNs } from './ddl-records.js'

export interface MovePrimaryRecord {
  readonly db: string
  readonly to: string
  /** The collections that move. */
  readonly namespaces: readonly string[]
}

/** All that are on the disk. */
export function movePrimaryRecords(node: StorageNode): MovePrimaryRecord[] {
  return storeOf(node).all().flatMap(parseRecord)
}

/** Resolves when it is on the disk. */
export async function beginMovePrimary(node: StorageNode, { db, to, namespaces }: MovePrimaryRecord): Promise<void> {
  const writer = new DocumentWriter(256)
    .value('_id', ddlRecordId('movePrimary', db))
    .string('toShardId', to)
    .startArray('collectionsToClone')
  namespaces.forEach((ns, i) => writer.string(String(i), ns))
  storeOf(node).put(writer.end().finish())
  await node.flush()
}

/** {@link StorageNode.flush} follows. */
export function finishMovePrimary(node: StorageNode, db: string): void {
  storeOf(node).remove(ddlRecordId('movePrimary', db))
}

function storeOf(node: StorageNode): RecordStore {
  return new RecordStore(node, ddlRecordsNs)
}

/** None: a record of another operation. */
function parseRecord(document: Uint8Array): MovePrimaryRecord[] {
  const id = findField(document, '_id')!
  if (findField(id.bytes, 'operationType', id.start)?.asString() !== 'movePrimary') return []
  const namespaces = elementsOf(findField(document, 'collectionsToClone')!).map((ns) => ns.asString())
  return [{ db: findField(id.bytes, 'namespace', id.start)!.asString(), to: findField(document, 'toShardId')!.asString(), namespaces }]
}

/** Server: collection_write_path.cpp. */
import { CommandError, DocumentWriter, findField, type RawValue } from '@shardlab/bson'
import type { OwnershipFilter } from '@shardlab/sharding'
import type { Collection, KeyOfInserted, LogSession } from '@shardlab/storage'
import type { Access, NodeHost } from '../host/node-host.js'
import { checkDocument } from '../validation/check-document.js'
import { collectionForWrite } from '../ddl/namespace.js'
import type { WriteScope } from './write-scope.js'

/**
 * Stores a document that {@link fixDocumentForInsert} has prepared. Creates its collection if the
 * write may do so, and removes the overflow of a capped collection. @returns the `_id`
 * @throws CommandError 121 DocumentValidationFailure, 2 BadValue for a document that is too large
 *   for the capped collection, and those of the engine
 */
export function insertDocument(scope: WriteScope, document: Uint8Array, session: LogSession | null): RawValue {
  const { invocation, ns, access, bypassValidation } = scope
  const { host } = invocation
  host.requireRoom(document.length)
  const collection = collectionForWrite(invocation, ns)
  checkDocument(host, collection, document, { bypass: bypassValidation })
  const { capped } = collection
  if (capped !== null && document.length > capped.sizeBytes)
    throw new CommandError('BadValue', 'object to insert exceeds cappedMaxSize')
  const id = findField(document, '_id')!
  const o2 = keyOfInserted(host, access)?.(document) ?? undefined
  host.apply({ op: 'i', ns, uuid: collection.uuid, object: document, id, session, o2 })
  if (capped !== null) removeOverflow(host, collection)
  return id
}

/** Null: log entries of inserts have no document keys, or they are `_id` alone. */
export function keyOfInserted({ behaviours }: NodeHost, { ownership }: Access): KeyOfInserted | null {
  const shardKey = ownership?.placement.shardKey
  if (shardKey === undefined || !behaviours.insertEntriesHaveKeys) return null
  if (shardKey.paths.length === 1 && shardKey.paths[0] === '_id') return null
  return (document) => shardKey.documentKey(document)
}

function removeOverflow(host: NodeHost, collection: Collection): void {
  for (const { document } of collection.cappedOverflow()) removeDocument(host, collection, document, null)
}

/** @param ownership of a sharded collection: its document keys have the fields of the shard key */
export function removeDocument(
  host: NodeHost,
  { ns, uuid }: Collection,
  document: Uint8Array,
  session: LogSession | null,
  ownership: OwnershipFilter | null = null,
): void {
  const id = findField(document, '_id')!
  const key = ownership?.placement.shardKey.documentKey(document) ?? null
  host.apply({ op: 'd', ns, uuid, object: key ?? new DocumentWriter(64).value('_id', id).finish(), id, session })
}

import { findField, sameBytes, type RawValue } from '@shardlab/bson'
import { clientSession, SessionCatalog, type SessionKey } from '@shardlab/member'
import { type NodeHost } from '@shardlab/node'
import type { LogEntry } from '@shardlab/storage'

export interface CollectionWatcher {
  /**
   * @param before null: inserted
   * @param after null: deleted
   */
  changed(id: RawValue, before: Uint8Array | null, after: Uint8Array | null): void
  /** A statement of a retryable write was executed, also in an internal transaction. */
  executed(client: SessionKey): void
  /** The collection's indexes, options or name were changed, or it was dropped. */
  redefined(): void
}

/** @returns a function that ends the calls */
export function watchCollection(node: NodeHost, uuid: Uint8Array, watcher: CollectionWatcher): () => void {
  return node.observe((entry, preImage) => {
    const { op, session } = entry
    if (entry.uuid === null || !sameBytes(entry.uuid, uuid)) return
    if (op === 'c') return watcher.redefined()
    if (session !== null) watcher.executed(clientSession(SessionCatalog.parseAny(session.lsid)).key)
    // No-ops report a change of the collection to change streams, and change no document.
    if (op !== 'n') reportChange(entry, preImage, watcher)
  })
}

/** As {@link watchCollection}, for {@link CollectionWatcher.redefined} alone. */
export function watchDefinition(node: NodeHost, uuid: Uint8Array, redefined: () => void): () => void {
  return node.observe(({ op, uuid: changed }) => {
    if (op === 'c' && changed !== null && sameBytes(changed, uuid)) redefined()
  })
}

function reportChange({ op, object, id }: LogEntry, preImage: Uint8Array | null, watcher: CollectionWatcher): void {
  watcher.changed(op === 'i' ? findField(object, '_id')! : id!, preImage, op === 'd' ? null : object)
}

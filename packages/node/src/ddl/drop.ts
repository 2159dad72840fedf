import { DocumentWriter } from '@shardlab/bson'
import { splitNamespace } from '@shardlab/member'
import { invalidateCursorsOfDropped } from '../cursors/invalidate-cursors.js'
import type { NodeHost } from '../host/node-host.js'
import { dropView } from '../views/view-catalog.js'

export interface Dropped {
  /** Null for a view. */
  readonly indexCount: number | null
}

/**
 * Drops a collection or view of this node; returns null if there was none. Call
 * {@link NodeHost.flush} afterwards.
 */
export function dropLocalNamespace(node: NodeHost, ns: string): Dropped | null {
  const indexCount = dropLocalCollection(node, ns)
  if (indexCount !== null) return { indexCount }
  return dropView(node, ns) ? { indexCount: null } : null
}

/**
 * Drops a collection of this node and returns its number of indexes; null if there was none. Call
 * {@link NodeHost.flush} afterwards.
 */
export function dropLocalCollection(node: NodeHost, ns: string): number | null {
  const collection = node.collection(ns)
  if (collection === undefined) return null
  const [db, name] = splitNamespace(ns)
  const indexCount = collection.indexes().length
  node.apply({
    op: 'c',
    ns: `${db}.$cmd`,
    uuid: collection.uuid,
    object: new DocumentWriter(64).string('drop', name).finish(),
    id: null,
    session: null,
  })
  invalidateCursorsOfDropped(node, collection)
  return indexCount
}

/** Drops every collection and view of a database on this node. */
export function dropLocalDatabase(node: NodeHost, db: string): void {
  for (const collection of node.engine.collections(db)) dropLocalCollection(node, collection.ns)
}

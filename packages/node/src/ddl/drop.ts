import { DocumentWriter } from '@shardlab/bson'
import { splitNamespace } from '@shardlab/member'
import { invalidateCursorsOfDropped } from '../cursors/invalidate-cursors.js'
import type { NodeHost } from '../host/node-host.js'
import { dropView } from '../views/view-catalog.js'

export interface Dropped {
  /** Null for a view. */
  readonly indexCount: number | null
}

/** null: there was no collection or view. Call {@link NodeHost.flush} afterwards. */
export function dropLocalNamespace(node: NodeHost, ns: string): Dropped | null {
  const indexCount = dropLocalCollection(node, ns)
  if (indexCount !== null) return { indexCount }
  return dropView(node, ns) ? { indexCount: null } : null
}

/**
 * Returns the number of indexes; null: there was no collection. Call {@link NodeHost.flush}
 * afterwards.
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

/** Drops the views too. */
export function dropLocalDatabase(node: NodeHost, db: string): void {
  for (const collection of node.engine.collections(db)) dropLocalCollection(node, collection.ns)
}

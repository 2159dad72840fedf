import { DocumentWriter } from '@shardlab/bson'
import type { StorageNode } from '../storage-node.js'
import { splitNamespace } from './namespace.js'

/** Drops a collection of this node; how many indexes went with it, or null when there was none. {@link StorageNode.flush} follows. */
export function dropLocalCollection(node: StorageNode, ns: string): number | null {
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
  node.cursors.closeWhere((cursor) => cursor.ns === ns)
  return indexCount
}

/** Drops every collection of a database of this node. */
export function dropLocalDatabase(node: StorageNode, db: string): void {
  for (const collection of node.engine.collections(db)) dropLocalCollection(node, collection.ns)
}

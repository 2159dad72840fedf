import { DocumentWriter } from '@shardlab/bson'
import type { Collection } from '@shardlab/storage'
import { splitNamespace } from './namespace.js'
import type { StorageNode } from '../storage-node.js'

/** Builds one index by a log entry; its specification must be complete and checked. */
export function buildIndex(node: StorageNode, collection: Collection, spec: Uint8Array): void {
  const [db, name] = splitNamespace(collection.ns)
  node.apply({
    op: 'c',
    ns: `${db}.$cmd`,
    uuid: collection.uuid,
    object: new DocumentWriter(256).string('createIndexes', name).fields(spec).finish(),
    id: null,
    session: null,
  })
}

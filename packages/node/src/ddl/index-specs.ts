import { DocumentWriter } from '@shardlab/bson'
import type { Collection } from '@shardlab/storage'
import { databaseNameOf, splitNamespace } from '@shardlab/member'
import { invalidateCursorsOfDroppedIndex } from '../cursors/invalidate-cursors.js'
import type { NodeHost } from '../host/node-host.js'

/** The specification must be complete and checked. */
export function buildIndex(node: NodeHost, collection: Collection, spec: Uint8Array): void {
  applyIndexCommand(
    node,
    collection,
    new DocumentWriter(256).string('createIndexes', splitNamespace(collection.ns)[1]).fields(spec).finish(),
  )
}

export function dropIndex(node: NodeHost, collection: Collection, name: string): void {
  applyIndexCommand(
    node,
    collection,
    new DocumentWriter(128).string('dropIndexes', splitNamespace(collection.ns)[1]).string('index', name).finish(),
  )
  invalidateCursorsOfDroppedIndex(node, collection, name)
}

function applyIndexCommand(node: NodeHost, { ns, uuid }: Collection, object: Uint8Array): void {
  node.apply({ op: 'c', ns: `${databaseNameOf(ns)}.$cmd`, uuid, object, id: null, session: null })
}

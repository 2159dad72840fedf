import { DocumentWriter } from '@shardlab/bson'
import type { Collection } from '@shardlab/storage'
import { databaseNameOf, splitNamespace } from '@shardlab/member'
import { invalidateCursorsOfDroppedIndex } from '../cursors/invalidate-cursors.js'
import type { NodeHost } from '../host/node-host.js'
import type { LogChange } from '../log/log-change.js'

/**
 * The specification must be complete and checked.
 * @param fromMigrate whether change streams do not show it: it came with moved documents
 */
export function buildIndex(node: NodeHost, collection: Collection, spec: Uint8Array, fromMigrate = false): void {
  const object = new DocumentWriter(256).string('createIndexes', splitNamespace(collection.ns)[1]).fields(spec)
  applyIndexCommand(node, collection, { object: object.finish(), fromMigrate })
}

export function dropIndex(node: NodeHost, collection: Collection, name: string): void {
  const object = new DocumentWriter(128).string('dropIndexes', splitNamespace(collection.ns)[1]).string('index', name)
  const o2 = collection.index(name)?.spec
  applyIndexCommand(node, collection, { object: object.finish(), ...(o2 === undefined ? {} : { o2 }) })
  invalidateCursorsOfDroppedIndex(node, collection, name)
}

function applyIndexCommand(
  node: NodeHost,
  { ns, uuid }: Collection,
  change: Pick<LogChange, 'object' | 'o2' | 'fromMigrate'>,
): void {
  node.apply({ op: 'c', ns: `${databaseNameOf(ns)}.$cmd`, uuid, id: null, session: null, ...change })
}

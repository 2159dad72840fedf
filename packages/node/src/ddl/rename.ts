import { DocumentWriter, findField } from '@shardlab/bson'
import type { Collection } from '@shardlab/storage'
import { databaseNameOf, splitNamespace, lastingOptions } from '@shardlab/member'
import { invalidateCursorsOfRenamed, releaseCursorsOf } from '../cursors/invalidate-cursors.js'
import type { NodeHost } from '../host/node-host.js'
import { createCollection, idIndexVersionOf } from './namespace.js'
import { dropLocalCollection } from './drop.js'
import { buildIndex } from './index-specs.js'

/**
 * Replaces the target if it exists. Within a database the collection keeps its UUID; into another
 * one it is copied, as on the server. Call {@link NodeHost.flush} afterwards. Server:
 * rename_collection.cpp.
 * @param stayTemp whether a temporary collection stays temporary; default false
 * @param fromMigrate whether change streams do not show the rename: another shard has the event
 */
export function renameLocalCollection(
  node: NodeHost,
  collection: Collection,
  to: string,
  stayTemp = false,
  fromMigrate = false,
): void {
  const from = collection.ns
  const [db] = splitNamespace(from)
  if (db !== databaseNameOf(to)) return copyToOtherDatabase(node, collection, to, stayTemp)
  const replaced = node.collection(to)
  const object = new DocumentWriter(128).string('renameCollection', from).string('to', to).bool('stayTemp', stayTemp)
  if (replaced !== undefined) object.uuid('dropTarget', replaced.uuid)
  node.apply({
    op: 'c',
    ns: `${db}.$cmd`,
    uuid: collection.uuid,
    object: object.finish(),
    id: null,
    session: null,
    fromMigrate,
  })
  if (replaced !== undefined) releaseCursorsOf(node, replaced)
  invalidateCursorsOfRenamed(node, from, to)
}

function copyToOtherDatabase(node: NodeHost, source: Collection, to: string, stayTemp: boolean): void {
  dropLocalCollection(node, to)
  const idIndexVersion = idIndexVersionOf(source.indexes().map(({ spec }) => spec))
  const target = createCollection(node, to, stayTemp ? source.options : lastingOptions(source.options), {
    idIndexVersion,
  })
  const scan = source.snapshot().scan()
  for (let record = scan.next(); record !== null; record = scan.next()) {
    const { document } = record
    node.apply({ op: 'i', ns: to, uuid: target.uuid, object: document, id: findField(document, '_id')!, session: null })
  }
  for (const { name, spec } of source.indexes()) if (name !== '_id_') buildIndex(node, target, spec)
  dropLocalCollection(node, source.ns)
}

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
 * @param fromMigrate whether change streams do not show the drop: another shard has the event
 */
export function dropLocalCollection(node: NodeHost, ns: string, fromMigrate = false): number | null {
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
    fromMigrate,
  })
  invalidateCursorsOfDropped(node, collection)
  return indexCount
}

/** Drops the views too. @param fromMigrate as for {@link dropLocalCollection} */
export function dropLocalDatabase(node: NodeHost, db: string, fromMigrate = false): void {
  const collections = node.engine.collections(db)
  for (const { ns } of collections) dropLocalCollection(node, ns, fromMigrate)
  if (collections.length === 0) return
  const object = new DocumentWriter(32).int32('dropDatabase', 1).finish()
  node.apply({ op: 'c', ns: `${db}.$cmd`, uuid: null, object, id: null, session: null, fromMigrate })
}

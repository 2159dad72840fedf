import { DocumentWriter } from '@shardlab/bson'
import { uuidV4 } from '@shardlab/actor'
import type { Collection } from '@shardlab/storage'
import type { NodeInvocation } from '../invocation.js'
import type { StorageNode } from '../storage-node.js'

/** `db` and collection name of `db.name`; the name may have dots. */
export function splitNamespace(ns: string): [db: string, name: string] {
  const dot = ns.indexOf('.')
  return [ns.slice(0, dot), ns.slice(dot + 1)]
}

/**
 * Creates a collection by a log entry.
 * @param options the options document, without `create`
 * @param uuid given by whoever coordinates; new by default
 */
export function createCollection(
  node: StorageNode,
  ns: string,
  options: Uint8Array,
  uuid: Uint8Array = uuidV4(node.context.random),
): Collection {
  const [db, name] = splitNamespace(ns)
  node.apply({
    op: 'c',
    ns: `${db}.$cmd`,
    uuid,
    object: new DocumentWriter(256).string('create', name).fields(options).finish(),
    id: null,
    session: null,
  })
  return node.collection(ns)!
}

/** The collection that a write goes to, created when this write may create it. */
export function collectionForWrite(invocation: NodeInvocation, ns: string): Collection {
  const { host } = invocation
  const found = host.collection(ns)
  if (found !== undefined) return found
  host.role.checkImplicitCreate(ns, invocation)
  return createCollection(host, ns, emptyOptions)
}

const emptyOptions = new Uint8Array([5, 0, 0, 0, 0])

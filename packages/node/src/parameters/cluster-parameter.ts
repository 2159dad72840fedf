/** Every shard and the config server store the parameters that were set for the cluster. */
import { emptyDocument, findField, stringValue } from '@shardlab/bson'
import { querySettingsParameter } from '@shardlab/member'
import { createCollection } from '../ddl/namespace.js'
import type { NodeHost } from '../host/node-host.js'

const ns = 'config.clusterParameters'

/** Undefined: it was never set. */
export function storedClusterParameter(node: NodeHost, name: string): Uint8Array | undefined {
  return node.collection(ns)?.findById(stringValue(name))?.document
}

export function storedClusterParameters(node: NodeHost): Uint8Array[] {
  const collection = node.collection(ns)
  return collection === undefined ? [] : [...collection.scan()].map(({ document }) => document)
}

/** Call {@link NodeHost.flush} afterwards. */
export function storeClusterParameter(node: NodeHost, document: Uint8Array): void {
  const collection = node.collection(ns) ?? createCollection(node, ns, emptyDocument)
  const id = findField(document, '_id')!
  const op = collection.findById(id) === undefined ? 'i' : 'u'
  node.apply({ op, ns, uuid: collection.uuid, object: document, id, session: null })
  if (id.asString() === querySettingsParameter) node.refreshQuerySettings()
}

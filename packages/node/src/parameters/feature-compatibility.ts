/** Stored where the server stores it. Server: feature_compatibility_version.cpp. */
import { DocumentWriter, emptyDocument, findField, stringValue } from '@shardlab/bson'
import { createCollection } from '../ddl/namespace.js'
import type { NodeHost } from '../host/node-host.js'

const ns = 'admin.system.version'
const id = 'featureCompatibilityVersion'

/** Default: the version of the emulated binaries. */
export function featureCompatibilityVersionOf(node: NodeHost): string {
  const document = node.collection(ns)?.findById(stringValue(id))?.document
  const version = document === undefined ? undefined : findField(document, 'version')
  return version?.asString() ?? node.behaviours.featureCompatibilityVersion
}

/** Call {@link NodeHost.flush} afterwards. */
export function setFeatureCompatibilityVersionOf(node: NodeHost, version: string): void {
  const collection = node.collection(ns) ?? createCollection(node, ns, emptyDocument)
  const object = new DocumentWriter(96).string('_id', id).string('version', version).finish()
  const idValue = findField(object, '_id')!
  const op = collection.findById(idValue) === undefined ? 'i' : 'u'
  node.apply({ op, ns, uuid: collection.uuid, object, id: idValue, session: null })
}

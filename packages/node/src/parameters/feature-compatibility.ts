/** Stored where the server stores it. Server: feature_compatibility_version.cpp. */
import { DocumentWriter, emptyDocument, findField, stringValue } from '@shardlab/bson'
import { createCollection } from '../ddl/namespace.js'
import type { NodeHost } from '../host/node-host.js'

const ns = 'admin.system.version'
const id = 'featureCompatibilityVersion'

/** Default: the version of the emulated binaries. */
export function featureCompatibilityVersionOf(node: NodeHost): string {
  return storedVersion(node) ?? node.behaviours.featureCompatibilityVersion
}

/**
 * For a shard that starts for the first time: it can join a cluster whose binaries are one release
 * older. Server: FeatureCompatibilityVersion::setIfCleanStartup.
 */
export function startWithOldestFeatureCompatibilityVersion(node: NodeHost): void {
  const [oldest] = node.behaviours.featureCompatibilityVersions
  if (oldest !== undefined && storedVersion(node) === null) setFeatureCompatibilityVersionOf(node, oldest)
}

/** null: there is no document */
function storedVersion(node: NodeHost): string | null {
  const document = node.collection(ns)?.findById(stringValue(id))?.document
  return document === undefined ? null : findField(document, 'version')!.asString()
}

/** Call {@link NodeHost.flush} afterwards. */
export function setFeatureCompatibilityVersionOf(node: NodeHost, version: string): void {
  const collection = node.collection(ns) ?? createCollection(node, ns, emptyDocument)
  const object = new DocumentWriter(96).string('_id', id).string('version', version).finish()
  const idValue = findField(object, '_id')!
  const op = collection.findById(idValue) === undefined ? 'i' : 'u'
  node.apply({ op, ns, uuid: collection.uuid, object, id: idValue, session: null })
}

import { findField, stringValue } from '@shardlab/bson'
import { concernDefaultsId } from '@shardlab/member'
import type { NodeHost } from '../../host/node-host.js'

export const configSettings = 'config.settings'

/** The document of setDefaultRWConcern on this member. Null: the defaults were never set. */
export function storedConcernDefaults(node: Pick<NodeHost, 'collection'>): Uint8Array | null {
  return node.collection(configSettings)?.findById(stringValue(concernDefaultsId))?.document ?? null
}

/** Null: not set. */
export function storedDefaultWriteConcern(node: Pick<NodeHost, 'collection'>): Uint8Array | null {
  const defaults = storedConcernDefaults(node)
  const write = defaults === null ? undefined : findField(defaults, 'defaultWriteConcern')
  return write === undefined ? null : write.slice()
}

/**
 * Collections that do not outlive the work they were made for. A member that starts, or becomes the primary, drops those it finds: whoever made
 * them is gone. Server: ReplicationCoordinatorExternalStateImpl::_dropAllTempCollections, clearTempCollections of startup_recovery.cpp.
 */
import { findField } from '@shardlab/bson'
import type { Collection } from '@shardlab/storage'
import type { NodeHost } from '../host/node-host.js'
import { dropLocalCollection } from './drop.js'

/** The option `temp`. */
export function isTemporary({ options }: Collection): boolean {
  return findField(options, 'temp')?.isTruthy() === true
}

/** The entries need no {@link NodeHost.flush}: what does not reach the disk is dropped again at the next start. */
export function dropTemporaryCollections(node: NodeHost): void {
  for (const collection of node.engine.collections())
    if (isTemporary(collection)) dropLocalCollection(node, collection.ns)
}

/**
 * A member drops temporary collections when it starts or becomes primary, because the operation
 * that created them no longer runs. Server:
 * ReplicationCoordinatorExternalStateImpl::_dropAllTempCollections, clearTempCollections of
 * startup_recovery.cpp.
 */
import { findField } from '@shardlab/bson'
import type { Collection } from '@shardlab/storage'
import type { NodeHost } from '../host/node-host.js'
import { dropLocalCollection } from './drop.js'

export function isTemporary({ options }: Collection): boolean {
  return findField(options, 'temp')?.isTruthy() === true
}

/**
 * Needs no {@link NodeHost.flush}: a drop that does not reach the disk is repeated at the next
 * start.
 */
export function dropTemporaryCollections(node: NodeHost): void {
  for (const collection of node.engine.collections())
    if (isTemporary(collection)) dropLocalCollection(node, collection.ns)
}

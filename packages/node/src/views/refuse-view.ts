import { CommandError, toRawValue } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import type { StorageNode } from '../storage-node.js'
import { viewsCollection } from './view-definition.js'

/** For commands that no view has. @throws CommandError 166 CommandNotSupportedOnView */
export function refuseView(node: StorageNode, ns: string): void {
  const views = node.collection(`${databaseNameOf(ns)}.${viewsCollection}`)
  if (views?.findById(toRawValue(ns)) !== undefined)
    throw new CommandError('CommandNotSupportedOnView', `Namespace ${ns} is a view, not a collection`)
}

import { CommandError, stringValue } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import type { NodeHost } from '../host/node-host.js'
import { viewsCollection } from './view-definition.js'

/** @throws CommandError 166 CommandNotSupportedOnView */
export function refuseView(node: NodeHost, ns: string): void {
  const views = node.collection(`${databaseNameOf(ns)}.${viewsCollection}`)
  if (views?.findById(stringValue(ns)) !== undefined)
    throw new CommandError('CommandNotSupportedOnView', `Namespace ${ns} is a view, not a collection`)
}

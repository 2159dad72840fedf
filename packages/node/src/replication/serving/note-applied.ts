import type { LogEntry } from '@shardlab/storage'
import { isNamespaceOfUsers } from '../../users/stored-users.js'
import { timeKeysNamespace } from '../../users/time-keys.js'
import type { StorageNode } from '../../host/storage-node.js'

/** An entry of another member was applied to the data of a node. */
export function noteApplied(node: StorageNode, { op, ns }: LogEntry): void {
  if (op === 'i') node.insertWaiters.notify(ns)
  else if (op === 'c') node.ttl.invalidate()
  if (isNamespaceOfUsers(ns)) node.users.invalidate()
  if (ns === timeKeysNamespace) node.timeKeys?.refresh()
  if (ns === 'config.clusterParameters') node.refreshQuerySettings()
}

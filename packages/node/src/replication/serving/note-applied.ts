import type { LogEntry } from '@shardlab/storage'
import type { StorageNode } from '../../host/storage-node.js'

/** An entry of another member was applied to the data of a node. */
export function noteApplied(node: StorageNode, { op, ns }: LogEntry): void {
  if (op === 'i') node.insertWaiters.notify(ns)
  else if (op === 'c') node.ttl.invalidate()
  if (ns === 'config.clusterParameters') node.refreshQuerySettings()
}

/** How many documents of a collection this shard does not own, as its range deletions say. Server: balancer_stats_registry.cpp. */
import { findField } from '@shardlab/bson'
import type { StorageNode } from '@shardlab/node'
import type { Collection } from '@shardlab/storage'

const rangeDeletions = 'config.rangeDeletions'

/** The sum of `numOrphanDocs` over the range deletions of a collection; 0 when there is none. */
export function orphanCountOf(node: StorageNode, { uuid }: Collection): number {
  const tasks = node.collection(rangeDeletions)
  if (tasks === undefined || tasks.count === 0) return 0
  let orphans = 0
  const scan = tasks.scan()
  for (let record = scan.next(); record !== null; record = scan.next()) {
    const { document } = record
    const collection = findField(document, 'collectionUuid')
    if (collection?.isBinary(uuid) !== true) continue
    const count = findField(document, 'numOrphanDocs')
    if (count?.isNumber() === true) orphans += count.asNumber()
  }
  return orphans
}

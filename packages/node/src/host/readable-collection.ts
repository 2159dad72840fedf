import type { Collection } from '@shardlab/storage'
import { catalogCollection } from '../ddl/catalog-collections.js'
import { oplogCollection } from '../log/oplog-collection.js'
import { configCollection } from '../replication/config-collection.js'
import { transactionsCollection } from '../transactions/transactions-collection.js'
import type { NodeHost } from './node-host.js'

/** With the collections that are computed when they are read. */
export function readableCollection(node: NodeHost, ns: string): Collection | undefined {
  const own = node.collection(ns) ?? catalogCollection(node, ns) ?? oplogCollection(node, ns)
  if (own !== undefined || node.isStandalone) return own
  return configCollection(node.set, ns) ?? transactionsCollection(node.retries, ns)
}

/** What a shard tells of itself to those who count shards and bytes. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { databaseNameOf } from '@shardlab/member'
import { setFeatureCompatibilityVersionOf, type StorageNode } from '@shardlab/node'
import { movePrimary } from '../coordinators/databases/move-primary.js'
import { receiveDocuments } from '../coordinators/databases/copy-collection.js'
import { rangesOf } from '../ranges/ranges-of.js'
import type { ShardHandlers, ShardParts } from '../shard-parts.js'
import { orphanCountOf } from '../range-deletion/orphan-counts.js'

export const membershipHandlers: ShardHandlers<
  | 'shard.introduce'
  | 'shard.set-feature-compatibility-version'
  | 'shard.list-local-namespaces'
  | 'shard.collection-sizes'
  | 'shard.move-primary'
  | 'shard.receive-documents'
> = {
  'shard.introduce': introduce,
  'shard.set-feature-compatibility-version': setFeatureCompatibilityVersion,
  'shard.list-local-namespaces': ({ node }, { db }) => ({
    namespaces: node.engine.collections(db).map(({ ns }) => ns),
  }),
  'shard.collection-sizes': ({ node }, { namespaces }) => ({ sizes: namespaces.map((ns) => ownedBytes(node, ns)) }),
  'shard.move-primary': movePrimary,
  'shard.receive-documents': receiveDocuments,
}

/** Databases that every member has for itself. */
const ownDatabases = ['admin', 'config', 'local']

function introduce({ node }: ShardParts): ReplyOf<'shard.introduce'> {
  const databases = new Set(node.engine.collections().map(({ ns }) => databaseNameOf(ns)))
  return {
    setName: node.context.address,
    host: node.context.endpoint,
    databases: [...databases].filter((db) => !ownDatabases.includes(db)).sort(),
  }
}

async function setFeatureCompatibilityVersion(
  { node }: ShardParts,
  { version }: RequestOf<'shard.set-feature-compatibility-version'>,
): Promise<ReplyOf<'shard.set-feature-compatibility-version'>> {
  setFeatureCompatibilityVersionOf(node, version)
  await node.flush()
  return {}
}

/** Orphans count with the average size of a document. Server: shardsvr_get_stats_for_balancing_command.cpp. */
function ownedBytes(node: StorageNode, ns: string): number {
  const collection = node.collection(ns)
  if (collection === undefined) return 0
  const { documents, bytes } = rangesOf(node, collection).totals
  return documents === 0 ? 0 : Math.max(0, bytes - orphanCountOf(node, collection) * Math.trunc(bytes / documents))
}

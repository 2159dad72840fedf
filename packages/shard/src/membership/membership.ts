import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { databaseNameOf } from '@shardlab/member'
import {
  setFeatureCompatibilityVersionOf,
  setHostsOf,
  storeClusterParameter,
  storedDefaultWriteConcern,
} from '@shardlab/node'
import { internalDatabases } from '@shardlab/query'
import type { ShardHandlers } from '../host/handlers.js'
import type { ShardHost } from '../host/host.js'

export const membershipHandlers: ShardHandlers<
  | 'shard.introduce'
  | 'shard.set-cluster-parameters'
  | 'shard.set-feature-compatibility-version'
  | 'shard.list-local-namespaces',
  ShardHost
> = {
  'shard.introduce': introduce,
  'shard.set-cluster-parameters': setClusterParameters,
  'shard.set-feature-compatibility-version': setFeatureCompatibilityVersion,
  'shard.list-local-namespaces': ({ node }, { db }) => ({
    namespaces: node.engine.collections(db).map(({ ns }) => ns),
  }),
}

function introduce({ node }: ShardHost): ReplyOf<'shard.introduce'> {
  const databases = new Set(node.engine.collections().map(({ ns }) => databaseNameOf(ns)))
  return {
    setName: node.role.setName,
    ...setHostsOf(node),
    defaultWriteConcern: storedDefaultWriteConcern(node),
    databases: [...databases].filter((db) => !internalDatabases.has(db)).sort(),
  }
}

async function setClusterParameters(
  { node }: ShardHost,
  { documents }: RequestOf<'shard.set-cluster-parameters'>,
): Promise<ReplyOf<'shard.set-cluster-parameters'>> {
  for (const document of documents) storeClusterParameter(node, document)
  if (documents.length > 0) await node.flushToMajority()
  return {}
}

async function setFeatureCompatibilityVersion(
  { node }: ShardHost,
  { version }: RequestOf<'shard.set-feature-compatibility-version'>,
): Promise<ReplyOf<'shard.set-feature-compatibility-version'>> {
  setFeatureCompatibilityVersionOf(node, version)
  await node.flushToMajority()
  return {}
}

/** Server: validateCollectionOptions of analyze_shard_key_util.cpp. */
import type { KeyAnalysis } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { noConcerns } from '@shardlab/member'
import { viewOf, type Access, type NodeHost } from '@shardlab/node'
import { ShardKeyPattern, type OwnershipFilter } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'

export function analysedCollection(node: NodeHost, ns: string): Collection {
  if (viewOf(node, ns) !== null)
    throw new CommandError('CommandNotSupportedOnView', 'The namespace corresponds to a view')
  const collection = node.collection(ns)
  if (collection === undefined) throw new CommandError('NamespaceNotFound', 'The namespace does not exist')
  return collection
}

export interface AnalysedKey {
  readonly collection: Collection
  /** Null: not sharded. */
  readonly ownership: OwnershipFilter | null
  readonly shardKey: ShardKeyPattern
}

/** @throws CommandError 13388, 249 for stale routers; 166; 26; 2 for an invalid shard key */
export async function enterAnalysis(
  node: NodeHost,
  { ns, key, shardVersion, databaseVersion }: KeyAnalysis,
): Promise<AnalysedKey> {
  // The server runs an aggregation on the shards.
  const operation = { command: 'aggregate' }
  const entered = node.role.enter(ns, {
    host: node,
    routed: { shardVersion, databaseVersion },
    concerns: noConcerns,
    operation,
  })
  const { ownership }: Access = entered instanceof Promise ? await entered : entered
  return {
    collection: analysedCollection(node, ns),
    ownership,
    shardKey: ShardKeyPattern.parse(key, { compoundHashed: true }),
  }
}

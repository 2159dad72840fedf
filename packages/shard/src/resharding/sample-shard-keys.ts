/** Server: the pipeline of SamplingBasedSplitPolicy, initial_split_policy.cpp. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { CommandError, sameBytes } from '@shardlab/bson'
import { ShardKeyPattern } from '@shardlab/sharding'
import type { PlacementHost } from '../host/host.js'
import type { RangeStore } from '../ranges/collection-ranges.js'

/** @throws CommandError 26 NamespaceNotFound, 61 ShardKeyNotFound */
export async function sampleShardKeys(
  { node, placements, ranges }: PlacementHost & { readonly ranges: RangeStore },
  { ns, uuid, keyPattern, size }: RequestOf<'shard.sample-shard-keys'>,
): Promise<ReplyOf<'shard.sample-shard-keys'>> {
  const placement = await placements.refreshCollection(ns)
  const collection = node.collection(ns)
  if (
    placement === null ||
    collection === undefined ||
    !sameBytes(placement.uuid, uuid) ||
    !sameBytes(collection.uuid, uuid)
  )
    throw new CommandError('NamespaceNotFound', `Collection ${ns} was dropped or recreated`)
  const shardKey = ShardKeyPattern.parse(keyPattern, { compoundHashed: true })
  const random = node.context.random.fork('resharding-sample')
  const sampled = await ranges.of(collection).sampleKeys(placement, shardKey, size, random)
  return { ...sampled, error: null }
}

/** Server: the pipeline of SamplingBasedSplitPolicy, initial_split_policy.cpp. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { CommandError, sameBytes } from '@shardlab/bson'
import { OwnershipFilter, ShardKeyPattern } from '@shardlab/sharding'
import type { PlacementHost } from '../host/host.js'

/** Exclusive. */
const weightsEnd = 2 ** 32

interface Sample {
  readonly weight: number
  readonly document: Uint8Array
}

/**
 * Gives each owned document a random weight; those with the lowest ones are the sample.
 * @throws CommandError 26 NamespaceNotFound, 61 ShardKeyNotFound
 */
export async function sampleShardKeys(
  { node, placements }: PlacementHost,
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
  const filter = new OwnershipFilter(placement, node.context.address)
  const random = node.context.random.fork('resharding-sample')
  let samples: Sample[] = []
  const keepLowest = () => {
    samples = samples.sort((a, b) => a.weight - b.weight).slice(0, size)
  }
  const scan = collection.snapshot().scan()
  for (let record = scan.next(); record !== null; record = scan.next()) {
    if (!filter.owns(record.document)) continue
    samples.push({ weight: random.below(weightsEnd), document: record.document })
    if (samples.length >= 2 * size + 1000) keepLowest()
  }
  keepLowest()
  const shardKey = ShardKeyPattern.parse(keyPattern, { compoundHashed: true })
  const keys = samples.map(({ document }) => {
    const key = shardKey.extract(document)
    if (typeof key === 'string')
      throw new CommandError('ShardKeyNotFound', 'Shard key cannot contain array values or array descendants.')
    return shardKey.boundDocument(key.values)
  })
  return { keys, weights: samples.map(({ weight }) => weight), error: null }
}

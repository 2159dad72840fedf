import type { Random } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { addKeys, type NodeHost, type SteppedWork } from '@shardlab/node'
import { OwnershipFilter, type CollectionPlacement, type ShardKeyPattern } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import { sampleWeightsEnd, type SampledKeys } from '../collection-ranges.js'

interface Sample {
  readonly weight: number
  readonly document: Uint8Array
}

interface Sampled {
  readonly node: NodeHost
  readonly collection: Collection
  readonly source: CollectionPlacement
  /** The new one. */
  readonly shardKey: ShardKeyPattern
}

/** Gives each owned document a random weight; those with the lowest ones are the sample. */
export function* sampleKeys(
  { node, collection, source, shardKey }: Sampled,
  size: number,
  random: Random,
): SteppedWork<SampledKeys> {
  const filter = new OwnershipFilter(source, node.context.address)
  let samples: Sample[] = []
  const keepLowest = () => {
    samples = samples.sort((a, b) => a.weight - b.weight).slice(0, size)
  }
  yield* addKeys(node, collection)
  const scan = collection.snapshot().scan()
  for (let record = scan.next(); record !== null; record = scan.next()) {
    yield
    if (!filter.owns(record.document)) continue
    samples.push({ weight: random.below(sampleWeightsEnd), document: record.document })
    if (samples.length >= 2 * size + 1000) keepLowest()
  }
  keepLowest()
  const keys = samples.map(({ document }) => {
    const key = shardKey.extract(document)
    if (typeof key === 'string')
      throw new CommandError('ShardKeyNotFound', 'Shard key cannot contain array values or array descendants.')
    return shardKey.boundDocument(key.values)
  })
  return { keys, weights: samples.map(({ weight }) => weight) }
}

import { configAddress, type ActorContext } from '@shardlab/actor'
import { decode } from '@shardlab/bson'
import PQueue from 'p-queue'

/** Most shards that a coordinator sends requests to at the same time. */
const participantsInFlightMax = 16

/** Runs the work for each shard, some at a time; the first failure ends it. */
export async function forEachShard<T>(shards: readonly string[], work: (shard: string) => Promise<T>): Promise<T[]> {
  const queue = new PQueue({ concurrency: participantsInFlightMax })
  return queue.addAll(shards.map((shard) => () => work(shard)))
}

export async function otherShards(context: ActorContext): Promise<string[]> {
  const { shards } = await context.request(configAddress, 'config.get-shards', {})
  return shards.map((shard) => decode(shard)['_id'] as string).filter((id) => id !== context.address)
}

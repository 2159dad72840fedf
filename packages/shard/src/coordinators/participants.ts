import { configAddress, type ActorContext } from '@shardlab/actor'
import { findField } from '@shardlab/bson'
import PQueue from 'p-queue'

const participantsInFlightMax = 16

/** The first failure ends the work. */
export async function forEachShard<T>(shards: readonly string[], work: (shard: string) => Promise<T>): Promise<T[]> {
  const queue = new PQueue({ concurrency: participantsInFlightMax })
  return queue.addAll(shards.map((shard) => () => work(shard)))
}

export async function otherShards(context: ActorContext): Promise<string[]> {
  const { shards } = await context.request(configAddress, 'config.get-shards', {})
  return shards.map((shard) => findField(shard, '_id')!.asString()).filter((id) => id !== context.address)
}

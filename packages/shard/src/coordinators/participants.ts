import { configAddress, type ActorContext } from '@shardlab/actor'
import { findField } from '@shardlab/bson'
import PQueue from 'p-queue'

const participantsInFlightMax = 16

/**
 * Settles when no work is under way: a participant must not act after its coordinator has released
 * the locks.
 * @throws the first failure; work that has not begun then is left out
 */
export async function forEachShard<T>(shards: readonly string[], work: (shard: string) => Promise<T>): Promise<T[]> {
  const queue = new PQueue({ concurrency: participantsInFlightMax })
  try {
    return await queue.addAll(shards.map((shard) => () => work(shard)))
  } catch (error) {
    queue.clear()
    await queue.onIdle()
    throw error
  }
}

export async function otherShards(context: ActorContext): Promise<string[]> {
  const { shards } = await context.request(configAddress, 'config.get-shards', {})
  return shards.map((shard) => findField(shard, '_id')!.asString()).filter((id) => id !== context.address)
}

import { expectTargeted, TargetingError, type ShardedCluster, type TargetedOperation } from '@shardlab/cluster'

/**
 * Runs an operation and checks on how many shards each of its commands ran, whatever the reason: a
 * broadcast in a cluster of three shards runs on 3. `expectTargeted` refuses broadcasts.
 * @returns the result of the operation; of a cursor its documents
 * @throws TargetingError with the shards that were asked, or when nothing was routed
 */
export async function expectShards<T>(
  cluster: ShardedCluster,
  shards: number,
  operation: TargetedOperation<T>,
): Promise<T> {
  let result: { readonly value: T } | null = null
  const run = async (): Promise<T> => {
    const running = operation()
    const value = await ('toArray' in running ? running.toArray() : running)
    result = { value }
    return value
  }
  try {
    return await expectTargeted(cluster, shards, run)
  } catch (error) {
    // A broadcast to exactly this number of shards.
    if (!(error instanceof TargetingError) || error.routed.length === 0 || result === null) throw error
    if (error.routed.some((event) => event.shards.length !== shards)) throw error
    return (result as { readonly value: T }).value
  }
}

import type { RoutedEvent } from '@shardlab/actor'
import type { ShardedCluster } from './sharded-cluster.js'

/** Returns a promise, or a cursor, which is then read to its end. */
export type TargetedOperation<T> = () => PromiseLike<T> | { toArray(): PromiseLike<T> }

export class TargetingError extends Error {
  override readonly name = 'TargetingError'
  /** All events during the operation, in order. */
  readonly routed: readonly RoutedEvent[]

  constructor(message: string, routed: readonly RoutedEvent[]) {
    super(message)
    this.routed = routed
  }
}

/**
 * Runs an operation and checks that each of its commands asked that many shards. A write that is
 * retried because the router's placement was stale counts the shards of all attempts.
 *
 * Operations of other clients count as well, so run none at the same time. Commands on `config` and
 * `admin` and a cursor's getMore are not routed by shard key and do not count.
 * @param shardCount 1 for a targeted operation; for a broadcast the number of shards that own
 *   chunks
 * @returns the result of the operation; of a cursor its documents
 * @throws TargetingError with the shards that were asked and the reason, or when nothing was routed
 */
export async function expectTargeted<T>(
  cluster: ShardedCluster,
  shardCount: number,
  operation: TargetedOperation<T>,
): Promise<T> {
  const routed: RoutedEvent[] = []
  const listen = (event: RoutedEvent): void => {
    routed.push(event)
  }
  cluster.on('routed', listen)
  try {
    await deliverEvents(cluster)
    const running = operation()
    const result = await ('toArray' in running ? running.toArray() : running)
    await deliverEvents(cluster)
    const wrong = routed.find((event) => event.shards.length !== shardCount)
    if (wrong !== undefined)
      throw new TargetingError(`${sentence(wrong)}; expected ${plural(shardCount, 'shard')}`, routed)
    if (routed.length === 0)
      throw new TargetingError(
        `nothing was routed to a collection; expected an operation on ${plural(shardCount, 'shard')}`,
        routed,
      )
    return result
  } finally {
    cluster.off('routed', listen)
  }
}

/**
 * Once a router has answered, it watches the requested events and has delivered the earlier ones.
 */
async function deliverEvents(cluster: ShardedCluster): Promise<void> {
  const routers = cluster.members().filter(({ role, state }) => role === 'mongos' && state === 'running')
  await Promise.all(routers.map(({ address }) => cluster.describe(address)))
}

/** `find on app.orders asked 3 shards (…): …`. */
function sentence(event: RoutedEvent): string {
  return `${event.command} on ${event.ns} asked ${plural(event.shards.length, 'shard')} (${event.shards.join(', ')}), ${reason(event)}`
}

function reason({ shardKey, kind, bounds, chunks }: RoutedEvent): string {
  if (shardKey === null) return 'because the collection is not sharded'
  if (kind === 'broadcast') return `a broadcast, because it does not constrain the shard key ${shardKey}`
  if (bounds.length === 0) return `by the shard key ${shardKey}`
  const shown = bounds.slice(0, 3).map(([low, high]) => (low === high ? low : `${low} to ${high}`))
  const more = bounds.length > shown.length ? ', …' : ''
  return `because its bounds in the shard key ${shardKey} are ${shown.join(', ')}${more}, which overlap ${plural(chunks, 'chunk')}`
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

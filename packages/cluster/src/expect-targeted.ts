/** A test helper: how many shards an operation asked, and which and why when it was another number. */
import type { RoutedEvent } from '@shardlab/actor'
import type { ShardedCluster } from './sharded-cluster.js'

/** What {@link expectTargeted} can run: what gives a promise, or a cursor, which is then read to its end. */
export type TargetedOperation<T> = () => PromiseLike<T> | { toArray(): PromiseLike<T> }

/** An operation asked another number of shards than expected. */
export class TargetingError extends Error {
  override readonly name = 'TargetingError'
  /** What the routers routed meanwhile, in order. */
  readonly routed: readonly RoutedEvent[]

  constructor(message: string, routed: readonly RoutedEvent[]) {
    super(message)
    this.routed = routed
  }
}

/**
 * Runs an operation and checks that every command it is made of asked so many shards. A write that tries again because the router's placement
 * was stale counts the shards of all tries.
 *
 * All that clients do on this cluster meanwhile counts, so nothing else may run beside it. Commands on `config` and `admin` and a cursor's
 * getMore are not routed by shard key and do not count.
 * @param shardCount 1 for a targeted operation, the number of shards that own chunks for a broadcast
 * @returns what the operation gives; of a cursor its documents
 * @throws TargetingError a sentence that tells which shards were asked and why; also when nothing was routed at all
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
    await settle(cluster)
    const running = operation()
    const result = await ('toArray' in running ? running.toArray() : running)
    await settle(cluster)
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

/** What a router was asked to watch holds when it has answered, and what it had to tell has arrived. */
async function settle(cluster: ShardedCluster): Promise<void> {
  const routers = cluster.members().filter(({ role, state }) => role === 'mongos' && state === 'running')
  await Promise.all(routers.map(({ address }) => cluster.describe(address)))
}

/** `find on app.orders asked 3 shards (…): …`. */
function sentence(event: RoutedEvent): string {
  return `${event.command} on ${event.ns} asked ${plural(event.shards.length, 'shard')} (${event.shards.join(', ')}), ${reason(event)}`
}

function reason({ shardKey, kind, bounds, chunks }: RoutedEvent): string {
  if (shardKey === null) return 'as the collection is not sharded'
  if (kind === 'broadcast') return `a broadcast: it does not say where in the shard key ${shardKey} to look`
  if (bounds.length === 0) return `by the shard key ${shardKey}`
  const shown = bounds.slice(0, 3).map(([low, high]) => (low === high ? low : `${low} to ${high}`))
  const more = bounds.length > shown.length ? ', …' : ''
  return `as its bounds in the shard key ${shardKey} are ${shown.join(', ')}${more}, which touches ${plural(chunks, 'chunk')}`
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

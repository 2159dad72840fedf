import { counted } from '@shardlab/quantities'
import type { RoutedEvent } from '@shardlab/actor'
import { OptionError } from './option-error.js'
import type { ShardedCluster } from './sharded-cluster.js'

/** Returns a promise, or a cursor, which is then read to its end. */
export type TargetedOperation<T> = () => PromiseLike<T> | { toArray(): PromiseLike<T> }

const routingKinds = ['targeted', 'multi', 'broadcast', 'unsharded'] as const

/** The kind of a `routed` event, or `unsharded`: the collection has no shard key. */
export type RoutingKind = (typeof routingKinds)[number]

/**
 * A number: the shard key leads to that many shards, so a broadcast fails, even where one shard
 * owns all chunks. A kind: on any number of shards.
 */
export type ExpectedRouting = number | RoutingKind | { readonly kind: RoutingKind; readonly shards: number }

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
 * Runs an operation and checks where each of its commands was routed. A write that is retried
 * because the router's placement was stale counts the shards of all attempts.
 *
 * Operations of other clients count as well, so run none at the same time. Commands on `config` and
 * `admin` and a cursor's getMore are not routed by shard key and do not count.
 * @param expected 1 for a targeted operation, 'broadcast' for one to all shards that own chunks
 * @returns the result of the operation; of a cursor its documents
 * @throws TargetingError with the shards that were asked and the reason, or when nothing was routed
 * @throws OptionError an argument is wrong; nothing was run then
 */
export async function expectTargeted<T>(
  cluster: ShardedCluster,
  expected: ExpectedRouting,
  operation: TargetedOperation<T>,
): Promise<T> {
  const { kind, shards } = wantedFrom(expected)
  if (typeof cluster?.describe !== 'function')
    throw new OptionError('expectTargeted: the first argument must be a ShardedCluster.')
  if (typeof operation !== 'function')
    throw new OptionError(
      'expectTargeted: the third argument must be a function that runs the operation, such as () => orders.find({ … }).',
    )
  const routed: RoutedEvent[] = []
  const listen = (event: RoutedEvent): void => {
    routed.push(event)
  }
  cluster.on('routed', listen)
  try {
    await deliverEvents(cluster)
    const running = operation()
    if (typeof running !== 'object' || running === null)
      throw new OptionError(
        'expectTargeted: the operation must return a promise or a cursor: return what the driver returns.',
      )
    const result = await ('toArray' in running ? running.toArray() : running)
    await deliverEvents(cluster)
    const wrong = routed.find(
      (event) =>
        (shards !== null && event.shards.length !== shards) ||
        (kind === null ? !isByShardKey(event) : kindOf(event) !== kind),
    )
    if (wrong !== undefined)
      throw new TargetingError(`${await sentence(wrong)}; expected ${text(kind, shards)}`, routed)
    if (routed.length === 0)
      throw new TargetingError(`nothing was routed to a collection; expected ${text(kind, shards)}`, routed)
    return result
  } finally {
    cluster.off('routed', listen)
  }
}

interface Wanted {
  /** null: any in which the shard key determines the shards. */
  readonly kind: RoutingKind | null
  /** null: any number. */
  readonly shards: number | null
}

function wantedFrom(expected: ExpectedRouting): Wanted {
  const wanted: Wanted =
    typeof expected === 'number'
      ? { kind: null, shards: expected }
      : typeof expected === 'string'
        ? { kind: expected, shards: null }
        : { kind: expected?.kind ?? null, shards: expected?.shards ?? null }
  const { kind, shards } = wanted
  const isKind = kind === null || routingKinds.includes(kind)
  if (!isKind || (kind === null && shards === null) || (shards !== null && (!Number.isInteger(shards) || shards < 1)))
    throw new OptionError(
      `expectTargeted: ${JSON.stringify(expected) ?? 'undefined'} must be a number of shards from 1, a kind (${routingKinds.join(', ')}), or { kind, shards }.`,
    )
  return wanted
}

function kindOf({ shardKey, kind }: RoutedEvent): RoutingKind {
  return shardKey === null ? 'unsharded' : kind
}

function isByShardKey({ shardKey, kind }: RoutedEvent): boolean {
  return shardKey !== null && kind !== 'broadcast'
}

function text(kind: RoutingKind | null, shards: number | null): string {
  const count = shards === null ? '' : counted(shards, 'shard')
  if (kind === null) return `${count} by the shard key`
  return count === '' ? `the kind ${kind}` : `the kind ${kind} on ${count}`
}

/**
 * Once a router has answered, it watches the requested events and has delivered the earlier ones.
 */
async function deliverEvents(cluster: ShardedCluster): Promise<void> {
  const routers = cluster.members().filter(({ role, state }) => role === 'mongos' && state === 'running')
  await Promise.all(routers.map(({ address }) => cluster.describe(address)))
}

/** `find on app.orders asked 3 shards (…): …`. */
async function sentence(event: RoutedEvent): Promise<string> {
  const { routingReason } = await import('@shardlab/dashboard')
  return `${event.command} on ${event.ns} asked ${counted(event.shards.length, 'shard')} (${event.shards.join(', ')}), ${routingReason(event)}`
}

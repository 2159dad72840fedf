import { toExtendedJson } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import type { Targeting } from '@shardlab/sharding'
import type { Route } from '../routing/route.js'
import type { CountedCommand, TargetedHosts } from './statistics.js'

export interface RoutedTo {
  readonly ns: string
  readonly route: Route
  readonly shards: readonly string[]
  readonly kind: 'targeted' | 'multi' | 'broadcast'
  readonly chunks: number
  readonly bounds: readonly (readonly [low: Uint8Array, high: Uint8Array])[]
}

/** For numHostsTargeted. */
export interface CountedTargets {
  readonly command: CountedCommand
  readonly shardCount: number
  /** Of all sharded collections that take part; undefined: those of the routed collection. */
  readonly ownerCount?: number
}

export function routedToPrimary(ns: string, route: Route, shard: string): RoutedTo {
  return { ns, route, shards: [shard], kind: 'targeted', chunks: 0, bounds: [] }
}

export function routedBy(ns: string, route: Route, targeting: Omit<Targeting, 'exactKey'>): RoutedTo {
  const { shards, kind, chunks } = targeting
  return {
    ns,
    route,
    shards,
    kind,
    chunks,
    get bounds() {
      return targeting.bounds
    },
  }
}

export function isRoutingWatched({ host }: MongosInvocation): boolean {
  return host.sampling?.isActive === true || host.context.wants('routed')
}

export function noteRouted(invocation: MongosInvocation, counted: readonly CountedTargets[], to: RoutedTo): void {
  countRouted(invocation, counted, to.route)
  emitRouted(invocation, to)
}

export function countRouted({ host }: MongosInvocation, counted: readonly CountedTargets[], route: Route): void {
  for (const each of counted) host.statistics.countTargeted(each.command, hostsOf(route, each))
}

export function emitRouted(invocation: MongosInvocation, to: RoutedTo): void {
  const { host, operation } = invocation
  if (host.sampling?.isActive === true) host.sampling.noteRouted(invocation, to.ns, to.shards)
  if ((to.route.kind !== 'sharded' && to.route.kind !== 'unsharded') || !host.context.wants('routed')) return
  const atMs = host.context.now()
  host.context.emit({
    type: 'routed',
    atMs,
    mongos: host.context.address,
    opId: operation.id,
    connectionId: invocation.connectionId,
    ns: to.ns,
    command: operation.command,
    shardKey: to.route.kind === 'sharded' ? toExtendedJson(to.route.placement.shardKey.document) : null,
    kind: to.kind,
    shards: to.shards,
    chunks: to.chunks,
    bounds: to.bounds
      .slice(0, host.limits.eventBoundsMax)
      .map(([low, high]) => [toExtendedJson(low), toExtendedJson(high)]),
    durationMs: atMs - operation.startedAtMs,
  })
}

/**
 * A multi-write goes to all shards of the cluster, including shards without chunks. Server:
 * NumHostsTargetedMetrics::parseTargetType.
 */
function hostsOf(route: Route, { shardCount, ownerCount }: CountedTargets): TargetedHosts {
  const owners = ownerCount ?? (route.kind === 'sharded' ? route.placement.table.owners().length : 0)
  if (owners === 0) return 'unsharded'
  if (shardCount === 1) return 'oneShard'
  return shardCount >= owners ? 'allShards' : 'manyShards'
}

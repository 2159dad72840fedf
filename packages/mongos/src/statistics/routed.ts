import type { RoutedEvent } from '@shardlab/actor'
import { toExtendedJson } from '@shardlab/bson'
import { evenly } from './even-sample.js'
import type { LimitsHost, MongosInvocation } from '../host/mongos-host.js'
import type { Targeting } from '@shardlab/sharding'
import type { Route } from '../routing/route.js'
import type { NotedTarget, RoutedTarget } from './routed-target.js'
import type { CountedCommand, TargetedHosts } from './statistics.js'

export interface RoutedTo extends RoutedTarget {
  readonly route: Route
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
  return host.sampling?.isActive === true || boundsShown(host) > 0
}

/** How many bounds of an operation someone watches; 0: none. */
export function boundsShown({ context, limits }: LimitsHost): number {
  return context.wants('routed') || context.wants('operations') ? limits.eventBoundsMax : 0
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
  const { route } = to
  if (route.kind !== 'sharded' && route.kind !== 'unsharded') return
  const noted = { target: to, placement: route.kind === 'sharded' ? route.placement : null }
  if (host.context.wants('operations')) (operation.routed ??= []).push(noted)
  if (!host.context.wants('routed')) return
  const durationMs = host.context.steadyNow() - operation.startedSteadyMs
  host.context.emit({ type: 'routed', ...describeRouted(invocation, noted), durationMs })
}

export function describeRouted(
  { host, operation, connectionId }: MongosInvocation,
  { target, placement }: NotedTarget,
): Omit<RoutedEvent, 'type' | 'durationMs'> {
  const { ns, kind, shards, chunks, bounds } = target
  return {
    ...{ atMs: host.context.now(), mongos: host.context.address, opId: operation.id, connectionId },
    ...{ ns, command: operation.command },
    shardKey: placement === null ? null : toExtendedJson(placement.shardKey.document),
    ...{ kind, shards, chunks },
    bounds: evenly(bounds, host.limits.eventBoundsMax).map(([low, high]) => [
      toExtendedJson(low),
      toExtendedJson(high),
    ]),
  }
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

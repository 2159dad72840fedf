import { toExtendedJson } from '@shardlab/bson'
import type { MongosInvocation } from '../command/invocation.js'
import type { Route } from '../routing/route.js'
import type { CountedCommand, TargetedHosts } from './statistics.js'

/** Where an operation went. */
export interface RoutedTo {
  readonly ns: string
  readonly route: Route
  readonly shards: readonly string[]
  readonly kind: 'targeted' | 'multi' | 'broadcast'
  readonly chunks: number
  readonly bounds: readonly (readonly [low: Uint8Array, high: Uint8Array])[]
}

/** Where an operation on an unsharded collection goes. */
export function routedToPrimary(ns: string, route: Route, shard: string): RoutedTo {
  return { ns, route, shards: [shard], kind: 'targeted', chunks: 0, bounds: [] }
}

/** Counts an operation that has been routed and tells whoever watches. */
export function noteRouted({ host, operation }: MongosInvocation, command: CountedCommand | null, to: RoutedTo): void {
  if (to.route.kind !== 'sharded' && to.route.kind !== 'unsharded') return
  if (command !== null) host.statistics.countTargeted(command, hostsOf(to))
  if (!host.context.wants('routed')) return
  const atMs = host.context.now()
  host.context.emit({
    type: 'routed',
    atMs,
    mongos: host.context.address,
    opId: operation.id,
    ns: to.ns,
    command: operation.command,
    kind: to.kind,
    shards: to.shards,
    chunks: to.chunks,
    bounds: to.bounds.slice(0, host.limits.eventBoundsMax).map(([low, high]) => [toExtendedJson(low), toExtendedJson(high)]),
    durationMs: atMs - operation.startedAtMs,
  })
}

function hostsOf({ route, shards }: RoutedTo): TargetedHosts {
  if (route.kind !== 'sharded') return 'unsharded'
  if (shards.length === 1) return 'oneShard'
  return shards.length >= route.placement.table.owners().length ? 'allShards' : 'manyShards'
}

import type { MongosInvocation } from '../command/invocation.js'
import type { Route } from '../routing/route.js'
import type { RoutedTo } from '../statistics/routed.js'

/** Where the statements of one command went, all together. */
export class RoutedSummary {
  readonly #shards = new Set<string>()
  readonly #boundsMax: number
  readonly #bounds: (readonly [Uint8Array, Uint8Array])[] = []
  #chunks = 0

  constructor({ host }: MongosInvocation) {
    this.#boundsMax = host.context.wants('routed') ? host.limits.eventBoundsMax : 0
  }

  add(shards: readonly string[], chunks: number, bounds: readonly (readonly [Uint8Array, Uint8Array])[]): void {
    for (const shard of shards) this.#shards.add(shard)
    this.#chunks += chunks
    for (const bound of bounds) if (this.#bounds.length < this.#boundsMax) this.#bounds.push(bound)
  }

  finish(ns: string, route: Route): RoutedTo {
    const shards = [...this.#shards].sort()
    const owners = route.kind === 'sharded' ? route.placement.table.owners().length : 1
    const chunks = route.kind === 'sharded' ? Math.min(this.#chunks, route.placement.table.chunkCount) : 0
    return {
      ns,
      route,
      shards,
      kind: shards.length <= 1 ? 'targeted' : shards.length >= owners ? 'broadcast' : 'multi',
      chunks,
      bounds: this.#bounds,
    }
  }
}

import type { WriteKind } from '@shardlab/member'
import type { MongosInvocation } from '../../host/mongos-host.js'
import type { Route } from '../../routing/route.js'
import type { CountedTargets, RoutedTo } from '../../statistics/routed.js'

const writeKinds: readonly WriteKind[] = ['insert', 'update', 'delete']

type Bounds = readonly (readonly [low: Uint8Array, high: Uint8Array])[]

/** Where the statements of one command on one collection went, all together. */
export class RoutedSummary {
  /** No sets: of a few shards a list is faster. */
  readonly #shards: Record<WriteKind, string[]> = { insert: [], update: [], delete: [] }
  readonly #boundsMax: number
  readonly #bounds: (readonly [Uint8Array, Uint8Array])[] = []
  #chunks = 0
  /** Most shards that one statement was sent to. */
  #widest = 0

  constructor({ host }: MongosInvocation) {
    this.#boundsMax = host.context.wants('routed') ? host.limits.eventBoundsMax : 0
  }

  /** One statement. */
  add(kind: WriteKind, shards: readonly string[], chunks: number, bounds: Bounds): void {
    const seen = this.#shards[kind]
    for (const shard of shards) if (!seen.includes(shard)) seen.push(shard)
    if (shards.length > this.#widest) this.#widest = shards.length
    this.#chunks += chunks
    for (const bound of bounds) if (this.#bounds.length < this.#boundsMax) this.#bounds.push(bound)
  }

  /** How many shards each kind of statement went to: what is counted. Server: Stats::updateMetrics of the write executor. */
  get counted(): CountedTargets[] {
    const counted: CountedTargets[] = []
    for (const command of writeKinds) {
      const shardCount = this.#shards[command].length
      if (shardCount > 0) counted.push({ command, shardCount })
    }
    return counted
  }

  /** For whoever watches. A broadcast is what sends one statement everywhere, not what sends many to a shard each. */
  finish(ns: string, route: Route): RoutedTo {
    const shards = [...new Set(writeKinds.flatMap((kind) => this.#shards[kind]))].sort()
    const owners = route.kind === 'sharded' ? route.placement.table.owners().length : 1
    const chunks = route.kind === 'sharded' ? Math.min(this.#chunks, route.placement.table.chunkCount) : 0
    return {
      ns,
      route,
      shards,
      kind: shards.length <= 1 ? 'targeted' : this.#widest >= owners && this.#widest > 1 ? 'broadcast' : 'multi',
      chunks,
      bounds: this.#bounds,
    }
  }
}

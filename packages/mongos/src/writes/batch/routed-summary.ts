import type { WriteKind } from '@shardlab/member'
import type { MongosInvocation } from '../../host/mongos-host.js'
import type { Route } from '../../routing/route.js'
import type { CountedTargets, RoutedTo } from '../../statistics/routed.js'

const writeKinds: readonly WriteKind[] = ['insert', 'update', 'delete']

type Bounds = readonly (readonly [low: Uint8Array, high: Uint8Array])[]

/** Covers all statements of one command on one collection. */
export class RoutedSummary {
  /** Arrays are faster than sets for the usual few shards. */
  readonly #shards: Record<WriteKind, string[]> = { insert: [], update: [], delete: [] }
  readonly #boundsMax: number
  readonly #bounds: (readonly [Uint8Array, Uint8Array])[] = []
  #chunks = 0
  /** The largest number of shards that one statement was sent to. */
  #widest = 0

  constructor({ host }: MongosInvocation) {
    this.#boundsMax = host.context.wants('routed') ? host.limits.eventBoundsMax : 0
  }

  add(kind: WriteKind, shards: readonly string[], chunks: number, bounds: Bounds): void {
    const seen = this.#shards[kind]
    for (const shard of shards) if (!seen.includes(shard)) seen.push(shard)
    if (shards.length > this.#widest) this.#widest = shards.length
    this.#chunks += chunks
    for (const bound of bounds) if (this.#bounds.length < this.#boundsMax) this.#bounds.push(bound)
  }

  /** Server: Stats::updateMetrics of the write executor. */
  get counted(): CountedTargets[] {
    const counted: CountedTargets[] = []
    for (const command of writeKinds) {
      const shardCount = this.#shards[command].length
      if (shardCount > 0) counted.push({ command, shardCount })
    }
    return counted
  }

  /**
   * Broadcast means that one statement went to all shards, not many statements to one shard each.
   */
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

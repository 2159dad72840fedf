import type { WriteKind } from '@shardlab/member'
import type { MongosInvocation } from '../../host/mongos-host.js'
import type { Route } from '../../routing/route.js'
import { boundsShown, type CountedTargets, type RoutedTo } from '../../statistics/routed.js'
import { EvenSample } from '../../statistics/even-sample.js'
import type { StatementBounds } from '../targeting/statement-target.js'

const writeKinds: readonly WriteKind[] = ['insert', 'update', 'delete']

/** Covers all statements of one command on one collection. */
export class RoutedSummary {
  /** Arrays are faster than sets for the usual few shards. */
  readonly #shards: Record<WriteKind, string[]> = { insert: [], update: [], delete: [] }
  readonly #bounds: EvenSample<readonly [Uint8Array, Uint8Array]>
  #chunks = 0
  #isBroadcast = false

  constructor({ host }: MongosInvocation) {
    this.#bounds = new EvenSample(boundsShown(host))
  }

  add(kind: WriteKind, shards: readonly string[], { isBroadcast, chunks, bounds }: StatementBounds): void {
    this.addShards(kind, shards)
    if (isBroadcast) this.#isBroadcast = true
    this.#chunks += chunks
    for (const bound of bounds) this.#bounds.add(bound)
  }

  /** Of a statement that is not targeted by a shard key. */
  addShards(kind: WriteKind, shards: readonly string[]): void {
    const seen = this.#shards[kind]
    for (const shard of shards) if (!seen.includes(shard)) seen.push(shard)
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
   * Broadcast: the shard key did not target a statement, or it went to all shards. Many statements
   * for one shard each are no broadcast.
   */
  finish(ns: string, route: Route): RoutedTo {
    const shards = [...new Set(writeKinds.flatMap((kind) => this.#shards[kind]))].sort()
    const chunks = route.kind === 'sharded' ? Math.min(this.#chunks, route.placement.table.chunkCount) : 0
    return {
      ns,
      route,
      shards,
      kind: this.#isBroadcast ? 'broadcast' : shards.length <= 1 ? 'targeted' : 'multi',
      chunks,
      bounds: this.#bounds.items,
    }
  }
}

/** What it takes to empty a shard: from `removeShard` until the shard has left. */
import type { MigrationEvent } from '@shardlab/cluster'
import type { DrainResult } from '../types.js'
import { periodOf, type BalancingPeriod } from './balancing-periods.js'

interface Drain {
  readonly shard: string
  readonly beganMs: number
  removedMs: number | null
  bytes: number
  migrations: number
  /** Of those in which a migration of the shard was committed. */
  readonly periods: Set<number>
}

export class Drains {
  readonly #periods: readonly BalancingPeriod[]
  readonly #drains: Drain[] = []

  constructor(periods: readonly BalancingPeriod[]) {
    this.#periods = periods
  }

  began(shard: string, atMs: number): void {
    this.#drains.push({ shard, beganMs: atMs, removedMs: null, bytes: 0, migrations: 0, periods: new Set() })
  }

  removed(shard: string, atMs: number): void {
    const drain = this.#running(shard)
    if (drain !== undefined) drain.removedMs = atMs
  }

  onCommitted({ from, bytes }: MigrationEvent, atMs: number): void {
    const drain = this.#running(from)
    if (drain === undefined) return
    drain.bytes += bytes
    drain.migrations++
    drain.periods.add(periodOf(this.#periods, atMs))
  }

  results(): Record<string, DrainResult> {
    return Object.fromEntries(
      this.#drains.map(({ shard, periods, ...drain }) => [shard, { ...drain, windows: periods.size }]),
    )
  }

  #running(shard: string): Drain | undefined {
    return this.#drains.find((drain) => drain.shard === shard && drain.removedMs === null)
  }
}

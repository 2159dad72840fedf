/** Accounts of a scenario, kept from the events of its cluster. */
import type { ClusterEvent } from '@shardlab/cluster'

const day = 86_400_000

export interface Moved {
  readonly atMs: number
  readonly from: string
  readonly to: string
  readonly bytes: number
  readonly documents: number
}

export class Ledger {
  readonly moved: Moved[] = []
  readonly startedAt: number[] = []
  readonly jumbo = new Set<string>()
  /** Owned bytes of the donor minus those of the recipient, when a chunk left for balance. */
  readonly differences: number[] = []
  readonly criticalMs: number[] = []
  aborted = 0
  splits = 0
  mergedOver = 0
  mostOrphans = 0
  readonly most = new Map<string, { bytes: number; diskBytes: number; orphans: number }>()
  readonly #indexBytes: number
  readonly #sizes = new Map<string, { bytes: number; diskBytes: number; orphans: number }>()
  readonly #begun = new Map<string, number>()
  readonly #entered = new Map<string, number>()
  #isCounting = false
  /** Time 0 of the scenario. */
  midnightMs = 0
  #lastMs = 0

  /** @param indexBytes of a document in all indexes */
  constructor(indexBytes: number) {
    this.#indexBytes = indexBytes
  }

  readonly onEvent = (event: ClusterEvent): void => {
    this.#lastMs = event.atMs
    if (event.type === 'collection-size') this.#resize(event)
    if (event.type === 'migration') this.#migrate(event)
    if (event.type === 'split') this.splits++
    if (event.type === 'merge') this.mergedOver++
    if (event.type === 'balancer-round')
      for (const { from, to, min, reason, outcome } of event.migrations) {
        const difference = this.#begun.get(`${from} ${to} ${min}`)
        if (reason === 'chunksImbalance' && outcome === 'moved' && difference !== undefined)
          this.differences.push(difference)
      }
  }

  /** The data is loaded, and nothing has moved. */
  begin(): void {
    this.midnightMs = Math.ceil(this.#lastMs / day) * day
    this.#isCounting = true
    for (const [shard, sizes] of this.#sizes) this.most.set(shard, { ...sizes })
    this.mostOrphans = this.#orphans()
  }

  #resize(event: Extract<ClusterEvent, { type: 'collection-size' }>): void {
    const { shard, bytes, ownedBytes, orphans, documents } = event
    // Entries of _id, and of the shard key with 12 bytes and 9 for each field.
    const diskBytes = bytes + documents * this.#indexBytes
    this.#sizes.set(shard, { bytes: ownedBytes, diskBytes, orphans })
    if (!this.#isCounting) return
    const most = this.most.get(shard) ?? { bytes: 0, diskBytes: 0, orphans: 0 }
    this.most.set(shard, {
      bytes: Math.max(most.bytes, ownedBytes),
      diskBytes: Math.max(most.diskBytes, diskBytes),
      orphans: Math.max(most.orphans, orphans),
    })
    this.mostOrphans = Math.max(this.mostOrphans, this.#orphans())
  }

  #migrate(event: Extract<ClusterEvent, { type: 'migration' }>): void {
    const { id, stage, atMs, from, to, min, bytes, documents } = event
    if (stage === 'started') {
      this.startedAt.push(atMs)
      this.#begun.set(`${from} ${to} ${min}`, this.#bytesOf(from) - this.#bytesOf(to))
    } else if (stage === 'critical-section') this.#entered.set(id, atMs)
    else if (stage === 'committed' || stage === 'aborted') {
      if (stage === 'committed') this.moved.push({ atMs, from, to, bytes, documents })
      else this.aborted++
      const entered = this.#entered.get(id)
      if (entered !== undefined) this.criticalMs.push(atMs - entered)
    }
  }

  #bytesOf(shard: string): number {
    return this.#sizes.get(shard)?.bytes ?? 0
  }

  #orphans(): number {
    return sum([...this.#sizes.values()].map(({ orphans }) => orphans))
  }
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

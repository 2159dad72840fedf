import type { OperationsOfChunks } from '@shardlab/actor'
import { hexOfKey } from '@shardlab/sharding'
import type { NotedTarget } from './routed-target.js'

const entriesMax = 500

interface Sum {
  readonly ns: string
  readonly first: string
  readonly last: string
  operations: number
}

/** How many operations each chunk has had, by the bounds that are kept of each operation. */
export class ChunkSums {
  readonly #sums = new Map<string, Sum>()

  add({ target: { ns, kind, bounds }, placement }: NotedTarget): void {
    // A broadcast says nothing about chunks.
    if (placement === null || kind === 'broadcast') return
    const { shardKey, table } = placement
    for (const [low, high] of bounds) {
      const from = shardKey.keyStringOfBound(low)
      if (from === undefined) continue
      const first = table.lowerBoundOf(from)
      const last = low === high ? first : table.lowerBoundOf(shardKey.keyStringOfBound(high) ?? from)
      this.#count(ns, first, last, 1 / bounds.length)
    }
  }

  /** The sums since the last call. */
  take(): OperationsOfChunks[] {
    const taken = [...this.#sums.values()].map(({ ns, first, last, operations }): OperationsOfChunks => {
      return [ns, hexOfKey(first), hexOfKey(last), operations]
    })
    this.#sums.clear()
    return taken
  }

  #count(ns: string, first: string, last: string, operations: number): void {
    const key = `${ns} ${first} ${last}`
    const sum = this.#sums.get(key)
    if (sum !== undefined) sum.operations += operations
    else if (this.#sums.size < entriesMax) this.#sums.set(key, { ns, first, last, operations })
  }
}

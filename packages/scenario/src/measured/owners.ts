/** Owners of the key space according to the catalog. */
import { keyStringNumbers } from '@shardlab/bson'
import type { RoutingTable } from '@shardlab/sharding'
import type { Weighted } from './key-space.js'

/** Neighbouring chunks of one shard. */
interface Run {
  readonly x: number
  readonly y: number
  readonly shard: string
}

export interface Owned extends Weighted {
  readonly shard: string
}

export class Owners {
  readonly #runs: readonly Run[]
  readonly count: number

  /** @param table null: no owners */
  constructor(table: RoutingTable | null) {
    const runs: Run[] = []
    for (const [min, shard] of table?.runs() ?? []) {
      const [x, y] = keyStringNumbers(min)
      runs.push({ x, y, shard })
    }
    this.#runs = runs
    this.count = table?.owners().length ?? 0
  }

  split(part: Weighted): Owned[] {
    const owned: Owned[] = []
    const { weight } = part
    let { x0, y0 } = part
    let before = 0
    const first = this.#at(x0, y0)
    for (let i = first; i < this.#runs.length; i++) {
      const next = this.#runs[i + 1]
      const until = next === undefined ? 1 : shareBelow(part, next)
      const { shard } = this.#runs[i]!
      if (until >= 1) {
        owned.push({ ...part, x0, y0, weight: weight * (1 - before), shard })
        break
      }
      if (until <= before) continue
      owned.push({ x0, y0, x1: next!.x, y1: next!.y, weight: weight * (until - before), shard })
      x0 = next!.x
      y0 = next!.y
      before = until
    }
    return owned
  }

  /**
   * Targets of operations that read `length` values from a key.
   * @param below share of operations that start below a key
   * @returns `single`: share of operations that one shard can answer; `perShard`: operations per
   * shard for one operation
   */
  ofRanges(
    length: number,
    below: (x: number) => number,
  ): { readonly single: number; readonly perShard: ReadonlyMap<string, number> } {
    const perShard = new Map<string, number>()
    let single = 0
    this.#runs.forEach(({ x, shard }, i) => {
      const end = this.#runs[i + 1]?.x ?? Number.POSITIVE_INFINITY
      const asking = below(end) - below(x - length + 1)
      perShard.set(shard, Math.min(1, (perShard.get(shard) ?? 0) + asking))
      single += Math.max(0, below(end - length + 1) - below(x))
    })
    return { single, perShard }
  }

  get shards(): readonly string[] {
    return [...new Set(this.#runs.map(({ shard }) => shard))]
  }

  #at(x: number, y: number): number {
    let [low, high] = [0, this.#runs.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      const run = this.#runs[middle]!
      if (run.x < x || (run.x === x && run.y <= y)) low = middle
      else high = middle - 1
    }
    return low
  }
}

function shareBelow({ x0, y0, x1, y1 }: Weighted, at: { readonly x: number; readonly y: number }): number {
  if (at.x < x0 || (at.x === x0 && at.y <= y0)) return 0
  if (at.x > x1 || (at.x === x1 && at.y >= y1)) return 1
  return x1 > x0 ? (at.x - x0) / (x1 - x0) : (at.y - y0) / (y1 - y0)
}

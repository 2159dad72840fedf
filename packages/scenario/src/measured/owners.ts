/** Owners of the key space according to the catalog. */
import { keyStringNumbers } from '@shardlab/bson'
import type { RoutingTable } from '@shardlab/sharding'
import type { Weighted } from './key-space.js'

/** Neighbouring chunks of one shard. */
interface Run {
  readonly x: number
  readonly y: number
  readonly z: number
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
      const [x, y, z] = keyStringNumbers(min)
      runs.push({ x, y, z, shard })
    }
    this.#runs = runs
    this.count = table?.owners().length ?? 0
  }

  split(part: Weighted): Owned[] {
    const owned: Owned[] = []
    const { weight } = part
    let { x0, y0, z0 } = part
    let before = 0
    const first = this.#at(x0, y0, z0)
    for (let i = first; i < this.#runs.length; i++) {
      const next = this.#runs[i + 1]
      const until = next === undefined ? 1 : shareBelow(part, next)
      const { shard } = this.#runs[i]!
      if (until >= 1) {
        owned.push({ x0, y0, z0, x1: part.x1, y1: part.y1, z1: part.z1, weight: weight * (1 - before), shard })
        break
      }
      if (until <= before) continue
      owned.push({ x0, y0, z0, x1: next!.x, y1: next!.y, z1: next!.z, weight: weight * (until - before), shard })
      x0 = next!.x
      y0 = next!.y
      z0 = next!.z
      before = until
    }
    return owned
  }

  #at(x: number, y: number, z: number): number {
    let [low, high] = [0, this.#runs.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      const run = this.#runs[middle]!
      if (run.x < x || (run.x === x && (run.y < y || (run.y === y && run.z <= z)))) low = middle
      else high = middle - 1
    }
    return low
  }
}

function shareBelow({ x0, y0, z0, x1, y1, z1 }: Weighted, at: Omit<Run, 'shard'>): number {
  if (!isBelow({ x: x0, y: y0, z: z0 }, at)) return 0
  if (!isBelow(at, { x: x1, y: y1, z: z1 })) return 1
  if (x1 > x0) return (at.x - x0) / (x1 - x0)
  return y1 > y0 ? (at.y - y0) / (y1 - y0) : (at.z - z0) / (z1 - z0)
}

function isBelow(a: Omit<Run, 'shard'>, b: Omit<Run, 'shard'>): boolean {
  return a.x !== b.x ? a.x < b.x : a.y !== b.y ? a.y < b.y : a.z < b.z
}

/** How the chunks of one collection lie on the shards, as the policies look at it. Server: balancer_policy.h, DistributionStatus. */

/** A shard as the balancer sees it. */
export interface ShardStatistics {
  readonly id: string
  readonly isDraining: boolean
  readonly zones: readonly string[]
  /** Can it take no more? Only old versions have limits. */
  readonly isFull: boolean
}

/** A chunk with its bounds as KeyStrings. */
export interface ChunkPlace {
  readonly min: string
  readonly max: string
  readonly shard: string
  readonly isJumbo: boolean
}

/** A range of a zone, with its bounds as KeyStrings. */
export interface ZoneRange {
  readonly min: string
  readonly max: string
  readonly zone: string
}

/** The zone of chunks that are in none. */
export const noZone = ''

export class Distribution {
  readonly chunkCount: number
  /** Names of all zones with ranges, sorted. */
  readonly zones: readonly string[]
  readonly #ranges: readonly ZoneRange[]
  readonly #byShard = new Map<string, { readonly chunk: ChunkPlace; readonly zone: string }[]>()

  /** @param chunks in key order */
  constructor(chunks: readonly ChunkPlace[], ranges: readonly ZoneRange[]) {
    this.chunkCount = chunks.length
    this.#ranges = ranges
    this.zones = [...new Set(ranges.map(({ zone }) => zone))].sort()
    for (const chunk of chunks) {
      const placed = { chunk, zone: zoneOf(chunk, ranges) }
      const others = this.#byShard.get(chunk.shard)
      if (others === undefined) this.#byShard.set(chunk.shard, [placed])
      else others.push(placed)
    }
  }

  /** Chunks of a shard in key order, those of one zone or all of them, each with its zone. */
  chunksOn(shard: string, zone?: string): readonly { readonly chunk: ChunkPlace; readonly zone: string }[] {
    const placed = this.#byShard.get(shard) ?? []
    return zone === undefined ? placed : placed.filter((each) => each.zone === zone)
  }

  /** The zone that holds the whole chunk. */
  zoneOf(chunk: ChunkPlace): string {
    return zoneOf(chunk, this.#ranges)
  }

  countIn(zone: string): number {
    return [...this.#byShard.keys()].reduce((sum, shard) => sum + this.chunksOn(shard, zone).length, 0)
  }
}

/** The zone that holds the whole chunk. */
function zoneOf({ min, max }: ChunkPlace, ranges: readonly ZoneRange[]): string {
  return ranges.find((range) => range.min <= min && max <= range.max)?.zone ?? noZone
}

/** Bounds of zones that fall within chunks, by chunk: there the balancer splits before it moves anything. */
export function splitsAtZones(chunks: readonly ChunkPlace[], ranges: readonly ZoneRange[]): ReadonlyMap<ChunkPlace, readonly string[]> {
  const bounds = [...new Set(ranges.flatMap(({ min, max }) => [min, max]))].sort()
  const splits = new Map<ChunkPlace, string[]>()
  for (const chunk of chunks) {
    const inside = bounds.filter((bound) => chunk.min < bound && bound < chunk.max)
    if (inside.length > 0) splits.set(chunk, inside)
  }
  return splits
}

/** Server: balancer_policy.h, DistributionStatus. */

export interface ShardStatistics {
  readonly id: string
  readonly isDraining: boolean
  readonly zones: readonly string[]
  /** Whether it has reached its size limit (old versions only). */
  readonly isFull: boolean
}

/** Bounds are KeyStrings. */
export interface ChunkPlace {
  readonly min: string
  readonly max: string
  readonly shard: string
  readonly isJumbo: boolean
}

/** Immutable, in key order. */
export interface ChunkSequence<C extends ChunkPlace = ChunkPlace> extends Iterable<C> {
  readonly length: number
}

/** Bounds are KeyStrings. */
export interface ZoneRange {
  readonly min: string
  readonly max: string
  readonly zone: string
}

export const noZone = ''

/** With the zone that contains all of the chunk. */
export interface ZonedChunk {
  readonly chunk: ChunkPlace
  readonly zone: string
}

export class Distribution {
  readonly chunkCount: number
  /** With ranges, sorted. */
  readonly zones: readonly string[]
  readonly #ranges: ZoneRanges
  readonly #byShard: ReadonlyMap<string, ChunkSequence>

  /**
   * @param chunks in key order: all of them, or those of each shard
   * @param ranges the same list again reuses its cached counts
   */
  constructor(chunks: readonly ChunkPlace[] | ReadonlyMap<string, ChunkSequence>, ranges: readonly ZoneRange[]) {
    this.#byShard = isByShard(chunks) ? chunks : byShardOf(chunks)
    let chunkCount = 0
    for (const own of this.#byShard.values()) chunkCount += own.length
    this.chunkCount = chunkCount
    this.#ranges = zoneRangesOf(ranges)
    this.zones = this.#ranges.zones
  }

  /**
   * A new list in key order.
   * @param zone default: of all zones
   */
  chunksOn(shard: string, zone?: string): readonly ZonedChunk[] {
    const placed = [...this.eachOn(shard)]
    return zone === undefined ? placed : placed.filter((each) => each.zone === zone)
  }

  /** As {@link chunksOn}, one by one. */
  *eachOn(shard: string): Generator<ZonedChunk, void, void> {
    for (const chunk of this.#own(shard)) yield { chunk, zone: this.zoneOf(chunk) }
  }

  /** The first one that is not jumbo. */
  firstMovableOn(shard: string, zone: string): ChunkPlace | undefined {
    for (const chunk of this.#own(shard)) if (!chunk.isJumbo && this.zoneOf(chunk) === zone) return chunk
    return undefined
  }

  countOn(shard: string, zone?: string): number {
    const own = this.#own(shard)
    if (zone === undefined || own.length === 0) return own.length
    if (this.zones.length === 0) return zone === noZone ? own.length : 0
    return this.#ranges.countsOf(own).get(zone) ?? 0
  }

  /** {@link noZone} included. */
  zonesOn(shard: string): Iterable<string> {
    const own = this.#own(shard)
    return own.length === 0 ? [] : this.#ranges.countsOf(own).keys()
  }

  zoneOf(chunk: ChunkPlace): string {
    return this.#ranges.zoneOf(chunk)
  }

  countIn(zone: string): number {
    let sum = 0
    for (const shard of this.#byShard.keys()) sum += this.countOn(shard, zone)
    return sum
  }

  #own(shard: string): ChunkSequence {
    return this.#byShard.get(shard) ?? none
  }
}

const none: readonly ChunkPlace[] = []

function isByShard(
  chunks: readonly ChunkPlace[] | ReadonlyMap<string, ChunkSequence>,
): chunks is ReadonlyMap<string, ChunkSequence> {
  return !Array.isArray(chunks)
}

export function byShardOf<C extends ChunkPlace>(chunks: readonly C[]): ReadonlyMap<string, readonly C[]> {
  const byShard = new Map<string, C[]>()
  for (const chunk of chunks) {
    const others = byShard.get(chunk.shard)
    if (others === undefined) byShard.set(chunk.shard, [chunk])
    else others.push(chunk)
  }
  return byShard
}

/** Caches counts per chunk list. Lists are immutable, so counts stay valid. */
class ZoneRanges {
  readonly zones: readonly string[]
  /** Sorted by lower bound. */
  readonly #sorted: readonly ZoneRange[]
  readonly #counts = new WeakMap<ChunkSequence, ReadonlyMap<string, number>>()

  constructor(ranges: readonly ZoneRange[]) {
    this.zones = [...new Set(ranges.map(({ zone }) => zone))].sort()
    this.#sorted = ranges.toSorted((a, b) => (a.min < b.min ? -1 : a.min > b.min ? 1 : 0))
  }

  zoneOf({ min, max }: ChunkPlace): string {
    const ranges = this.#sorted
    let low = 0
    let high = ranges.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (ranges[middle]!.min <= min) low = middle + 1
      else high = middle
    }
    const range = ranges[low - 1]
    return range !== undefined && max <= range.max ? range.zone : noZone
  }

  countsOf(chunks: ChunkSequence): ReadonlyMap<string, number> {
    const known = this.#counts.get(chunks)
    if (known !== undefined) return known
    const counts = new Map<string, number>()
    if (this.zones.length === 0) counts.set(noZone, chunks.length)
    else
      for (const chunk of chunks) {
        const zone = this.zoneOf(chunk)
        counts.set(zone, (counts.get(zone) ?? 0) + 1)
      }
    this.#counts.set(chunks, counts)
    return counts
  }
}

const rangesSeen = new WeakMap<readonly ZoneRange[], ZoneRanges>()

function zoneRangesOf(ranges: readonly ZoneRange[]): ZoneRanges {
  const known = rangesSeen.get(ranges)
  if (known !== undefined) return known
  const made = new ZoneRanges(ranges)
  rangesSeen.set(ranges, made)
  return made
}

/**
 * Bounds of zones that fall inside chunks, in key order. The balancer splits there before it moves
 * anything.
 */
export function splitsAtZones<C extends ChunkPlace>(
  chunks: { holding(key: string): C | undefined },
  ranges: readonly ZoneRange[],
): ReadonlyMap<C, readonly string[]> {
  const bounds = [...new Set(ranges.flatMap(({ min, max }) => [min, max]))].sort()
  const splits = new Map<C, string[]>()
  for (const bound of bounds) {
    const chunk = chunks.holding(bound)
    if (chunk === undefined || chunk.min === bound) continue
    const inside = splits.get(chunk)
    if (inside === undefined) splits.set(chunk, [bound])
    else inside.push(bound)
  }
  return splits
}

/**
 * Which chunks of one collection move where: off draining shards first, then into their zones, then for balance. Each shard takes part in
 * one migration. Server: BalancerPolicy::balance.
 */
import { noZone, type ChunkPlace, type Distribution, type ShardStatistics } from './distribution.js'
import type { Load } from './load.js'
import type { Migration, MigrationReason } from './migration.js'

export interface SelectionInput {
  /** In the order of config.shards: ties go to the first. */
  readonly shards: readonly ShardStatistics[]
  readonly distribution: Distribution
  readonly load: Load
  /** Shards that may take part; those that do are taken out. */
  readonly available: Set<string>
  /** Are chunks that are too large moved all the same? From draining shards they always are. */
  readonly attemptJumbo: boolean
}

export interface Selection {
  /** The strongest reason comes first. */
  readonly migrations: readonly Migration[]
  /** For people: why there are no more. */
  readonly notes: readonly string[]
}

export function selectMigrations(input: SelectionInput): Selection {
  const selector = new Selector(input)
  selector.drain()
  if (input.available.size >= 2) selector.repairZones()
  if (input.available.size >= 2) selector.balance()
  return { migrations: selector.migrations, notes: selector.notes }
}

class Selector {
  readonly migrations: Migration[] = []
  readonly notes: string[] = []
  readonly #input: SelectionInput

  constructor(input: SelectionInput) {
    this.#input = input
  }

  drain(): void {
    const { shards, distribution, available } = this.#input
    for (const shard of shards) {
      if (available.size < 2) return
      if (!shard.isDraining || !available.has(shard.id) || distribution.chunksOn(shard.id).length === 0) continue
      const moved = this.#moveFirst(shard.id, distribution.chunksOn(shard.id), 'draining', () => `${shard.id} is draining`, true)
      if (!moved && this.migrations.length === 0) available.delete(shard.id)
    }
  }

  repairZones(): void {
    const { shards, distribution, available, attemptJumbo } = this.#input
    if (distribution.zones.length === 0) return
    for (const shard of shards) {
      if (available.size < 2) return
      if (!available.has(shard.id)) continue
      const strangers = distribution.chunksOn(shard.id).filter(({ zone }) => zone !== noZone && !shard.zones.includes(zone))
      this.#moveFirst(shard.id, strangers, 'zoneViolation', (zone) => `${shard.id} does not carry zone ${zone}`, attemptJumbo)
    }
  }

  balance(): void {
    const { shards, distribution, load, available, attemptJumbo } = this.#input
    for (const zone of [...distribution.zones, noZone]) {
      for (;;) {
        const candidates = shards.filter(({ id }) => available.has(id))
        const { from, to, because } = load.imbalance(zone, candidates, this.#receiver(zone))
        if (from === null) {
          this.notes.push(because)
          break
        }
        const chunk = distribution.chunksOn(from, zone).find((each) => !each.chunk.isJumbo)?.chunk
        if (chunk === undefined) {
          this.notes.push(`${from} has only jumbo chunks there`)
          break
        }
        this.#move({ chunk, from, to, reason: 'chunksImbalance', because, force: attemptJumbo })
      }
    }
  }

  #moveFirst(
    from: string,
    chunks: readonly { readonly chunk: ChunkPlace; readonly zone: string }[],
    reason: MigrationReason,
    because: (zone: string) => string,
    force: boolean,
  ): boolean {
    for (const { chunk, zone } of chunks) {
      if (chunk.isJumbo) {
        this.notes.push(`${because(zone)}, but a jumbo chunk stays`)
        continue
      }
      const to = this.#receiver(zone)
      if (to === null) {
        this.notes.push(`${because(zone)}, but no available shard can take the chunk`)
        continue
      }
      this.#move({ chunk, from, to, reason, because: `${because(zone)}, and ${to} has the least: ${this.#input.load.text(to)}`, force })
      return true
    }
    return false
  }

  #move(migration: Migration): void {
    this.migrations.push(migration)
    this.#input.available.delete(migration.from)
    this.#input.available.delete(migration.to)
  }

  #receiver(zone: string): string | null {
    return leastLoadedReceiver(this.#input, zone)
  }
}

/** The least loaded shard that can take chunks of the zone, the first one of equals; null: none can. */
export function leastLoadedReceiver(
  { shards, available, load }: Pick<SelectionInput, 'shards' | 'load'> & { readonly available: ReadonlySet<string> },
  zone: string,
): string | null {
  let best: string | null = null
  for (const { id, isDraining, isFull, zones } of shards) {
    if (!available.has(id) || isDraining || isFull || (zone !== noZone && !zones.includes(zone))) continue
    if (load.of(id) < (best === null ? Number.POSITIVE_INFINITY : load.of(best))) best = id
  }
  return best
}

/**
 * Selects the chunks of one collection that move, and where to: first off draining shards, then
 * into their zones, then for balance. Each shard takes part in one migration. Server:
 * BalancerPolicy::balance.
 */
import { noZone, type Distribution, type ShardStatistics, type ZonedChunk } from './distribution.js'
import type { Load } from './load.js'
import type { Migration, MigrationReason } from './migration.js'

export interface SelectionInput {
  /** In the order of config.shards: ties go to the first. */
  readonly shards: readonly ShardStatistics[]
  readonly distribution: Distribution
  readonly load: Load
  /** Shards that may take part. Selected shards are removed. */
  readonly available: Set<string>
  /** Whether chunks that are too large are moved. Off draining shards they always are. */
  readonly attemptJumbo: boolean
}

export interface Selection {
  /** Strongest reason first. */
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
  /** By zone. */
  readonly #receivers = new Map<string, Queue>()

  constructor(input: SelectionInput) {
    this.#input = input
  }

  drain(): void {
    const { shards, distribution, available } = this.#input
    for (const shard of shards) {
      if (available.size < 2) return
      if (!shard.isDraining || !available.has(shard.id) || distribution.countOn(shard.id) === 0) continue
      const moved = this.#moveFirst(
        shard.id,
        distribution.eachOn(shard.id),
        'draining',
        () => `${shard.id} is draining`,
        true,
      )
      if (!moved && this.migrations.length === 0) available.delete(shard.id)
    }
  }

  repairZones(): void {
    const { shards, distribution, available, attemptJumbo } = this.#input
    if (distribution.zones.length === 0) return
    for (const shard of shards) {
      if (available.size < 2) return
      if (!available.has(shard.id)) continue
      const strange = new Set<string>()
      for (const zone of distribution.zonesOn(shard.id))
        if (zone !== noZone && !shard.zones.includes(zone)) strange.add(zone)
      if (strange.size === 0) continue
      const strangers = distribution.chunksOn(shard.id).filter(({ zone }) => strange.has(zone))
      this.#moveFirst(
        shard.id,
        strangers,
        'zoneViolation',
        (zone) => `${shard.id} does not carry zone ${zone}`,
        attemptJumbo,
      )
    }
  }

  balance(): void {
    const { distribution, load, available, attemptJumbo } = this.#input
    for (const zone of [...distribution.zones, noZone]) {
      const givers = giversOf(this.#input, zone)
      for (;;) {
        const { from, to, because } = load.imbalance(zone, givers.first(available), this.#receiver(zone))
        if (from === null) {
          this.notes.push(because)
          break
        }
        const chunk = distribution.firstMovableOn(from, zone)
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
    chunks: Iterable<ZonedChunk>,
    reason: MigrationReason,
    because: (zone: string) => string,
    force: boolean,
  ): boolean {
    const without = new Set<string>()
    for (const { chunk, zone } of chunks) {
      if (chunk.isJumbo) {
        this.notes.push(`${because(zone)}, but a jumbo chunk stays`)
        continue
      }
      if (without.has(zone)) continue
      const to = this.#receiver(zone)
      if (to === null) {
        without.add(zone)
        this.notes.push(`${because(zone)}, but no available shard can take the chunk`)
        continue
      }
      this.#move({
        chunk,
        from,
        to,
        reason,
        because: `${because(zone)}, and ${to} has the least: ${this.#input.load.text(to)}`,
        force,
      })
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
    let queue = this.#receivers.get(zone)
    if (queue === undefined) this.#receivers.set(zone, (queue = receiversOf(this.#input, zone)))
    return queue.first(this.#input.available)
  }
}

/** Shards ordered by rank, taken from the front. */
class Queue {
  readonly #shards: readonly string[]
  #at = 0

  /**
   * @param shards ties go to the first
   * @param rankOf the lowest rank is taken first; null: the shard is left out
   */
  constructor(shards: readonly ShardStatistics[], rankOf: (shard: ShardStatistics) => number | null) {
    // Most of a thousand shards share a rank, so sort ranks instead of shards.
    const byRank = new Map<number, string[]>()
    for (const shard of shards) {
      const rank = rankOf(shard)
      if (rank === null) continue
      const equals = byRank.get(rank)
      if (equals === undefined) byRank.set(rank, [shard.id])
      else equals.push(shard.id)
    }
    const inOrder: string[] = []
    for (const rank of [...byRank.keys()].sort((a, b) => a - b))
      for (const shard of byRank.get(rank)!) inOrder.push(shard)
    this.#shards = inOrder
  }

  /** The first available shard; null: none. A shard that is unavailable once stays so. */
  first(available: ReadonlySet<string>): string | null {
    while (this.#at < this.#shards.length && !available.has(this.#shards[this.#at]!)) this.#at++
    return this.#shards[this.#at] ?? null
  }
}

/** Shards with chunks of the zone, largest first. */
function giversOf({ shards, load }: SelectionInput, zone: string): Queue {
  return new Queue(shards, ({ id }) => {
    const has = load.inZone(zone, id)
    return has > 0 ? -has : null
  })
}

/** Shards that can take chunks of the zone, smallest first. */
function receiversOf({ shards, load }: Pick<SelectionInput, 'shards' | 'load'>, zone: string): Queue {
  return new Queue(shards, ({ id, isDraining, isFull, zones }) => {
    if (isDraining || isFull || (zone !== noZone && !zones.includes(zone))) return null
    const has = load.of(id)
    return has < Number.POSITIVE_INFINITY ? has : null
  })
}

/** The least loaded shard that can take chunks of the zone, ties to the first; null: none. */
export function leastLoadedReceiver(
  input: Pick<SelectionInput, 'shards' | 'load'> & { readonly available: ReadonlySet<string> },
  zone: string,
): string | null {
  return receiversOf(input, zone).first(input.available)
}

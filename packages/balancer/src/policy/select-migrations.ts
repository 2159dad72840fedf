/**
 * Chunks move first off draining shards, then into their zones, then for balance. Each shard takes
 * part in one migration. Server: BalancerPolicy::balance.
 */
import { noZone, type Distribution, type ShardStatistics, type ZonedChunk } from './distribution.js'
import { zoneName, type Load } from './load.js'
import type { Migration, MigrationReason } from './migration.js'

export interface SelectionInput {
  /** In the order of config.shards: ties go to the first. */
  readonly shards: readonly ShardStatistics[]
  readonly distribution: Distribution
  readonly load: Load
  /** Shards that may take part. Selected shards are removed. */
  readonly available: Set<string>
  /** Whether chunks that are too large are moved. Draining shards always move theirs. */
  readonly attemptJumbo: boolean
}

export interface Selection {
  /** Strongest reason first. */
  readonly migrations: readonly Migration[]
  /** Why there are no more migrations, for people. */
  readonly notes: readonly string[]
  readonly blocked: readonly BlockedZone[]
}

/** Shards differ by the threshold, and no chunk of the zone can leave the heaviest one. */
export interface BlockedZone {
  readonly zone: string
  readonly heaviest: string
  /** One sentence for people. */
  readonly because: string
}

export function selectMigrations(input: SelectionInput): Selection {
  const selector = new Selector(input)
  selector.drain()
  if (input.available.size >= 2) selector.repairZones()
  if (input.available.size >= 2) selector.balance()
  return { migrations: selector.migrations, notes: selector.notes, blocked: selector.blocked }
}

class Selector {
  readonly migrations: Migration[] = []
  readonly notes: string[] = []
  readonly blocked: BlockedZone[] = []
  readonly #input: SelectionInput
  readonly #recipients = new Map<string, Queue>()

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
      const donors = donorsOf(this.#input, zone)
      for (;;) {
        const { from, to, because } = load.imbalance(zone, donors.first(available), this.#recipient(zone))
        if (from === null) {
          this.notes.push(because)
          break
        }
        const chunk = distribution.firstMovableOn(from, zone)
        if (chunk === undefined) {
          this.#noteImmovable(zone, from, to)
          break
        }
        this.#move({ chunk, from, to, reason: 'chunksImbalance', because, force: attemptJumbo })
      }
    }
  }

  /**
   * The data-size policy compares all bytes of the collection, so the heaviest shard need not have
   * a chunk of the zone. Server: _singleZoneBalanceBasedOnDataSize.
   */
  #noteImmovable(zone: string, heaviest: string, to: string): void {
    const { shards, distribution, load, available } = this.#input
    const name = zone === noZone ? zoneName(zone) : `zone ${zone}`
    if (distribution.countOn(heaviest, zone) > 0) {
      const because = `${name}: ${heaviest} is the heaviest and has only jumbo chunks there, so nothing moves in this round`
      this.#block({ zone, heaviest, because })
      return
    }
    const isMember = zone !== noZone && shards.some(({ id, zones }) => id === heaviest && zones.includes(zone))
    const why = `${name}: ${heaviest} is the heaviest and ${zone === noZone || isMember ? 'has no chunk there' : 'not in it'}`
    const movable = new Set(
      [...available].filter((id) => distribution.firstMovableOn(id, zone) !== undefined || id === to),
    )
    const next = load.imbalance(zone, donorsOf(this.#input, zone).first(movable), to)
    if (next.from === null) this.notes.push(`${why}; ${next.because}`)
    else this.#block({ zone, heaviest, because: `${why}, so nothing moves in this round, although ${next.because}` })
  }

  #block(blocked: BlockedZone): void {
    this.blocked.push(blocked)
    this.notes.push(blocked.because)
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
      const to = this.#recipient(zone)
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

  #recipient(zone: string): string | null {
    let queue = this.#recipients.get(zone)
    if (queue === undefined) this.#recipients.set(zone, (queue = recipientsOf(this.#input, zone)))
    return queue.first(this.#input.available)
  }
}

class Queue {
  readonly #shards: readonly string[]
  #at = 0

  /**
   * @param shards ties go to the first
   * @param rankOf the lowest rank is first; null: the shard is left out
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

  /** Null: none. A shard that is unavailable once stays so. */
  first(available: ReadonlySet<string>): string | null {
    while (this.#at < this.#shards.length && !available.has(this.#shards[this.#at]!)) this.#at++
    return this.#shards[this.#at] ?? null
  }
}

/** Largest first. */
function donorsOf({ shards, load }: SelectionInput, zone: string): Queue {
  return new Queue(shards, ({ id }) => {
    const has = load.inZone(zone, id)
    return has > 0 ? -has : null
  })
}

/** Smallest first. */
function recipientsOf({ shards, load }: Pick<SelectionInput, 'shards' | 'load'>, zone: string): Queue {
  return new Queue(shards, ({ id, isDraining, isFull, zones }) => {
    if (isDraining || isFull || (zone !== noZone && !zones.includes(zone))) return null
    const has = load.of(id)
    return has < Number.POSITIVE_INFINITY ? has : null
  })
}

/** Ties go to the first; null: none. */
export function leastLoadedRecipient(
  input: Pick<SelectionInput, 'shards' | 'load'> & { readonly available: ReadonlySet<string> },
  zone: string,
): string | null {
  return recipientsOf(input, zone).first(input.available)
}

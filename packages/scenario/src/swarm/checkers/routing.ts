/**
 * Routing: shards that answered an operation owned its keys while it ran, not under a version they
 * had left.
 */
import type { RoutedEvent } from '@shardlab/cluster'
import { encode } from '@shardlab/bson'
import { finding } from '../finding.js'
import type { Verdicts } from '../verdicts.js'
import { ownerOf, ownersIn, type CatalogTable } from '../watch/catalog-table.js'

/** An event lists at most so many bounds. */
const boundsMax = 20

/** Events of reads are sent after the reply; those of writes also list shards that refused. */
const reads: ReadonlySet<string> = new Set(['find', 'aggregate', 'count', 'distinct'])

interface Period {
  readonly fromMs: number
  /** null: unsharded. */
  readonly table: CatalogTable | null
}

export class RoutingHistory {
  readonly #verdicts: Verdicts | null
  readonly #periods = new Map<string, Period[]>()

  /** @param verdicts null: not checked */
  constructor(verdicts: Verdicts | null) {
    this.#verdicts = verdicts
  }

  /** The catalog has this content since `fromMs`. */
  changed(ns: string, table: CatalogTable | null, fromMs: number): void {
    const periods = this.#periods.get(ns) ?? []
    if (periods.length === 0 || !isSame(periods.at(-1)!.table, table)) periods.push({ fromMs, table })
    this.#periods.set(ns, periods)
  }

  /** For a read that was answered now. */
  routed({ ns, shards, bounds, shardKey, durationMs, command, mongos, kind }: RoutedEvent, nowMs: number): void {
    if (this.#verdicts === null || shardKey === null || !reads.has(command)) return
    const tables = this.#during(ns, nowMs - durationMs)
    // The collection was recreated in between.
    if (tables.length === 0 || tables.some((table) => table?.keyText !== shardKey)) return
    const known = tables as readonly CatalogTable[]
    const wrong =
      isEverything(bounds) && kind === 'broadcast' ? missed(known, shards) : strangers(known, shards, bounds)
    if (wrong !== null)
      this.#verdicts.violated(
        'routing',
        finding(
          `${mongos} answered ${command} of ${ns} (${JSON.stringify(bounds)}) from ${shards.join()}: ${wrong}`,
          ns,
        ),
      )
  }

  #during(ns: string, fromMs: number): (CatalogTable | null)[] {
    const periods = this.#periods.get(ns) ?? []
    // A commit and an operation routed by it may share a millisecond.
    return periods.filter((_, i) => (periods[i + 1]?.fromMs ?? Infinity) >= fromMs - 1).map(({ table }) => table)
  }
}

/** Broadcasts must not omit an owner. */
function missed(tables: readonly CatalogTable[], shards: readonly string[]): string | null {
  if (tables.some((table) => [...ownersIn(table)].every((owner) => shards.includes(owner)))) return null
  return `the owners were ${tables.map((table) => [...ownersIn(table)].join()).join(' or ')}`
}

/** Single keys: each shard must own one of them, and an owner of each must have been asked. */
function strangers(
  tables: readonly CatalogTable[],
  shards: readonly string[],
  bounds: RoutedEvent['bounds'],
): string | null {
  if (bounds.length === 0 || bounds.length >= boundsMax) return null
  const owners = new Set<string>()
  for (const [low, high] of bounds) {
    const key = low === high ? keyOf(tables[0]!, low) : null
    if (key === null) return null
    const ofKey = tables.map((table) => ownerOf(table, key)).filter((owner) => owner !== undefined)
    if (!ofKey.some((owner) => shards.includes(owner))) return `${low} was of ${ofKey.join(' or ')}`
    for (const owner of ofKey) owners.add(owner)
  }
  const stranger = shards.find((shard) => !owners.has(shard))
  return stranger === undefined ? null : `${stranger} owned none of it`
}

/** null: values other than plain numbers, such as hashes. */
function keyOf({ pattern }: CatalogTable, text: string): string | null {
  const key = JSON.parse(text) as Record<string, unknown>
  if (Object.values(key).some((value) => typeof value !== 'number' || !Number.isSafeInteger(value))) return null
  return pattern.keyStringOfBound(encode(key)) ?? null
}

function isEverything(bounds: RoutedEvent['bounds']): boolean {
  const [first] = bounds
  return bounds.length === 1 && first !== undefined && first[0].includes('$minKey') && first[1].includes('$maxKey')
}

function isSame(a: CatalogTable | null, b: CatalogTable | null): boolean {
  if (a === null || b === null) return a === b
  const text = ({ generation, ranges }: CatalogTable) =>
    `${generation} ${ranges.map(({ minKey, shard }) => `${minKey}>${shard}`).join()}`
  return text(a) === text(b)
}

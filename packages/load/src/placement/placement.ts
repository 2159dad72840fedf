/**
 * Routes operations like a router, by `config.chunks` (manual: reference/config-database) as read
 * at the start: no request per operation.
 */
import {
  encodeKeyString,
  fieldsOf,
  hashedKeyValue,
  keyStringUpperBound,
  minKeyValue,
  toRawValue,
  type RawValue,
} from '@shardlab/bson'
import type { RoutingClass } from '../types.js'
import type { Plan } from '../workload/schedule.js'
import type { Workload } from '../workload/workload.js'

/** Plain data, for worker threads. */
export interface PlacementData {
  /** Whether the server is a mongos. */
  readonly isRouted: boolean
  /** false: a mongos that does not show its chunks. */
  readonly isKnown: boolean
  readonly shards: readonly string[]
  /** null: the collection is not sharded. */
  readonly key: readonly { readonly field: string; readonly hashed: boolean }[] | null
  /** BSON of each chunk's lower bound, in key order. */
  readonly bounds: readonly Uint8Array[]
  /** Owner of each chunk, an index in `shards`. */
  readonly owners: readonly number[]
  /** Primary shard of the database, an index in `shards`. */
  readonly primary: number
}

export interface Target {
  readonly routingClass: RoutingClass
  /** Indexes in `shards`. */
  readonly shards: readonly number[]
}

const cachedKeysMax = 4_000_000

export class Placement {
  readonly data: PlacementData
  readonly #workload: Workload
  readonly #bounds: readonly string[]
  readonly #single: readonly Target[]
  readonly #everywhere: Target
  /** Chunk number plus one of each record's key; 0: not computed. */
  readonly #chunkOfKey: Uint32Array

  constructor(data: PlacementData, workload: Workload) {
    this.data = data
    this.#workload = workload
    this.#bounds = data.bounds.map((bound) => encodeKeyString(fieldsOf(bound).map(([, value]) => value)))
    this.#single = data.shards.map((_, i): Target => ({ routingClass: 'targeted', shards: [i] }))
    this.#everywhere = { routingClass: 'broadcast', shards: [...new Set(data.owners)].sort((a, b) => a - b) }
    this.#chunkOfKey = new Uint32Array(Math.min(cachedKeysMax, data.key === null ? 0 : workload.records * 2))
  }

  targetOf({ operation, key, keys }: Plan): Target {
    const { isRouted, isKnown, key: pattern, primary } = this.data
    if (!isRouted) return unrouted
    if (!isKnown) return unknown
    if (pattern === null) return this.#single[primary]!
    if (operation.newRecords === 1) return this.#single[this.data.owners[this.#chunkOf(key)]!]!
    if (operation.newRecords > 1) {
      const shards = [
        ...new Set(Array.from({ length: operation.newRecords }, (_, i) => this.data.owners[this.#chunkOf(key + i)]!)),
      ]
      // Each document goes to one shard, however many batches the command becomes.
      return shards.length === 1 ? this.#single[shards[0]!]! : { routingClass: 'multi', shards }
    }
    if (operation.transaction !== null) {
      const shards = new Set(keys.map((each) => this.data.owners[this.#chunkOf(each)]!))
      return shards.size === 1 ? this.#single[[...shards][0]!]! : { routingClass: 'multi', shards: [...shards] }
    }
    const { by, range } = operation
    let prefix = 0
    while (prefix < pattern.length && by.includes(pattern[prefix]!.field)) prefix++
    if (prefix === pattern.length) return this.#single[this.data.owners[this.#chunkOf(key)]!]!
    const ranged = range !== null && pattern[prefix]!.field === range.field && !pattern[prefix]!.hashed ? range : null
    if (prefix === 0 && ranged === null) return this.#everywhere
    const values = this.#keyValues(key, prefix)
    if (ranged === null) {
      return this.#between(values, keyStringUpperBound(encodeKeyString(values)))
    }
    const value = this.#workload.template.value(ranged.field, key)
    const from = [...values, toRawValue(value)]
    const open = prefix === 0 ? null : keyStringUpperBound(encodeKeyString(values))
    return this.#between(
      from,
      ranged.width === null ? open : encodeKeyString([...values, toRawValue((value as number) + ranged.width)]),
    )
  }

  /** Computed from the record's loaded values. */
  #chunkOf(key: number): number {
    const cached = this.#chunkOfKey[key]
    if (cached !== undefined && cached > 0) return cached - 1
    const chunk = this.#find(encodeKeyString(this.#keyValues(key, this.data.key!.length)))
    if (key < this.#chunkOfKey.length) this.#chunkOfKey[key] = chunk + 1
    return chunk
  }

  #keyValues(key: number, count: number): RawValue[] {
    return this.data.key!.slice(0, count).map(({ field, hashed }) => {
      const value = toRawValue(this.#workload.template.value(field, key))
      return hashed ? hashedKeyValue(value) : value
    })
  }

  /** The last chunk whose lower bound is at or below the key. */
  #find(keyString: string): number {
    let low = 0
    let high = this.#bounds.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#bounds[middle]! <= keyString) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }

  /**
   * @param from the first fields of the lowest key
   * @param to not included; null: to the end
   */
  #between(from: readonly RawValue[], to: string | null): Target {
    const shards = new Set<number>()
    const lowest = [...from, ...this.data.key!.slice(from.length).map(() => minKeyValue)]
    for (
      let i = this.#find(encodeKeyString(lowest));
      i < this.#bounds.length && (to === null || this.#bounds[i]! < to);
      i++
    )
      shards.add(this.data.owners[i]!)
    return this.#several(shards)
  }

  #several(shards: ReadonlySet<number>): Target {
    if (shards.size === 1) return this.#single[[...shards][0]!]!
    if (shards.size === this.#everywhere.shards.length) return this.#everywhere
    return { routingClass: 'multi', shards: [...shards] }
  }
}

const unrouted: Target = { routingClass: 'unrouted', shards: [] }
const unknown: Target = { routingClass: 'unknown', shards: [] }

/**
 * From a predicate to the shards that can have matches: bounds over the shard key, combined field
 * by field, looked up in the routing table. Server: shard_key_pattern_query_util.cpp,
 * getShardIdsForQuery and flattenBounds (chunk_manager.cpp before 6.0). Facts and worked cases:
 * docs/internals/routing.md.
 */
import { BsonType, CommandError, encodeKeyString, type RawValue, type StringComparator } from '@shardlab/bson'
import {
  boundsFor,
  equalityValues,
  isCollatable,
  isEverything,
  isPoint,
  isTriviallyFalse,
  soleEquality,
  type Filter,
  type KeyBounds,
} from '@shardlab/query'
import type { ExtractedKey } from '../model/shard-key-pattern.js'
import type { CollectionPlacement } from './placement.js'
import { isStorable } from './storable.js'

export interface Targeting {
  /** Sorted. */
  readonly shards: readonly string[]
  readonly kind: 'targeted' | 'multi' | 'broadcast'
  /** In the bounds. */
  readonly chunks: number
  /** Bound documents. */
  readonly bounds: readonly (readonly [low: Uint8Array, high: Uint8Array])[]
  /** The full key if equalities fix every field, else null. */
  readonly exactKey: string | null
}

/** More ranges are an error. Server: kMaxFlattenedInCombinations. */
const rangesMax = 4_000_000

/** Both ends are included whatever the bounds say: the server ignores that too. */
interface KeyRange {
  readonly low: readonly RawValue[]
  readonly high: readonly RawValue[]
}

/**
 * @param options.strings a non-simple collation of the operation: equality on strings, objects and
 *   arrays then targets nothing
 * @throws CommandError 17439 if an `$in` gives more than 4,000,000 ranges
 */
export function targetFilter(
  placement: CollectionPlacement,
  filter: Filter,
  options: { strings?: StringComparator } = {},
): Targeting {
  const { shardKey, table } = placement
  // The planner gives such a filter no bounds.
  if (isTriviallyFalse(filter.root, filter.context)) return broadcast(placement)
  const exact = exactKey(placement, filter, options.strings !== undefined)
  if (exact !== undefined) {
    return new ExactTargeting(placement, exact)
  }
  const undefinedMatchesNull = filter.context.undefinedMatchesNull ?? false
  const keyBounds = boundsFor(filter.root, shardKey.keyPattern, {
    ...options,
    undefinedMatchesNull,
    expressions: filter.context,
  })
  const leading = keyBounds.fields[0]!
  // Without a predicate on the first field the others have no effect, even if they contradict each
  // other.
  if (leading.exact && isEverything(leading.intervals)) return broadcast(placement)
  if (keyBounds.fields.some((field) => field.intervals.length === 0)) {
    // A contradiction still needs a reply of the right shape, from the owner of the lowest chunk.
    return { shards: [table.lowestShard()], kind: 'targeted', chunks: 0, bounds: [], exactKey: null }
  }
  if (isEverything(leading.intervals)) return broadcast(placement)
  const ranges = flattenBounds(keyBounds)
  const { shards, chunks } = table.shardsInRanges(
    ranges.map((range) => [encodeKeyString(range.low), encodeKeyString(range.high)]),
  )
  const bounds = ranges.map((range) => [shardKey.boundDocument(range.low), shardKey.boundDocument(range.high)] as const)
  return { shards, kind: shards.length === 1 ? 'targeted' : 'multi', chunks, bounds, exactKey: null }
}

/**
 * As {@link targetFilter}, for a filter whose bytes are only an equality on the shard key's only
 * field; null: compile the filter.
 */
export function targetSoleEquality(
  placement: CollectionPlacement,
  filter: RawValue,
  options: { strings?: StringComparator } = {},
): Targeting | null {
  const { shardKey } = placement
  if (shardKey.paths.length !== 1) return null
  const equality = soleEquality(filter, shardKey.paths[0]!)
  if (equality === null || (options.strings !== undefined && isCollatable(equality.value))) return null
  const key = shardKey.keyFromValues(equality)
  return key === undefined ? null : new ExactTargeting(placement, key)
}

/** Bounds are computed on demand, because they are seldom needed. */
class ExactTargeting implements Targeting {
  readonly shards: readonly string[]
  readonly kind = 'targeted'
  readonly chunks = 1
  readonly exactKey: string
  readonly #shardKey: CollectionPlacement['shardKey']
  readonly #values: readonly RawValue[]

  constructor({ shardKey, table }: CollectionPlacement, { keyString, values }: ExtractedKey) {
    this.shards = [table.shardOf(keyString)]
    this.exactKey = keyString
    this.#shardKey = shardKey
    this.#values = values
  }

  get bounds(): Targeting['bounds'] {
    const bound = this.#shardKey.boundDocument(this.#values)
    return [[bound, bound]]
  }
}

function broadcast({ shardKey, table }: CollectionPlacement): Targeting {
  return {
    shards: table.owners(),
    kind: 'broadcast',
    chunks: table.chunkCount,
    bounds: [[shardKey.globalMin, shardKey.globalMax]],
    exactKey: null,
  }
}

function exactKey(
  placement: CollectionPlacement,
  filter: Filter,
  collated: boolean,
): ReturnType<typeof placement.shardKey.keyFromValues> {
  const { shardKey } = placement
  const values = equalityValues(filter.root, shardKey.paths)
  if (values === null) return undefined
  for (const value of values.values()) {
    // A regular expression matches more than itself.
    if (value.type === BsonType.regex || !isStorable(value)) return undefined
    if (collated && isCollatable(value)) return undefined
  }
  return shardKey.keyFromValues(values)
}

/**
 * Combines the intervals of the fields: leading single points stay points; the first field with
 * more expands into its intervals; later fields only widen each range, from their first to their
 * last value. Ascending by the lower ends.
 */
function flattenBounds(bounds: KeyBounds): KeyRange[] {
  let ranges: KeyRange[] = [{ low: [], high: [] }]
  let expanded = false
  for (const { intervals } of bounds.fields) {
    const first = intervals[0]!
    const last = intervals.at(-1)!
    if (expanded || (intervals.length === 1 && isPoint(first))) {
      ranges = ranges.map((range) => ({ low: [...range.low, first.low], high: [...range.high, last.high] }))
      continue
    }
    if (intervals.length > rangesMax)
      throw new CommandError(17439, 'combinatorial limit of $in partitioning of results exceeded')
    const [prefix] = ranges as [KeyRange]
    ranges = intervals.map((interval) => ({
      low: [...prefix.low, interval.low],
      high: [...prefix.high, interval.high],
    }))
    expanded = true
  }
  return ranges
}

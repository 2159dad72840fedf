/**
 * Server: initial_split_policy.cpp.
 * Manual: core/hashed-sharding, core/zone-sharding.
 */
import { ChunkPacker, packChunks, type ChunkAssignment, type PackedChunks } from '@shardlab/actor'
import { CommandError, compareDocuments, findField, int64Value, minKeyValue } from '@shardlab/bson'
import { eachHashedSplitPoint, type ShardKeyPattern } from '@shardlab/sharding'
import type { InitialSplit } from './initial-split.js'
import { checkPresplit, presplitZone } from './presplit-hashed-zones.js'

/**
 * @throws CommandError 72 InvalidOptions; 31387, 31388, 31389, 31390, 31391, 31412 for zones that
 *   cannot be presplit; 50973, 405 for zones without shards
 */
export function checkInitialSplit(split: InitialSplit): void {
  const { behaviours, shardKey, isEmpty, numInitialChunks, presplitHashedZones } = split
  if (numInitialChunks > 0) {
    if (behaviours.shardCollectionIsCheckedBy === 'router') return
    if (!behaviours.presplitHashedZones) {
      const lacks = shardKey.isHashed ? (isEmpty ? null : 'empty') : 'hashed'
      if (lacks !== null)
        throw new CommandError(
          'InvalidOptions',
          `numInitialChunks is not supported when the collection is not ${lacks}`,
        )
    } else if (!shardKey.isHashed || !isEmpty)
      throw new CommandError(
        'InvalidOptions',
        'numInitialChunks is only supported when the collection is empty and has a hashed field in the shard key pattern',
      )
    else if (shardKey.hashedIndex !== 0 && !presplitHashedZones)
      throw new CommandError(
        'InvalidOptions',
        "When the prefix of the hashed shard key is a range field, 'numInitialChunks' can only be used when the 'presplitHashedZones' is true",
      )
  }
  const checks = presplitHashedZones ? [checkZonesHaveShards, checkPresplit] : isEmpty ? [checkZonesHaveShards] : []
  // Before 7.0 the shards of zones are checked last, since 7.0 first.
  if (behaviours.zonesWithoutShardsError === 50973) checks.reverse()
  for (const check of checks) check(split)
}

function checkZonesHaveShards({ behaviours, ns, zones, shardsOfZone }: InitialSplit): void {
  const empty = zones.find(({ zone }) => (shardsOfZone.get(zone) ?? []).length === 0)
  if (empty === undefined) return
  throw new CommandError(
    behaviours.zonesWithoutShardsError,
    behaviours.zonesWithoutShardsError === 50973
      ? `Cannot shard collection ${ns} due to zone ${empty.zone} which is not assigned to a shard. Please assign this zone to a shard.`
      : 'The initial split policy is not able to find a chunk distribution that satisfies the given set of zones with the current shards',
  )
}

/** In key order. {@link checkInitialSplit} must have accepted the request. */
export function initialChunks(split: InitialSplit): PackedChunks {
  const { behaviours, shardKey, shards, zones, isEmpty, primaryShard } = split
  if (zones.length > 0) return isEmpty ? packChunks(chunksOfZones(split)) : onePart(split)
  if (!isEmpty) return distribute(shardKey, split.splitPoints, () => primaryShard)
  if (shardKey.hashedIndex !== 0) return onePart(split)
  const count = split.numInitialChunks || behaviours.initialHashedChunksPerShard * shards.length
  const points = hashedBounds(shardKey, eachHashedSplitPoint(count))
  const perShard = Math.max(1, Math.floor(count / shards.length))
  const firstOnPrimary = count < shards.length && !behaviours.initialChunksOnShuffledShards
  return distribute(shardKey, points, (i) =>
    firstOnPrimary && i === 0 ? primaryShard : shards[Math.floor(i / perShard) % shards.length]!,
  )
}

function onePart({ shardKey, primaryShard }: InitialSplit): PackedChunks {
  return packChunks([[shardKey.globalMin, shardKey.globalMax, primaryShard]])
}

function distribute(
  shardKey: ShardKeyPattern,
  points: Iterable<Uint8Array>,
  shardOf: (i: number) => string,
): PackedChunks {
  const packer = new ChunkPacker(shardKey.globalMin)
  let i = 0
  for (const point of points) packer.add(point, shardOf(i++))
  return packer.add(shardKey.globalMax, shardOf(i)).finish()
}

/** Yields the same document with each bound in turn: there may be a million bounds. */
function* hashedBounds(shardKey: ShardKeyPattern, points: Iterable<bigint>): Generator<Uint8Array, void, void> {
  const bound = shardKey.boundDocument(shardKey.fields.map((_, i) => (i === 0 ? int64Value(0n) : minKeyValue)))
  const view = new DataView(bound.buffer, bound.byteOffset, bound.length)
  const at = findField(bound, shardKey.paths[0]!)!.start
  for (const point of points) {
    view.setBigInt64(at, point, true)
    yield bound
  }
}

function cut(
  min: Uint8Array,
  max: Uint8Array,
  points: readonly Uint8Array[],
): (readonly [min: Uint8Array, max: Uint8Array])[] {
  const bounds = [min, ...points, max]
  return bounds.slice(1).map((end, i) => [bounds[i]!, end] as const)
}

/**
 * Assigns each zone's ranges round-robin to its shards, presplit if requested, and the gaps
 * round-robin to all shards.
 */
function chunksOfZones(split: InitialSplit): ChunkAssignment[] {
  const { shardKey, shards, zones, shardsOfZone } = split
  const chunks: ChunkAssignment[] = []
  const nextOfZone = new Map<string, number>()
  let gaps = 0
  let end = shardKey.globalMin
  const fillUpTo = (bound: Uint8Array): void => {
    if (compareDocuments(bound, end) > 0) chunks.push([end, bound, shards[gaps++ % shards.length]!])
  }
  for (const range of zones) {
    fillUpTo(range.min)
    const owners = shardsOfZone.get(range.zone)!
    if (split.presplitHashedZones) {
      const { points, owner } = presplitZone(split, range)
      cut(range.min, range.max, points).forEach(([min, max], i) => chunks.push([min, max, owner[i]!]))
    } else {
      const next = nextOfZone.get(range.zone) ?? 0
      nextOfZone.set(range.zone, next + 1)
      chunks.push([range.min, range.max, owners[next % owners.length]!])
    }
    end = range.max
  }
  fillUpTo(shardKey.globalMax)
  return chunks
}

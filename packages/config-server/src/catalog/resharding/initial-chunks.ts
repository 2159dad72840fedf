/**
 * Server: SamplingBasedSplitPolicy and ShardDistributionSplitPolicy of initial_split_policy.cpp.
 */
import type { ChunkAssignment } from '@shardlab/actor'
import { BsonType, CommandError, compareDocuments, elementsOf, findField, keyStringOfDocument } from '@shardlab/bson'
import { ShardKeyPattern, type Behaviours } from '@shardlab/sharding'
import { isDraining } from '../members/shards.js'
import { extendBound, isFieldNamePrefix } from '../zones/zones.js'
import { formatDocument } from '@shardlab/query'
import type { NamedRange, ReshardingRequest } from './request.js'

const samplesPerChunk = 10

export interface ChunkPlan {
  readonly behaviours: Behaviours
  readonly request: ReshardingRequest
  readonly numInitialChunks: number
  /** Ordered by lower bound, with bounds of the whole key. */
  readonly zones: readonly NamedRange[]
  /** Documents of config.shards, ordered by id. */
  readonly shards: readonly Uint8Array[]
  readonly recipients: readonly string[]
}

/**
 * Extends the bounds to the whole key.
 * @throws CommandError 16634 for bounds of other fields
 */
export function zonesOfKey({ document }: ShardKeyPattern, zones: readonly NamedRange[]): NamedRange[] {
  const extend = (bound: Uint8Array) => {
    if (!isFieldNamePrefix(bound, document))
      throw new CommandError(
        16634,
        `field names of bound ${formatDocument(bound)} do not match those of keyPattern ${formatDocument(document)}`,
      )
    return extendBound(bound, document)
  }
  return zones.map(({ min, max, name }) => ({ min: extend(min), max: extend(max), name }))
}

/** All shards until 6.0. Later only those that are not draining, shuffled. */
export function recipientsOf(
  behaviours: Behaviours,
  shards: readonly Uint8Array[],
  shuffled: (ids: readonly string[]) => string[],
): string[] {
  const ids = (documents: readonly Uint8Array[]) => documents.map((shard) => findField(shard, '_id')!.asString())
  return behaviours.initialChunksOnShuffledShards
    ? shuffled(ids(shards.filter((shard) => !isDraining(shard))))
    : ids(shards)
}

/**
 * @returns number of sampled keys; 0: none needed
 * @throws CommandError 4952602
 */
export function samplesNeeded({ request, numInitialChunks, zones }: ChunkPlan): number {
  if (request.presetChunks !== null || isExplicit(request)) return 0
  if (numInitialChunks <= 0) throw new CommandError(4952602, 'numInitialChunks should be > 0')
  return zonePoints(request.shardKey, zones).length < numInitialChunks - 1 ? numInitialChunks * samplesPerChunk : 0
}

/**
 * @param samples keys in any order
 * @throws CommandError 4952606: too few different keys; 4952607, later 405
 *   CannotCreateChunkDistribution: a zone without shard; 2 BadValue, 70 ShardNotFound: invalid
 *   preset chunks; 72 InvalidOptions: shards and zones contradict each other
 */
export function chunksOf(plan: ChunkPlan, samples: readonly Uint8Array[]): ChunkAssignment[] {
  const { request, zones } = plan
  const { shardKey } = request
  if (request.presetChunks !== null) return presetChunks(plan, request.presetChunks)
  const points = zonePoints(shardKey, zones)
  if (isExplicit(request)) return distributed(plan, points)
  addSamples(points, samples, plan.numInitialChunks - 1)
  if (points.length < plan.numInitialChunks - 1) {
    throw new CommandError(
      4952606,
      `The shard key provided does not have enough cardinality to make the required number of chunks of ${plan.numInitialChunks}, it can only make ${points.length + 1} chunks`,
    )
  }
  const counts = new Map<string, number>()
  return cut(shardKey, points).map(([min, max]) => {
    const zone =
      zones.find((range) => compareDocuments(range.min, min) <= 0 && compareDocuments(max, range.max) <= 0)?.name ??
      null
    const shard = leastLoaded(plan, counts, zone)
    counts.set(shard, (counts.get(shard) ?? 0) + 1)
    return [min, max, shard]
  })
}

/** Bounds of zones inside the key space, ascending. */
function zonePoints({ globalMin, globalMax }: ShardKeyPattern, zones: readonly NamedRange[]): Uint8Array[] {
  const points = new Map<string, Uint8Array>()
  for (const { min, max } of zones) for (const bound of [min, max]) points.set(keyStringOfDocument(bound), bound)
  points.delete(keyStringOfDocument(globalMin))
  points.delete(keyStringOfDocument(globalMax))
  return inOrder(points)
}

/** Adds every tenth of the sorted samples until there are enough points. */
function addSamples(points: Uint8Array[], samples: readonly Uint8Array[], wanted: number): void {
  const sorted = [...samples].sort(compareDocuments)
  const known = new Map(points.map((point) => [keyStringOfDocument(point), point]))
  for (
    let i = samplesPerChunk - 1;
    known.size < wanted && i - (samplesPerChunk - 1) < sorted.length;
    i += samplesPerChunk
  ) {
    const sample = sorted[Math.min(i, sorted.length - 1)]!
    const key = keyStringOfDocument(sample)
    if (!known.has(key)) known.set(key, sample)
  }
  points.splice(0, points.length, ...inOrder(known))
}

function inOrder(points: ReadonlyMap<string, Uint8Array>): Uint8Array[] {
  return [...points].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, point]) => point)
}

function cut(
  { globalMin, globalMax }: ShardKeyPattern,
  points: readonly Uint8Array[],
): (readonly [min: Uint8Array, max: Uint8Array])[] {
  const bounds = [globalMin, ...points, globalMax]
  return bounds.slice(1).map((max, i) => [bounds[i]!, max] as const)
}

/** Ties go to the first. */
function leastLoaded(plan: ChunkPlan, counts: ReadonlyMap<string, number>, zone: string | null): string {
  const candidates = zone === null ? plan.recipients : carriersOf(plan, zone)
  let best: string | null = null
  for (const shard of candidates) if (best === null || (counts.get(shard) ?? 0) < (counts.get(best) ?? 0)) best = shard
  if (best === null) throw noShard(plan.behaviours, zone)
  return best
}

/** @throws CommandError 4952607, 405 CannotCreateChunkDistribution without any */
function carriersOf({ behaviours, shards, request }: ChunkPlan, zone: string): string[] {
  const allowed =
    request.shardDistribution === null ? null : new Set(request.shardDistribution.map(({ shard }) => shard))
  const carriers = shards
    .filter((shard) => {
      const tags = findField(shard, 'tags')
      return (
        tags?.type === BsonType.array &&
        elementsOf(tags).some((tag) => tag.type === BsonType.string && tag.asString() === zone)
      )
    })
    .map((shard) => findField(shard, '_id')!.asString())
    .filter((shard) => allowed === null || allowed.has(shard))
  if (carriers.length === 0) throw noShard(behaviours, zone)
  return carriers
}

function noShard({ zonesWithoutShardsError }: Behaviours, zone: string | null): CommandError {
  return zonesWithoutShardsError === 405
    ? new CommandError(
        'CannotCreateChunkDistribution',
        'The initial split policy is not able to find a chunk distribution that satisfies the given set of zones with the current shards',
      )
    : new CommandError(
        4952607,
        `no shards found for zone: ${zone ?? ''}, while creating initial chunks for new resharded collection`,
      )
}

function presetChunks({ request, shards }: ChunkPlan, chunks: readonly NamedRange[]): ChunkAssignment[] {
  const { globalMin, globalMax } = request.shardKey
  checkShards(
    shards,
    chunks.map(({ name }) => name),
  )
  if (chunks.length === 0 || compareDocuments(chunks[0]!.min, globalMin) !== 0)
    throw new CommandError('BadValue', 'Chunk range must start at global min for new shard key')
  if (compareDocuments(chunks.at(-1)!.max, globalMax) !== 0)
    throw new CommandError('BadValue', 'Chunk range must end at global max for new shard key')
  chunks.forEach(({ min }, i) => {
    if (i > 0 && compareDocuments(chunks[i - 1]!.max, min) !== 0)
      throw new CommandError('BadValue', 'Chunk ranges must be contiguous')
  })
  return chunks.map(({ min, max, name }) => [min, max, name])
}

/** @throws CommandError 70 ShardNotFound */
export function checkShards(shards: readonly Uint8Array[], wanted: readonly string[]): void {
  const known = new Set(shards.map((shard) => findField(shard, '_id')!.asString()))
  for (const shard of wanted) if (!known.has(shard)) throw new CommandError('ShardNotFound', `Shard ${shard} not found`)
}

function isExplicit({ shardDistribution }: ReshardingRequest): boolean {
  return shardDistribution?.[0] !== undefined && shardDistribution[0].min !== null
}

/** The requested ranges, cut at the bounds of zones. */
function distributed(plan: ChunkPlan, points: readonly Uint8Array[]): ChunkAssignment[] {
  const { request, zones } = plan
  const ranges = [...request.shardDistribution!].sort((a, b) => compareDocuments(a.min!, b.min!))
  return ranges.flatMap(({ shard, min, max }) => {
    const inside = points.filter((point) => compareDocuments(point, min!) > 0 && compareDocuments(point, max!) < 0)
    const bounds = [min!, ...inside, max!]
    return bounds.slice(1).map((end, i): ChunkAssignment => {
      const zone = zones.find(
        (range) => compareDocuments(range.min, bounds[i]!) <= 0 && compareDocuments(end, range.max) <= 0,
      )
      if (zone !== undefined && !carriersOf(plan, zone.name).includes(shard))
        throw new CommandError(
          'InvalidOptions',
          `Specified zones and shardDistribution are conflicting with the existing shard/zone, shard ${shard} doesn't belong to zone ${zone.name}`,
        )
      return [bounds[i]!, end, shard]
    })
  })
}

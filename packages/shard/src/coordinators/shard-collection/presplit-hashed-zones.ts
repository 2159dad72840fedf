/** Server: initial_split_policy.cpp, PresplitHashedZonesSplitPolicy. */
import {
  BsonType,
  CommandError,
  compareDocuments,
  compareValues,
  fieldsOf,
  int64Value,
  minKeyValue,
} from '@shardlab/bson'
import { hashedSplitPoints } from '@shardlab/sharding'
import type { InitialSplit } from './initial-split.js'
import type { ZoneRange } from './zones.js'

const unsupported = 'One or more zones are not defined in a manner that supports hashed pre-splitting.'

/**
 * Each zone must begin at the start of the hash space under a prefix of its own, `{ country: 'US',
 * h: MinKey, … }`, and end under another prefix. With a hashed first field there must be a single
 * zone over the whole key space.
 * @throws CommandError 31387, 31412, 31388, 31390, 31389, 31391
 */
export function checkPresplit({ shardKey, isEmpty, zones }: InitialSplit): void {
  if (!isEmpty || zones.length === 0 || !shardKey.isHashed) {
    throw new CommandError(
      31387,
      "'presplitHashedZones' is only supported when the collection is empty, zones are set up and shard key pattern has a hashed field",
    )
  }
  if (shardKey.hashedIndex === 0) {
    const [only] = zones
    const covers =
      compareDocuments(only!.min, shardKey.globalMin) === 0 && compareDocuments(only!.max, shardKey.globalMax) === 0
    if (zones.length !== 1 || !covers) {
      throw new CommandError(
        31412,
        "For hashed prefix shard keys, 'presplitHashedZones' is only supported when there is a single zone defined which covers entire shard key range",
      )
    }
    return
  }
  for (const zone of zones) checkZone(zone, shardKey.hashedIndex)
}

function checkZone({ min, max, zone }: ZoneRange, hashedIndex: number): void {
  const low = fieldsOf(min).map(([, value]) => value)
  const high = fieldsOf(max).map(([, value]) => value)
  const prefix = low.slice(0, hashedIndex)
  if (prefix.some(({ type }) => type === BsonType.minKey || type === BsonType.maxKey)) {
    throw new CommandError(
      31388,
      `${unsupported} Cannot have MinKey or MaxKey in the lower bound for fields preceding the hashed field but found one, for zone ${zone}`,
    )
  }
  if (prefix.every((value, i) => compareValues(value, high[i]) === 0)) {
    throw new CommandError(
      31390,
      `${unsupported} The value preceding hashed field of the upper bound should be greater than that of lower bound, for zone ${zone}`,
    )
  }
  if (low[hashedIndex]!.type !== BsonType.minKey)
    throw new CommandError(
      31389,
      `${unsupported} The hashed field value for lower bound must be MinKey, for zone ${zone}`,
    )
  if (low.slice(hashedIndex + 1).some(({ type }) => type !== BsonType.minKey))
    throw new CommandError(
      31391,
      `${unsupported} The fields after the hashed field must have MinKey value, for zone ${zone}`,
    )
}

/**
 * A shard's quota is divided among its zones, rounded up.
 * @returns `owner` has one element more than `points`
 */
export function presplitZone(split: InitialSplit, { min, zone }: ZoneRange): { points: Uint8Array[]; owner: string[] } {
  const { behaviours, shardKey, zones, shardsOfZone, numInitialChunks } = split
  const rangesOf = new Map<string, number>()
  for (const range of zones)
    for (const shard of shardsOfZone.get(range.zone)!) rangesOf.set(shard, (rangesOf.get(shard) ?? 0) + 1)
  const quota =
    numInitialChunks > 0 ? Math.ceil(numInitialChunks / rangesOf.size) : behaviours.initialHashedChunksPerShard
  const owner = shardsOfZone
    .get(zone)!
    .flatMap((shard) => new Array<string>(Math.ceil(quota / rangesOf.get(shard)!)).fill(shard))
  const prefix = fieldsOf(min).slice(0, shardKey.hashedIndex)
  const points = hashedSplitPoints(owner.length).map((point) =>
    shardKey.boundDocument(
      shardKey.fields.map((_, i) => prefix[i]?.[1] ?? (i === shardKey.hashedIndex ? int64Value(point) : minKeyValue)),
    ),
  )
  return { points, owner }
}

/** The documents of config.* in the shapes of the emulated version. Manual: reference/config-database; shapes: type_*.cpp. */
import type { ChunkAssignment, TimestampPair } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'

export function shardDocument(id: string, host: string, topologyTime: TimestampPair): Uint8Array {
  return new DocumentWriter(128)
    .string('_id', id)
    .string('host', host)
    .int32('state', 1)
    .timestamp('topologyTime', topologyTime[0], topologyTime[1])
    .int64('replSetConfigVersion', 1n)
    .finish()
}

export interface NewDatabase {
  readonly db: string
  readonly primary: string
  readonly partitioned: boolean
  readonly uuid: Uint8Array
  readonly timestamp: TimestampPair
}

export function databaseDocument(behaviours: Behaviours, { db, primary, partitioned, uuid, timestamp }: NewDatabase): Uint8Array {
  const writer = new DocumentWriter(128).string('_id', db).string('primary', primary)
  if (behaviours.databasesHavePartitioned) writer.bool('partitioned', partitioned)
  writer.startDocument('version').uuid('uuid', uuid)
  if (behaviours.chunksAreKeyedByUuid) writer.timestamp('timestamp', timestamp[0], timestamp[1])
  return writer.int32('lastMod', 1).end().finish()
}

export interface NewCollection {
  readonly ns: string
  readonly uuid: Uint8Array
  readonly key: Uint8Array
  readonly unique: boolean
  readonly defaultCollation: Uint8Array | null
  readonly epoch: Uint8Array
  readonly timestamp: TimestampPair
  readonly nowMs: number
}

export function collectionDocument(behaviours: Behaviours, collection: NewCollection): Uint8Array {
  const writer = new DocumentWriter(256).string('_id', collection.ns).objectId('lastmodEpoch', collection.epoch)
  if (behaviours.chunksAreKeyedByUuid) {
    writer
      .date('lastmod', collection.nowMs)
      .timestamp('timestamp', collection.timestamp[0], collection.timestamp[1])
      .uuid('uuid', collection.uuid)
      .document('key', collection.key)
    if (collection.defaultCollation !== null) writer.document('defaultCollation', collection.defaultCollation)
    return writer.bool('unique', collection.unique).bool('noBalance', false).finish()
  }
  // The old format's lastmod is a version in the disguise of a date: 2^32 ms stand for 1|0.
  writer.date('lastmod', 4294967296).bool('dropped', false).document('key', collection.key)
  if (collection.defaultCollation !== null) writer.document('defaultCollation', collection.defaultCollation)
  return writer.bool('unique', collection.unique).uuid('uuid', collection.uuid).string('distributionMode', 'sharded').finish()
}

/** A chunk of a new collection: versions 1|0, 1|1, … in key order. */
export function chunkDocument(
  behaviours: Behaviours,
  id: Uint8Array,
  collection: NewCollection,
  [min, max, shard]: ChunkAssignment,
  minor: number,
  validAfter: TimestampPair,
): Uint8Array {
  const writer = new DocumentWriter(256).objectId('_id', id)
  if (behaviours.chunksAreKeyedByUuid) writer.uuid('uuid', collection.uuid)
  else writer.string('ns', collection.ns)
  writer.document('min', min).document('max', max).string('shard', shard).timestamp('lastmod', 1, minor)
  if (!behaviours.chunksAreKeyedByUuid) writer.objectId('lastmodEpoch', collection.epoch)
  if (behaviours.chunksHaveOnCurrentShardSince) writer.timestamp('onCurrentShardSince', validAfter[0], validAfter[1])
  return writer
    .startArray('history')
    .startDocument('0')
    .timestamp('validAfter', validAfter[0], validAfter[1])
    .string('shard', shard)
    .end()
    .end()
    .finish()
}

export function versionDocument(behaviours: Behaviours, clusterId: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(128).int32('_id', 1)
  if (behaviours.configVersionHasCompatibilityRange) writer.int32('minCompatibleVersion', 5).int32('currentVersion', 6)
  return writer.objectId('clusterId', clusterId).finish()
}

/** config.settings chunksize is in megabytes, a fraction below one. */
export function chunkSizeDocument(chunkSizeBytes: number): Uint8Array {
  const megabytes = chunkSizeBytes / (1024 * 1024)
  const writer = new DocumentWriter(64).string('_id', 'chunksize')
  return (Number.isInteger(megabytes) ? writer.int32('value', megabytes) : writer.double('value', megabytes)).finish()
}

export function changelogDocument(entry: {
  readonly id: string
  readonly server: string
  readonly shard: string
  readonly timeMs: number
  readonly what: string
  readonly ns: string
  readonly details: Uint8Array
}): Uint8Array {
  return new DocumentWriter(256)
    .string('_id', entry.id)
    .string('server', entry.server)
    .string('shard', entry.shard)
    .string('clientAddr', '')
    .date('time', entry.timeMs)
    .string('what', entry.what)
    .string('ns', entry.ns)
    .document('details', entry.details)
    .finish()
}

export function mongosDocument(host: string, version: string, createdMs: number, pingMs: number, upSeconds: number): Uint8Array {
  return new DocumentWriter(256)
    .string('_id', host)
    .startArray('advisoryHostFQDNs')
    .end()
    .date('created', createdMs)
    .string('mongoVersion', version)
    .date('ping', pingMs)
    .int64('up', upSeconds)
    .bool('waiting', true)
    .finish()
}

export function featureCompatibilityDocument(behaviours: Behaviours): Uint8Array {
  return new DocumentWriter(128)
    .string('_id', 'featureCompatibilityVersion')
    .string('version', behaviours.featureCompatibilityVersion)
    .finish()
}

/**
 * Documents of config.* in the shapes of the emulated version. Manual: reference/config-database.
 * Server: type_*.cpp.
 */
import type { ChunkAssignment, TimestampPair } from '@shardlab/actor'
import { DocumentWriter, findField, hexOf } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { chunkDocumentOf, chunkId } from '../chunks/chunk-documents.js'

export function shardDocument(
  behaviours: Behaviours,
  id: string,
  host: string,
  topologyTime: TimestampPair,
): Uint8Array {
  const writer = new DocumentWriter(128).string('_id', id).string('host', host)
  if (behaviours.shardsHaveState) writer.int32('state', 1)
  if (behaviours.shardsHaveTopologyTime) writer.timestamp('topologyTime', topologyTime[0], topologyTime[1])
  // -1 until the replica set changes.
  if (behaviours.shardsHaveReplSetConfigVersion) writer.int64('replSetConfigVersion', -1n)
  return writer.finish()
}

export interface NewDatabase {
  readonly db: string
  readonly primary: string
  readonly partitioned: boolean
  readonly uuid: Uint8Array
  readonly timestamp: TimestampPair
}

export function databaseDocument(
  behaviours: Behaviours,
  { db, primary, partitioned, uuid, timestamp }: NewDatabase,
): Uint8Array {
  const writer = new DocumentWriter(128).string('_id', db).string('primary', primary)
  const { databasesHavePartitioned } = behaviours
  if (databasesHavePartitioned !== 'no')
    writer.bool('partitioned', databasesHavePartitioned === 'as enabled' && partitioned)
  writer.startDocument('version').uuid('uuid', uuid)
  if (behaviours.chunksAreKeyedByUuid) writer.timestamp('timestamp', timestamp[0], timestamp[1])
  return writer.int32('lastMod', 1).end().finish()
}

/** In the form of database versions in messages. */
export function databaseUuidOf(database: Uint8Array): string {
  const version = findField(database, 'version')!
  return hexOf(findField(version.bytes, 'uuid', version.start)!.asBinary())
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
  // The old format stores the version 1|0 as a date of 2^32 ms.
  writer.date('lastmod', 4294967296).bool('dropped', false).document('key', collection.key)
  if (collection.defaultCollation !== null) writer.document('defaultCollation', collection.defaultCollation)
  writer.bool('unique', collection.unique).uuid('uuid', collection.uuid)
  return (behaviours.collectionsHaveDistributionMode ? writer.string('distributionMode', 'sharded') : writer).finish()
}

/** Whether the entry is of an unsharded collection, tracked because it was moved. */
export function isUnsplittable(collection: Uint8Array): boolean {
  return findField(collection, 'unsplittable')?.isTruthy() === true
}

/**
 * Chunks of a new collection have versions 1|0, 1|1, … in key order.
 * @param objectId the `_id` in versions with ObjectIds
 */
export function chunkDocument(
  behaviours: Behaviours,
  objectId: Uint8Array,
  collection: NewCollection,
  [min, max, shard]: ChunkAssignment,
  minor: number,
  validAfter: TimestampPair,
): Uint8Array {
  const id = chunkId(behaviours, collection.ns, min, objectId)
  return chunkDocumentOf(behaviours, collection, {
    id,
    min,
    max,
    shard,
    major: 1,
    minor,
    estimatedSize: null,
    jumbo: null,
    history: [{ validAfter, shard }],
  })
}

export function versionDocument(behaviours: Behaviours, clusterId: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(128).int32('_id', 1)
  const range = behaviours.configVersionRange
  if (range !== null) {
    const [least, current] = range
    if (behaviours.configVersionHasVersion) writer.int32('version', least)
    writer.int32('minCompatibleVersion', least).int32('currentVersion', current)
  }
  return writer.objectId('clusterId', clusterId).finish()
}

/** In megabytes, which may be fractional. */
export function chunkSizeDocument(chunkSizeBytes: number): Uint8Array {
  const megabytes = chunkSizeBytes / (1024 * 1024)
  const writer = new DocumentWriter(64).string('_id', 'chunksize')
  return (Number.isInteger(megabytes) ? writer.int32('value', megabytes) : writer.double('value', megabytes)).finish()
}

export function changelogDocument(entry: {
  readonly id: string
  readonly server: string
  /** Null: the version does not store it. */
  readonly shard: string | null
  readonly timeMs: number
  readonly what: string
  readonly ns: string
  readonly details: Uint8Array
}): Uint8Array {
  const writer = new DocumentWriter(384 + entry.details.length).string('_id', entry.id).string('server', entry.server)
  if (entry.shard !== null) writer.string('shard', entry.shard)
  return writer
    .string('clientAddr', '')
    .date('time', entry.timeMs)
    .string('what', entry.what)
    .string('ns', entry.ns)
    .document('details', entry.details)
    .finish()
}

export interface MongosPing {
  readonly host: string
  readonly version: string
  readonly createdMs: number
  readonly pingMs: number
  readonly upSeconds: number
}

/** Sorted by field name: the server writes the document by `$set`. */
export function mongosDocument(
  behaviours: Behaviours,
  { host, version, createdMs, pingMs, upSeconds }: MongosPing,
): Uint8Array {
  const writer = new DocumentWriter(256).string('_id', host)
  if (behaviours.mongosesHaveAdvisoryHosts) writer.startArray('advisoryHostFQDNs').end()
  if (behaviours.mongosesHaveCreationTime) writer.date('created', createdMs)
  writer.string('mongoVersion', version).date('ping', pingMs)
  if (behaviours.mongosesHaveAdvisoryHosts) writer.int64('up', upSeconds)
  else writer.int32('up', upSeconds)
  return writer.bool('waiting', true).finish()
}

export function featureCompatibilityDocument(behaviours: Behaviours): Uint8Array {
  return new DocumentWriter(128)
    .string('_id', 'featureCompatibilityVersion')
    .string('version', behaviours.featureCompatibilityVersion)
    .finish()
}

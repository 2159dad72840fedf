/**
 * A generation (epoch and timestamp) is new with each creation of a collection. Within one, the
 * major part grows when a chunk moves and the minor part when chunks split or merge. Server:
 * chunk_version.h, README_versioning_protocols.
 */
import { BsonType, findField, hexOf, type DocumentWriter } from '@shardlab/bson'

/** The epoch is in hex. Messages use this form too. */
export type PlacementVersion = readonly [
  epoch: string,
  seconds: number,
  increment: number,
  major: number,
  minor: number,
]

/** The uuid is in hex. */
export type DatabaseVersion = readonly [uuid: string, seconds: number, increment: number, lastMod: number]

export function sameGeneration(a: PlacementVersion, b: PlacementVersion): boolean {
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2]
}

/** Both versions must be of one generation. */
export function comparePlacement(a: PlacementVersion, b: PlacementVersion): number {
  return a[3] !== b[3] ? (a[3] < b[3] ? -1 : 1) : a[4] === b[4] ? 0 : a[4] < b[4] ? -1 : 1
}

/** Generations are ordered by their timestamps. */
export function isOlderGeneration(a: PlacementVersion, b: PlacementVersion): boolean {
  return a[1] !== b[1] ? a[1] < b[1] : a[2] < b[2]
}

/**
 * Whether a shard with version `wanted` accepts a router's `received`. Minors may differ, because
 * splits and merges move no data.
 */
export function isWriteCompatible(received: PlacementVersion, wanted: PlacementVersion): boolean {
  return sameGeneration(received, wanted) && received[3] === wanted[3]
}

/** @param document of config.databases; one without a version has an empty one */
export function parseDatabaseVersion(document: Uint8Array): DatabaseVersion {
  const version = findField(document, 'version')
  if (version?.type !== BsonType.object) return ['', 0, 0, 0]
  const [uuid, timestamp, lastMod] = ['uuid', 'timestamp', 'lastMod'].map((name) =>
    findField(version.bytes, name, version.start),
  )
  const bits = timestamp?.type === BsonType.timestamp ? BigInt.asUintN(64, timestamp.asBigInt()) : 0n
  return [
    uuid?.type === BsonType.binary ? hexOf(uuid.asBinary()) : '',
    Number(bits >> 32n),
    Number(bits & 0xffff_ffffn),
    lastMod?.isNumber() === true ? lastMod.asNumber() : 0,
  ]
}

export function sameDatabaseVersion(a: DatabaseVersion, b: DatabaseVersion): boolean {
  return a[0] === b[0] && a[3] === b[3]
}

/**
 * `2|1||<epoch>`, since 5.0 followed by `||Timestamp(seconds, increment)`. Server:
 * ChunkVersion::toString.
 */
export function placementVersionText(
  [epoch, seconds, increment, major, minor]: PlacementVersion,
  withTimestamp: boolean,
): string {
  return `${major}|${minor}||${epoch}${withTimestamp ? `||Timestamp(${seconds}, ${increment})` : ''}`
}

/** `{ e: epoch, t: timestamp, v: Timestamp(major, minor) }`, in errors and commands since 6.0. */
export function writePlacementVersion(writer: DocumentWriter, name: string, version: PlacementVersion): DocumentWriter {
  return writer
    .startDocument(name)
    .objectId('e', Buffer.from(version[0], 'hex'))
    .timestamp('t', version[1], version[2])
    .timestamp('v', version[3], version[4])
    .end()
}

export function writeDatabaseVersion(writer: DocumentWriter, name: string, version: DatabaseVersion): DocumentWriter {
  return writer
    .startDocument(name)
    .uuid('uuid', Buffer.from(version[0], 'hex'))
    .timestamp('timestamp', version[1], version[2])
    .int32('lastMod', version[3])
    .end()
}

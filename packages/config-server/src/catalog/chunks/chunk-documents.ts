/**
 * Documents of config.chunks in the shapes of the emulated version. Manual:
 * reference/config-database. Server: type_chunk.cpp.
 */
import { compareTimestamps, timestampPair, type TimestampPair } from '@shardlab/actor'
import {
  arrayIndexName,
  BsonType,
  DocumentWriter,
  FieldFinder,
  FieldIterator,
  fieldsOf,
  findField,
  objectIdValue,
  readUint32,
  stringValue,
  type RawValue,
} from '@shardlab/bson'
import { formatValue } from '@shardlab/query'
import type { Behaviours, Chunk } from '@shardlab/sharding'

/** The owner of a range since `validAfter`. */
export interface ChunkHistoryEntry {
  readonly validAfter: TimestampPair
  readonly shard: string
}

export interface StoredChunk extends Chunk {
  /** In a parsed chunk, a view into its document. */
  readonly id: RawValue
  /** Null: the field is absent, which means false. */
  readonly jumbo: boolean | null
  /** An int64 measured by a defragmentation; null: not measured. */
  readonly estimatedSize: RawValue | null
  /** Newest first; empty in versions without history. */
  readonly history: readonly ChunkHistoryEntry[]
}

export interface ChunkOwner {
  readonly ns: string
  readonly uuid: Uint8Array
  readonly epoch: Uint8Array
}

/**
 * `range-first`: collection, range and shard precede the version, as in chunks of a new collection.
 * `version-first`: as some operations of older versions write them.
 */
export type ChunkFieldOrder = 'range-first' | 'version-first'

const field = { _id: 0, min: 1, max: 2, shard: 3, lastmod: 4, estimatedDataSizeBytes: 5, jumbo: 6, history: 7 } as const
const finder = new FieldFinder(Object.keys(field))

/**
 * Parses any document of config.chunks, including those that clients wrote. Of fields with the same
 * name the first counts.
 * @returns null: a bound, the shard or the version is missing
 */
export function parseStoredChunk(document: Uint8Array): StoredChunk | null {
  finder.locate(document)
  const id = finder.valueOf(field._id)
  if (
    id === undefined ||
    finder.typeOf(field.min) !== BsonType.object ||
    finder.typeOf(field.max) !== BsonType.object ||
    finder.typeOf(field.shard) !== BsonType.string ||
    finder.typeOf(field.lastmod) !== BsonType.timestamp
  )
    return null
  const versionAt = finder.startOf(field.lastmod)
  const historyAt = finder.typeOf(field.history) === BsonType.array ? finder.startOf(field.history) : -1
  return {
    min: document.subarray(finder.startOf(field.min), finder.endOf(field.min)),
    max: document.subarray(finder.startOf(field.max), finder.endOf(field.max)),
    shard: finder.valueOf(field.shard)!.asName(),
    major: readUint32(document, versionAt + 4),
    minor: readUint32(document, versionAt),
    id,
    jumbo: finder.valueOf(field.jumbo)?.isTruthy() ?? null,
    estimatedSize: finder.valueOf(field.estimatedDataSizeBytes) ?? null,
    history: historyAt < 0 ? [] : parseHistory(document, historyAt),
  }
}

function parseHistory(bytes: Uint8Array, start: number): ChunkHistoryEntry[] {
  const entries: ChunkHistoryEntry[] = []
  for (const it = new FieldIterator(bytes, start); it.next();) {
    if (it.type !== BsonType.object) continue
    const validAfter = findField(bytes, 'validAfter', it.valueStart)
    const shard = findField(bytes, 'shard', it.valueStart)
    if (validAfter?.type === BsonType.timestamp && shard?.type === BsonType.string)
      entries.push({ validAfter: timestampPair(validAfter), shard: shard.asName() })
  }
  return entries
}

/** @param order matters only in versions whose operations differ in it */
export function chunkDocumentOf(
  behaviours: Behaviours,
  { ns, uuid, epoch }: ChunkOwner,
  chunk: StoredChunk,
  order: ChunkFieldOrder = 'range-first',
): Uint8Array {
  const writer = new DocumentWriter(256).value('_id', chunk.id)
  const isByUuid = behaviours.chunksAreKeyedByUuid
  const version = () => {
    writer.timestamp('lastmod', chunk.major, chunk.minor)
    if (!isByUuid) writer.objectId('lastmodEpoch', epoch)
  }
  const versionFirst = !isByUuid && (order === 'version-first' || behaviours.chunkDocumentsBeginWithVersion)
  if (versionFirst) version()
  if (isByUuid) writer.uuid('uuid', uuid)
  else writer.string('ns', ns)
  writer.document('min', chunk.min).document('max', chunk.max).string('shard', chunk.shard)
  if (!versionFirst) version()
  if (chunk.estimatedSize !== null) writer.value('estimatedDataSizeBytes', chunk.estimatedSize)
  if (chunk.jumbo !== null) writer.bool('jumbo', chunk.jumbo)
  return behaviours.chunksHaveHistory ? writeHistory(writer, behaviours, chunk.history).finish() : writer.finish()
}

function writeHistory(
  writer: DocumentWriter,
  behaviours: Behaviours,
  history: readonly ChunkHistoryEntry[],
): DocumentWriter {
  const newest = history[0]
  if (behaviours.chunksHaveOnCurrentShardSince && newest !== undefined)
    writer.timestamp('onCurrentShardSince', newest.validAfter[0], newest.validAfter[1])
  writer.startArray('history')
  history.forEach(({ validAfter, shard }, i) =>
    writer
      .startDocument(arrayIndexName(i))
      .timestamp('validAfter', validAfter[0], validAfter[1])
      .string('shard', shard)
      .end(),
  )
  return writer.end()
}

/**
 * Built from namespace and lower bound (`test.c-a_MinKey`) in versions that do so, otherwise
 * `objectId`.
 */
export function chunkId(behaviours: Behaviours, ns: string, min: Uint8Array, objectId: Uint8Array): RawValue {
  if (!behaviours.chunkIdsContainRange) return objectIdValue(objectId)
  const bounds = fieldsOf(min).map(([name, value]) => `${name}_${formatValue(value)}`)
  return stringValue(`${ns}-${bounds.join('')}`)
}

/** @returns `[0, 1]` for an empty list */
export function latest(times: readonly TimestampPair[]): TimestampPair {
  return times.reduce<TimestampPair>((newest, time) => (compareTimestamps(time, newest) > 0 ? time : newest), [0, 1])
}

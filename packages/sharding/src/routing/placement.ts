import { BsonType, CommandError, findField, hexOf, readUint32, type RawValue } from '@shardlab/bson'
import { readChunkFields } from '../model/chunk.js'
import type { PlacementVersion } from '../model/placement-version.js'
import { ShardKeyPattern } from '../model/shard-key-pattern.js'
import { RoutingTable, type ChunkEntry } from './routing-table.js'
import { TableUpdate } from './table-update.js'

/**
 * A collection's placement in the memory of routers and shards, built from the catalog's documents.
 * Immutable.
 */
export interface CollectionPlacement {
  readonly ns: string
  readonly uuid: Uint8Array
  readonly shardKey: ShardKeyPattern
  readonly unique: boolean
  /** Not sharded, but in the catalog with one chunk, because it was moved or unsharded. */
  readonly isUnsplittable: boolean
  readonly defaultCollation: Uint8Array | null
  readonly table: RoutingTable
}

export interface PlacementAnswer {
  /** The config.collections document; null: the catalog does not have the collection. */
  readonly collection: Uint8Array | null
  /**
   * The config.chunks documents, or a table made from them: all chunks, or those that changed since
   * the version in the request.
   */
  readonly chunks: readonly Uint8Array[] | TableUpdate
  readonly full: boolean
}

/**
 * The placement after the catalog's answer; null: the catalog does not have the collection.
 * @param known the member's placement, to which an answer that is not full applies
 * @throws CommandError 117 ConflictingOperationInProgress if the chunks leave a gap or overlap
 */
export function applyPlacementAnswer(
  ns: string,
  known: CollectionPlacement | null,
  { collection, chunks, full }: PlacementAnswer,
): CollectionPlacement | null {
  if (collection === null) return null
  if (full) return consistent(ns, () => wholePlacement(ns, collection, chunks))
  if (known === null || !isOfGeneration(collection, known.table.version))
    throw new Error(`the changes of ${ns} apply to a placement that this member does not have`)
  const { table, shardKey } = known
  const changed = chunks instanceof TableUpdate ? chunks.newerThan(table) : changedTable(ns, table, shardKey, chunks)
  return changed === table ? known : withTable(known, changed)
}

/** @throws CommandError 117 ConflictingOperationInProgress if the chunks leave a gap or overlap */
export function wholeTable(
  ns: string,
  collection: Uint8Array,
  shardKey: ShardKeyPattern,
  documents: Iterable<Uint8Array>,
): RoutingTable {
  return consistent(ns, () => tableOf(collection, shardKey, documents))
}

/**
 * The same table if there are no changes.
 * @param documents the chunks that are newer than the table
 * @throws CommandError 117 ConflictingOperationInProgress if they cannot be part of the placement
 */
export function changedTable(
  ns: string,
  table: RoutingTable,
  shardKey: ShardKeyPattern,
  documents: readonly Uint8Array[],
): RoutingTable {
  if (documents.length === 0) return table
  return consistent(ns, () => table.withChanges([...chunkEntries(shardKey, documents)]))
}

/**
 * Lists each field: spreading a placement and replacing its table takes much longer, and happens
 * for each commit.
 */
function withTable(
  { ns, uuid, shardKey, unique, isUnsplittable, defaultCollation }: CollectionPlacement,
  table: RoutingTable,
): CollectionPlacement {
  return { ns, uuid, shardKey, unique, isUnsplittable, defaultCollation, table }
}

/**
 * Clients can write to the catalog, so its documents may not form a placement. Server:
 * chunk_manager.cpp, validateChunk.
 */
function consistent<T>(ns: string, build: () => T): T {
  try {
    return build()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(
      'ConflictingOperationInProgress',
      `Gap or overlap exists in the routing table of collection ${ns}: ${reason}`,
      {
        cause: error,
      },
    )
  }
}

function wholePlacement(
  ns: string,
  collection: Uint8Array,
  chunks: readonly Uint8Array[] | TableUpdate,
): CollectionPlacement {
  const field = (name: string) => findField(collection, name)
  // Copied: a view would keep the whole answer in memory.
  const shardKey = ShardKeyPattern.parse(new Uint8Array(field('key')!.slice()), { compoundHashed: true })
  const collation = field('defaultCollation')
  return {
    ns,
    uuid: new Uint8Array(field('uuid')!.asBinary()),
    shardKey,
    unique: isTrue(field('unique')),
    isUnsplittable: isTrue(field('unsplittable')),
    defaultCollation: collation === undefined ? null : new Uint8Array(collation.slice()),
    table: chunks instanceof TableUpdate ? chunks.table : tableOf(collection, shardKey, chunks),
  }
}

function tableOf(collection: Uint8Array, shardKey: ShardKeyPattern, documents: Iterable<Uint8Array>): RoutingTable {
  const bounds = { globalMin: shardKey.globalMinKeyString, globalMax: shardKey.globalMaxKeyString }
  return RoutingTable.build(generationOf(collection), bounds, chunkEntries(shardKey, documents))
}

/** Lazy. Most chunks of a whole answer begin where the previous one ends. */
function* chunkEntries(shardKey: ShardKeyPattern, documents: Iterable<Uint8Array>): Generator<ChunkEntry, void, void> {
  let before: Uint8Array | null = null
  let [beforeStart, beforeEnd] = [0, 0]
  let end = ''
  for (const document of documents) {
    const { minStart, minEnd, maxStart, maxEnd, shard, major, minor } = readChunkFields(document)
    const isAdjacent = before !== null && isSameRange(before, beforeStart, beforeEnd, document, minStart, minEnd)
    const min = isAdjacent ? end : keyOfBound(shardKey, document, minStart)
    end = keyOfBound(shardKey, document, maxStart)
    yield { min, max: end, shard, major, minor }
    before = document
    beforeStart = maxStart
    beforeEnd = maxEnd
  }
}

function isSameRange(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): boolean {
  const length = aEnd - aStart
  if (bEnd - bStart !== length) return false
  for (let i = 0; i < length; i++) if (a[aStart + i] !== b[bStart + i]) return false
  return true
}

/** Null in a request to the catalog requests all chunks. */
export function knownVersion(placement: CollectionPlacement | null): PlacementVersion | null {
  return placement === null ? null : placement.table.version
}

/** Of a config.collections document; a missing timestamp (before 5.0) counts as 0. */
export function generationOf(collection: Uint8Array): [epoch: string, seconds: number, increment: number] {
  const epoch = epochOf(findField(collection, 'lastmodEpoch')!)
  const timestamp = findField(collection, 'timestamp')
  if (timestamp?.type !== BsonType.timestamp) return [epoch, 0, 0]
  return [epoch, readUint32(timestamp.bytes, timestamp.start + 4), readUint32(timestamp.bytes, timestamp.start)]
}

/** Whether the document has this generation. */
export function isOfGeneration(collection: Uint8Array, [epoch, seconds, increment]: PlacementVersion): boolean {
  if (epochOf(findField(collection, 'lastmodEpoch')!) !== epoch) return false
  const timestamp = findField(collection, 'timestamp')
  if (timestamp?.type !== BsonType.timestamp) return seconds === 0 && increment === 0
  const { bytes, start } = timestamp
  return readUint32(bytes, start + 4) === seconds && readUint32(bytes, start) === increment
}

/** Many consecutive answers are about one collection. */
let [lastEpoch, lastEpochBytes] = ['', new Uint8Array(0)]

function epochOf({ bytes, start, end }: RawValue): string {
  if (!isSameRange(lastEpochBytes, 0, lastEpochBytes.length, bytes, start, end)) {
    lastEpochBytes = new Uint8Array(bytes.subarray(start, end))
    lastEpoch = hexOf(lastEpochBytes)
  }
  return lastEpoch
}

function isTrue(value: RawValue | undefined): boolean {
  return value?.type === BsonType.bool && value.isTruthy()
}

/** Rejects values that are not bounds, because comparisons with them would be meaningless. */
function keyOfBound(shardKey: ShardKeyPattern, document: Uint8Array, start: number): string {
  const key = shardKey.keyStringOfBound(document, start)
  if (key === undefined) throw new Error('a chunk bound does not match the shard key pattern')
  return key
}

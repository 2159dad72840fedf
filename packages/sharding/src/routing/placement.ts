/**
 * A collection's placement as routers and shards hold it in memory, built from the catalog's
 * documents.
 */
import { BsonType, CommandError, findField, hexOf, readUint32, type RawValue } from '@shardlab/bson'
import { readChunkFields } from '../model/chunk.js'
import type { PlacementVersion } from '../model/placement-version.js'
import { ShardKeyPattern } from '../model/shard-key-pattern.js'
import { RoutingTable, type ChunkEntry } from './routing-table.js'
import { TableUpdate } from './table-update.js'

/** Everything that routing a collection of the catalog needs. Immutable. */
export interface CollectionPlacement {
  readonly ns: string
  readonly uuid: Uint8Array
  readonly shardKey: ShardKeyPattern
  readonly unique: boolean
  /**
   * It is not sharded: the catalog knows it because it has been moved or unsharded, and it has one
   * chunk.
   */
  readonly isUnsplittable: boolean
  readonly defaultCollation: Uint8Array | null
  readonly table: RoutingTable
}

/** The answer of the catalog. */
export interface PlacementAnswer {
  /** The config.collections document; null: the catalog does not have the collection. */
  readonly collection: Uint8Array | null
  /**
   * The config.chunks documents, or a table made of them: of all chunks, or of those that changed
   * after the version that the asker knows.
   */
  readonly chunks: readonly Uint8Array[] | TableUpdate
  readonly full: boolean
}

/**
 * The placement after the catalog's answer; null: the catalog does not have the collection.
 * @param known the placement of the asker, to which an answer applies that is not full
 * @throws CommandError 117 ConflictingOperationInProgress: the chunks leave a gap or overlap
 */
export function applyPlacementAnswer(
  ns: string,
  known: CollectionPlacement | null,
  { collection, chunks, full }: PlacementAnswer,
): CollectionPlacement | null {
  if (collection === null) return null
  if (full) return consistent(ns, () => wholePlacement(ns, collection, chunks))
  if (known === null || !isOfGeneration(collection, known.table.version))
    throw new Error(`the changes of ${ns} build on a placement that is not known`)
  const { table, shardKey } = known
  const changed = chunks instanceof TableUpdate ? chunks.newerThan(table) : changedTable(ns, table, shardKey, chunks)
  return changed === table ? known : withTable(known, changed)
}

/**
 * The routing table of all chunks of a collection.
 * @throws CommandError 117 ConflictingOperationInProgress: they leave a gap or overlap
 */
export function wholeTable(
  ns: string,
  collection: Uint8Array,
  shardKey: ShardKeyPattern,
  documents: Iterable<Uint8Array>,
): RoutingTable {
  return consistent(ns, () => tableOf(collection, shardKey, documents))
}

/**
 * The routing table after the changes; itself when there are none.
 * @param documents the chunks that are newer than the table
 * @throws CommandError 117 ConflictingOperationInProgress: they cannot be a part of the placement
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
 * Each field by its name: to spread a placement and to put another table in it takes much longer,
 * and there is one for each commit.
 */
function withTable(
  { ns, uuid, shardKey, unique, isUnsplittable, defaultCollation }: CollectionPlacement,
  table: RoutingTable,
): CollectionPlacement {
  return { ns, uuid, shardKey, unique, isUnsplittable, defaultCollation, table }
}

/**
 * Clients can write to the catalog, and what they leave there need not be a placement. Server:
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

/** One by one. Most chunks of a whole answer begin where the one before them ends. */
function* chunkEntries(shardKey: ShardKeyPattern, documents: Iterable<Uint8Array>): Generator<ChunkEntry, void, void> {
  let before: Uint8Array | null = null
  let [beforeStart, beforeEnd] = [0, 0]
  let end = ''
  for (const document of documents) {
    const { minStart, minEnd, maxStart, maxEnd, shard, major, minor } = readChunkFields(document)
    const goesOn = before !== null && isSameRange(before, beforeStart, beforeEnd, document, minStart, minEnd)
    const min = goesOn ? end : keyOfBound(shardKey, document, minStart)
    end = keyOfBound(shardKey, document, maxStart)
    yield { min, max: end, shard, major, minor }
    before = document
    beforeStart = maxStart
    beforeEnd = maxEnd
  }
}

/** The same bytes in both places? */
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

/** The version to ask the catalog with: null asks for everything. */
export function knownVersion(placement: CollectionPlacement | null): PlacementVersion | null {
  return placement === null ? null : placement.table.version
}

/**
 * `[epoch, timestamp]` of a config.collections document; without a timestamp (before 5.0) it counts
 * as 0.
 */
export function generationOf(collection: Uint8Array): [epoch: string, seconds: number, increment: number] {
  const epoch = epochOf(findField(collection, 'lastmodEpoch')!)
  const timestamp = findField(collection, 'timestamp')
  if (timestamp?.type !== BsonType.timestamp) return [epoch, 0, 0]
  return [epoch, readUint32(timestamp.bytes, timestamp.start + 4), readUint32(timestamp.bytes, timestamp.start)]
}

/** Is it the same creation of the collection? See {@link generationOf}. */
export function isOfGeneration(collection: Uint8Array, [epoch, seconds, increment]: PlacementVersion): boolean {
  if (epochOf(findField(collection, 'lastmodEpoch')!) !== epoch) return false
  const timestamp = findField(collection, 'timestamp')
  if (timestamp?.type !== BsonType.timestamp) return seconds === 0 && increment === 0
  const { bytes, start } = timestamp
  return readUint32(bytes, start + 4) === seconds && readUint32(bytes, start) === increment
}

/** The last one that was asked for: there are many answers about one collection. */
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

/** Nothing could be compared with what is no bound: a table would be made of it all the same. */
function keyOfBound(shardKey: ShardKeyPattern, document: Uint8Array, start: number): string {
  const key = shardKey.keyStringOfBound(document, start)
  if (key === undefined) throw new Error('a bound of a chunk is none of the shard key')
  return key
}

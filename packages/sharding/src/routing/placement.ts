/**
 * A collection's placement as routers and shards hold it in memory, built from the catalog's documents.
 */
import { CommandError, decode, findField, type Document } from '@shardlab/bson'
import { parseChunk } from '../model/chunk.js'
import { sameGeneration, type PlacementVersion } from '../model/placement-version.js'
import { ShardKeyPattern } from '../model/shard-key-pattern.js'
import { RoutingTable, type ChunkEntry } from './routing-table.js'

/** Everything that routing a collection of the catalog needs. Immutable. */
export interface CollectionPlacement {
  readonly ns: string
  readonly uuid: Uint8Array
  readonly shardKey: ShardKeyPattern
  readonly unique: boolean
  /** It is not sharded: the catalog knows it because it has been moved or unsharded, and it has one chunk. */
  readonly isUnsplittable: boolean
  readonly defaultCollation: Uint8Array | null
  readonly table: RoutingTable
}

/** The answer of the catalog: the collection's document and its chunks, all of them or those that changed. */
export interface PlacementAnswer {
  readonly collection: Uint8Array | null
  readonly chunks: readonly Uint8Array[]
  readonly full: boolean
}

/**
 * The placement after the catalog's answer; null when the catalog does not have the collection.
 * @param known what the asker had, on which an answer that is not full builds
 */
export function applyPlacementAnswer(ns: string, known: CollectionPlacement | null, answer: PlacementAnswer): CollectionPlacement | null {
  if (answer.collection === null) return null
  const entry = decode(answer.collection)
  const generation = generationOf(entry)
  const key = findField(answer.collection, 'key')!.slice()
  if (!answer.full) {
    if (known === null || !sameGeneration(known.table.version, [...generation, 0, 0]))
      throw new Error(`the changes of ${ns} build on a placement that is not known`)
    if (answer.chunks.length === 0) return known
    return consistent(ns, () => ({
      ...known,
      table: known.table.withChanges(answer.chunks.map((chunk) => chunkEntry(known.shardKey, chunk))),
    }))
  }
  const { collection } = answer
  return consistent(ns, () => wholePlacement(ns, { ...answer, collection }, generation, key))
}

/** Clients can write to the catalog, and what they leave there need not be a placement. Server: chunk_manager.cpp, validateChunk. */
function consistent(ns: string, build: () => CollectionPlacement): CollectionPlacement {
  try {
    return build()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError('ConflictingOperationInProgress', `Gap or overlap exists in the routing table of collection ${ns}: ${reason}`, {
      cause: error,
    })
  }
}

function wholePlacement(
  ns: string,
  answer: PlacementAnswer & { readonly collection: Uint8Array },
  generation: ReturnType<typeof generationOf>,
  key: Uint8Array,
): CollectionPlacement {
  const entry = decode(answer.collection)
  const shardKey = ShardKeyPattern.parse(key, { compoundHashed: true })
  const collation = findField(answer.collection, 'defaultCollation')
  return {
    ns,
    uuid: (entry['uuid'] as { buffer: Uint8Array }).buffer,
    shardKey,
    unique: entry['unique'] === true,
    isUnsplittable: entry['unsplittable'] === true,
    defaultCollation: collation === undefined ? null : collation.slice(),
    table: RoutingTable.build(
      generation,
      { globalMin: shardKey.globalMinKeyString, globalMax: shardKey.globalMaxKeyString },
      answer.chunks.map((chunk) => chunkEntry(shardKey, chunk)),
    ),
  }
}

/** The version to ask the catalog with: null asks for everything. */
export function knownVersion(placement: CollectionPlacement | null): PlacementVersion | null {
  return placement === null ? null : placement.table.version
}

/** `[epoch, timestamp]` of a config.collections document; without a timestamp (before 5.0) it counts as 0. */
export function generationOf(collection: Document): [epoch: string, seconds: number, increment: number] {
  const timestamp = collection['timestamp'] as { t: number; i: number } | undefined
  return [(collection['lastmodEpoch'] as { toHexString(): string }).toHexString(), timestamp?.t ?? 0, timestamp?.i ?? 0]
}

function chunkEntry(shardKey: ShardKeyPattern, document: Uint8Array): ChunkEntry {
  const chunk = parseChunk(document)
  return {
    min: shardKey.keyStringOfBound(chunk.min)!,
    max: shardKey.keyStringOfBound(chunk.max)!,
    shard: chunk.shard,
    major: chunk.major,
    minor: chunk.minor,
  }
}

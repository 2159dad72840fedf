/** Server: sharding_catalog_manager_chunk_operations.cpp, commitChunkMigration. */
import { snapshotWindowSeconds } from '@shardlab/node'
import { compareTimestamps, type TimestampPair } from '@shardlab/actor'
import { compareDocuments, CommandError } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { ChunkHistoryEntry, StoredChunk } from '../chunks/chunk-documents.js'
import {
  nextMajor,
  nextMinor,
  withVersion,
  type ChunkVersion,
  type CollectionChunks,
} from '../chunks/chunk-operations.js'
import type { CatalogHost } from '../host.js'

export interface RangeMove {
  /** The range is one chunk or a part of it. */
  readonly min: Uint8Array
  readonly max: Uint8Array
  readonly toShard: string
  /** Later than all times in the chunk's history. */
  readonly validAfter: TimestampPair
}

export interface MovedRange {
  readonly moved: StoredChunk
  /** The parts of the chunk that stay on the donor. */
  readonly rest: readonly StoredChunk[]
  /**
   * Another chunk of the donor, whose version was raised so that routers notice; null: the donor
   * has none.
   */
  readonly control: StoredChunk | null
  readonly collectionVersion: ChunkVersion
  /** 0|0 when the donor gave away its last chunk. */
  readonly donorVersion: ChunkVersion
}

/**
 * The major version grows by one: the moved chunk gets minor 0; the rest of the chunk and a control
 * chunk of the donor get the next minors. The moved chunk keeps its `_id`; the rest gets new ones
 * and keeps the history. The caller flushes the node.
 * @param chunk as stored and covering the range: the caller makes the checks of a commit
 * @throws CommandError 105 IncompatibleShardingMetadata when the history is not older than the
 *   move; nothing has changed then
 */
export function moveRange(
  catalog: CatalogHost,
  chunks: CollectionChunks,
  chunk: StoredChunk,
  move: RangeMove,
): MovedRange {
  const { min, max, toShard, validAfter } = move
  const newest = chunk.history[0]
  if (newest !== undefined && compareTimestamps(newest.validAfter, validAfter) >= 0) {
    const text = ([seconds, increment]: TimestampPair) => `Timestamp(${seconds}, ${increment})`
    throw new CommandError(
      'IncompatibleShardingMetadata',
      `The chunk history for chunk with namespace ${chunks.ns} and min key ${formatDocument(min)} is corrupted. The last validAfter ${text(newest.validAfter)} is greater or equal to the new validAfter ${text(validAfter)}`,
    )
  }
  const control = chunks.lowestOnBeside(chunk.shard, chunk.min)
  let version = nextMajor(chunks.version)
  const { behaviours } = catalog
  const history = [
    { validAfter, shard: toShard },
    ...recent(chunk.history, validAfter[0], historyWindowSeconds(catalog)),
  ]
  const jumbo = behaviours.movedChunksKeepJumbo ? chunk.jumbo : null
  const isWhole = compareDocuments(chunk.min, min) === 0 && compareDocuments(max, chunk.max) === 0
  const estimatedSize = isWhole ? chunk.estimatedSize : null
  const moved: StoredChunk = withVersion({ ...chunk, min, max, shard: toShard, history, jumbo, estimatedSize }, version)
  chunks.replace(moved, 'version-first')
  const rest: StoredChunk[] = []
  const leave = (from: Uint8Array, to: Uint8Array) => {
    if (compareDocuments(from, to) === 0) return
    version = nextMinor(version)
    rest.push(withVersion({ ...chunk, id: chunks.newId(from), min: from, max: to, estimatedSize: null }, version))
  }
  leave(chunk.min, min)
  leave(max, chunk.max)
  for (const part of rest) chunks.put(part, 'version-first')
  let raised: StoredChunk | null = null
  if (control !== null) {
    version = nextMinor(version)
    raised = withVersion(
      behaviours.controlChunksHaveJumbo ? { ...control, jumbo: control.jumbo === true } : control,
      version,
    )
    chunks.replace(raised, 'version-first')
  }
  chunks.noteVersion(version)
  const donorVersion: ChunkVersion = raised === null && rest.length === 0 ? [0, 0] : version
  return { moved, rest, control: raised, collectionVersion: version, donorVersion }
}

/** How long the catalog keeps previous owners of a chunk. */
export function historyWindowSeconds({ behaviours, node }: CatalogHost): number {
  const lifetime = behaviours.mergedChunksKeepTheirTime ? node.parameters.number('transactionLifetimeLimitSeconds') : 0
  return Math.max(snapshotWindowSeconds(node), lifetime, 10)
}

function recent(
  history: readonly ChunkHistoryEntry[],
  nowSeconds: number,
  windowSeconds: number,
): readonly ChunkHistoryEntry[] {
  let length = history.length
  while (length > 1 && history[length - 1]!.validAfter[0] + windowSeconds < nowSeconds) length--
  return history.slice(0, length)
}

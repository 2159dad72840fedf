/** Server: sharding_catalog_manager_chunk_operations.cpp, commitChunkSplit. */
import { compareDocuments, CommandError, documentAt, DocumentWriter, toExtendedJson } from '@shardlab/bson'
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { formatDocument } from '@shardlab/query'
import { formatRange } from '@shardlab/sharding'
import { logChange, writeChangelogVersion } from '../changelog.js'
import type { StoredChunk } from './chunk-documents.js'
import { CollectionChunks, nextMinor, withVersion, type ChunkVersion } from './chunk-operations.js'
import { checkStorableKey } from '../store/storable-key.js'
import type { ChunkHost } from '../host.js'

/**
 * Each part gets a new minor version and keeps the history; the first part keeps the `_id`.
 * @throws CommandError 117 ConflictingOperationInProgress: no such collection; 150 StaleEpoch; 105
 *   IncompatibleShardingMetadata: no chunk starts there; 2 BadValue: another chunk or shard, or a
 *   key that cannot be stored; 72 InvalidOptions: split points outside the chunk or not ascending
 */
export async function commitChunkSplit(
  catalog: ChunkHost,
  request: RequestOf<'config.commit-chunk-split'>,
): Promise<ReplyOf<'config.commit-chunk-split'>> {
  const { ns, min, max, splitPoints, shard } = request
  const range = formatRange(min, max)
  const chunks = openCollection(catalog, ns, `splitChunk cannot split chunk ${range}.`)
  const [epoch, seconds, increment] = request.generation
  if (!chunks.isGeneration([epoch, [seconds, increment]]))
    throw new CommandError(
      'StaleEpoch',
      `splitChunk cannot split chunk ${range}. Epoch of collection '${ns}' has changed. Current epoch: ${chunks.epoch}, cmd epoch: ${epoch}`,
    )
  const chunk = chunks.at(min)
  if (chunk === null) throw noChunkAt(ns, min)
  if (compareDocuments(chunk.max, max) !== 0 || chunk.shard !== shard)
    throw new CommandError(
      'BadValue',
      `Could not meet precondition to split chunk, expected chunk with range ${range} in shard ${shard} but no chunk was found`,
    )
  const before = chunks.version
  const parts = partsOf(catalog, chunks, chunk, splitPoints, before)
  for (const part of parts) chunks.put(part, 'version-first')
  logSplit(catalog, chunks, { chunk, before, parts })
  await catalog.node.flushToMajority()
  const { context } = catalog.node
  const text = (document: Uint8Array) => toExtendedJson(document)
  context.emit({
    type: 'split',
    atMs: context.now(),
    ns,
    shard,
    min: text(min),
    max: text(max),
    points: splitPoints.map(text),
  })
  return { error: null }
}

/**
 * @param context prefix of the message; null: none
 * @throws CommandError 117 ConflictingOperationInProgress
 */
export function openCollection(catalog: ChunkHost, ns: string, context: string | null = null): CollectionChunks {
  const chunks = CollectionChunks.open(catalog, ns)
  if (chunks !== null) return chunks
  const message = `Sharded collection '${ns}' no longer exists`
  throw new CommandError(
    'ConflictingOperationInProgress',
    context === null ? message : `${context} :: caused by :: ${message}`,
  )
}

function noChunkAt(ns: string, min: Uint8Array): CommandError {
  return new CommandError(
    'IncompatibleShardingMetadata',
    `Tried to find the chunk for namespace ${ns} and min key ${formatDocument(min)}, but found no chunks`,
  )
}

function partsOf(
  { behaviours }: ChunkHost,
  chunks: CollectionChunks,
  chunk: StoredChunk,
  splitPoints: readonly Uint8Array[],
  before: ChunkVersion,
): StoredChunk[] {
  const parts: StoredChunk[] = []
  let version = before
  let start = chunk.min
  for (const end of [...splitPoints.map((point) => documentAt(point, 0)), chunk.max]) {
    checkSplitPoint(chunk, start, end)
    version = nextMinor(version)
    const id = parts.length === 0 ? chunk.id : chunks.newId(start)
    const jumbo = behaviours.splitChunksHaveJumbo ? false : null
    parts.push(withVersion({ ...chunk, id, min: start, max: end, estimatedSize: null, jumbo }, version))
    start = end
  }
  return parts
}

function checkSplitPoint({ min, max }: StoredChunk, start: Uint8Array, end: Uint8Array): void {
  const isLast = compareDocuments(end, max) === 0
  if (!isLast && (compareDocuments(end, min) < 0 || compareDocuments(end, max) > 0))
    throw new CommandError(
      'InvalidOptions',
      `Split key ${formatDocument(end)} not contained within chunk ${formatRange(min, max)}`,
    )
  const order = compareDocuments(end, start)
  if (order < 0)
    throw new CommandError(
      'InvalidOptions',
      `Split keys must be specified in strictly increasing order. Key ${formatDocument(end)} was specified after ${formatDocument(start)}.`,
    )
  if (order === 0)
    throw new CommandError(
      'InvalidOptions',
      `Split on lower bound of chunk [${formatDocument(start)}, ${formatDocument(end)}] is not allowed`,
    )
  checkStorableKey(end)
}

interface Split {
  readonly chunk: StoredChunk
  /** Of the collection. */
  readonly before: ChunkVersion
  readonly parts: readonly StoredChunk[]
}

function logSplit(catalog: ChunkHost, chunks: CollectionChunks, split: Split): void {
  const { chunk, parts } = split
  if (parts.length === 2) {
    const writer = beforeOf(catalog, chunks, split)
    parts.forEach((part, i) => writePart(writer, catalog, chunks, i === 0 ? 'left' : 'right', part))
    logChange(catalog, { what: 'split', ns: chunks.ns, details: withOwner(writer, catalog, chunk.shard).finish() })
    return
  }
  parts.forEach((part, i) => {
    const writer = beforeOf(catalog, chunks, split)
      .int32('number', i + 1)
      .int32('of', parts.length)
    writePart(writer, catalog, chunks, 'chunk', part)
    logChange(catalog, {
      what: 'multi-split',
      ns: chunks.ns,
      details: withOwner(writer, catalog, chunk.shard).finish(),
    })
  })
}

function beforeOf(catalog: ChunkHost, chunks: CollectionChunks, { chunk, before }: Split): DocumentWriter {
  return writePart(new DocumentWriter(512), catalog, chunks, 'before', withVersion(chunk, before))
}

function writePart(
  writer: DocumentWriter,
  { behaviours }: ChunkHost,
  chunks: CollectionChunks,
  name: string,
  { min, max, major, minor }: StoredChunk,
): DocumentWriter {
  writer.startDocument(name).document('min', min).document('max', max)
  return writeChangelogVersion(writer, behaviours, 'lastmod', chunks.placementVersion([major, minor])).end()
}

function withOwner(writer: DocumentWriter, { behaviours }: ChunkHost, shard: string): DocumentWriter {
  return behaviours.changelogNamesOwningShard ? writer.string('owningShard', shard) : writer
}

/** Server: sharding_catalog_manager_chunk_operations.cpp, commitChunksMerge. */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { arrayIndexName, compareDocuments, CommandError, DocumentWriter, toExtendedJson } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import { formatRange } from '@shardlab/sharding'
import { logChange, writeChangelogVersion } from '../changelog.js'
import { chunkDocumentOf, latest, type StoredChunk } from './chunk-documents.js'
import { nextMinor, withVersion, type ChunkVersion, type CollectionChunks } from './chunk-operations.js'
import { openCollection } from './split-chunk.js'
import type { ChunkHost } from '../host.js'

/**
 * The merged chunk gets a new minor version and the `_id` of its first part. Does nothing if the
 * range is already one chunk.
 * @throws CommandError 117 ConflictingOperationInProgress: no such collection; 150 StaleEpoch; 20
 *   IllegalOperation when the shard's chunks do not fill the range exactly
 */
export async function commitChunksMerge(
  catalog: ChunkHost,
  request: RequestOf<'config.commit-chunks-merge'>,
): Promise<ReplyOf<'config.commit-chunks-merge'>> {
  const { ns, min, max, shard } = request
  // Later moves must have later times than the merge.
  catalog.node.clock.advance(request.validAfter)
  const chunks = openCollection(catalog, ns)
  const [epoch, seconds, increment] = request.generation
  if (!chunks.isGeneration([epoch, [seconds, increment]])) throw new CommandError('StaleEpoch', 'Collection changed')
  if (catalog.behaviours.mergeOfOneChunk === 'refused') checkMergeable(chunks, request)
  const merged = chunks.inRange(min, max, shard)
  if (!fills(merged, min, max))
    throw new CommandError(
      'IllegalOperation',
      `Failed to commit chunk merge :: caused by :: could not merge chunks, shard ${shard} does not contain a sequence of chunks that exactly fills the range ${formatRange(min, max)}`,
    )
  if (merged.length === 1) return { error: null }
  const before = chunks.version
  const version = nextMinor(before)
  const validAfter = catalog.behaviours.mergedChunksKeepTheirTime
    ? latest(merged.flatMap(({ history }) => history.slice(0, 1).map((entry) => entry.validAfter)))
    : request.validAfter
  for (const chunk of merged.slice(1)) chunks.remove(chunk)
  chunks.put(
    withVersion({ ...merged[0]!, max, estimatedSize: null, history: [{ validAfter, shard }] }, version),
    'range-first',
  )
  noteMerge(catalog, chunks, { merged, before, after: version })
  await catalog.node.flushToMajority()
  emitMerge(catalog, ns, merged)
  return { error: null }
}

function fills(chunks: readonly StoredChunk[], min: Uint8Array, max: Uint8Array): boolean {
  let next = min
  for (const chunk of chunks) {
    if (compareDocuments(chunk.min, next) !== 0) return false
    next = chunk.max
  }
  return chunks.length > 0 && compareDocuments(next, max) === 0
}

/**
 * For versions that refuse a range of one chunk; in others the shard checks this. Server:
 * merge_chunks_command.cpp.
 */
function checkMergeable(
  chunks: CollectionChunks,
  { ns, min, max, shard }: RequestOf<'config.commit-chunks-merge'>,
): void {
  const refuse = (reason: string) =>
    new CommandError('IllegalOperation', `could not merge chunks, collection ${ns} ${reason}`)
  const first = chunks.beginningAtOrBelow(min)
  const touched = chunks.inRange(min, max, shard)
  if (first !== null && first.shard === shard && compareDocuments(first.min, min) < 0) touched.unshift(first)
  const range = `range starting at ${formatDocument(min)} and ending at ${formatDocument(max)}`
  if (touched.length === 0) throw refuse(`${range} does not belong to shard ${shard}`)
  const start = touched[0]!
  const end = touched.at(-1)!
  if (compareDocuments(start.min, min) > 0)
    throw refuse(`range starting at ${formatDocument(min)} does not belong to shard ${shard}`)
  if (compareDocuments(end.max, max) < 0)
    throw refuse(`range ending at ${formatDocument(max)} does not belong to shard ${shard}`)
  const starts = compareDocuments(start.min, min) === 0 ? [] : [`starting at ${formatDocument(min)}`]
  const ends = compareDocuments(end.max, max) === 0 ? [] : [`ending at ${formatDocument(max)}`]
  if (starts.length + ends.length > 0) throw refuse(`does not contain a chunk ${[...starts, ...ends].join(' or ')}`)
  if (touched.length === 1) throw refuse(`already contains chunk for ${formatRange(min, max)}`)
  touched.forEach((chunk, i) => {
    const next = touched[i + 1]
    if (next !== undefined && compareDocuments(chunk.max, next.min) !== 0)
      throw refuse(`has a hole in the range ${formatRange(min, max)} at ${formatRange(chunk.max, next.min)}`)
  })
}

export interface Merge {
  readonly merged: readonly StoredChunk[]
  /** Of the collection. */
  readonly before: ChunkVersion
  readonly after: ChunkVersion
}

export function noteMerge(catalog: ChunkHost, chunks: CollectionChunks, { merged, before, after }: Merge): void {
  const { behaviours } = catalog
  const { shard, min } = merged[0]!
  const { max } = merged.at(-1)!
  const writer = new DocumentWriter(512)
  const version = (name: string, pair: ChunkVersion) =>
    writeChangelogVersion(writer, behaviours, name, chunks.placementVersion(pair))
  if (behaviours.changelogCountsMergedChunks) {
    version('prevPlacementVersion', before)
    version('mergedVersion', after)
    writer.string('owningShard', shard).document('min', min).document('max', max).int32('numChunks', merged.length)
  } else {
    writer.startArray('merged')
    merged.forEach((chunk, i) => writer.document(arrayIndexName(i), chunkDocumentOf(behaviours, chunks.owner, chunk)))
    writer.end()
    version('prevShardVersion', before)
    version('mergedVersion', after)
    if (behaviours.changelogNamesOwningShard) writer.string('owningShard', shard)
  }
  logChange(catalog, { what: 'merge', ns: chunks.ns, details: writer.finish() })
}

export function emitMerge({ node }: ChunkHost, ns: string, merged: readonly StoredChunk[]): void {
  const { context } = node
  const { shard, min } = merged[0]!
  const { max } = merged.at(-1)!
  context.emit({
    type: 'merge',
    atMs: context.now(),
    ns,
    shard,
    min: toExtendedJson(min),
    max: toExtendedJson(max),
    chunks: merged.length,
  })
}

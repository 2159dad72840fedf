/** The server's constants and checks that do not depend on how ranges are stored. */
import { CommandError } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { ClonedRange, Size, SplitVectorRequest } from './collection-ranges.js'

/** A last chunk with this share of a full one's documents is not changed. */
export const fullEnough = 0.8
/** Split points that are moved when the last chunk would be smaller. */
export const repositionedMax = 3
/** A range with more than this many times the documents of a full chunk cannot move. */
const chunkSlack = 2
/** In a collection that is empty when the migration begins. */
const documentsPerChunkMax = 250_000
const maxObjectsPerChunk = 250_000

/** A part is half as large as a chunk may be. */
export function keysPerPart(
  maxChunkSizeBytes: number,
  { documents, bytes }: Size,
  { maxChunkObjects }: SplitVectorRequest,
): number {
  const averageBytes = Math.floor(bytes / documents)
  const keys = Math.floor(maxChunkSizeBytes / (2 * averageBytes))
  const most = maxChunkObjects ?? maxObjectsPerChunk
  return most !== 0 && most < keys ? most : keys
}

/**
 * @param totals of the whole collection
 * @param documents in the range
 * @throws CommandError 153 ChunkTooBig
 */
export function checkChunkSize(
  { ns, range }: Pick<ClonedRange, 'ns' | 'range'>,
  totals: Size,
  documents: number,
  maxChunkSizeBytes: number,
): void {
  const averageBytes = totals.documents === 0 ? 0 : Math.floor(totals.bytes / totals.documents)
  const most =
    totals.documents === 0
      ? documentsPerChunkMax + 1
      : chunkSlack * Math.max(1, Math.floor(maxChunkSizeBytes / averageBytes))
  if (documents <= most) return
  throw new CommandError(
    'ChunkTooBig',
    `Cannot move chunk: the maximum number of documents for a chunk is ${most}, the maximum chunk size is ${maxChunkSizeBytes}, average document size is ${averageBytes}. Found ${documents} documents in chunk  ns: ${ns} ${formatDocument(range.min)} -> ${formatDocument(range.max)}`,
  )
}

/** The server's constants and checks that do not depend on how ranges are stored. */
import { CommandError } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'
import type { ClonedRange, Size, SplitVectorRequest } from './collection-ranges.js'

/** A last chunk with this share of a full one's documents is not changed. */
export const fullEnough = 0.8
/** Split points that are moved when the last chunk would be smaller. */
export const repositionedMax = 3
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
  behaviours: Behaviours,
  { ns, range }: Pick<ClonedRange, 'ns' | 'range'>,
  totals: Size,
  documents: number,
  maxChunkSizeBytes: number,
): void {
  const averageBytes = totals.documents === 0 ? 0 : Math.floor(totals.bytes / totals.documents)
  const most =
    totals.documents === 0
      ? documentsPerChunkMax + 1
      : documentsToMove(behaviours, Math.floor(maxChunkSizeBytes / averageBytes))
  if (documents <= most) return
  throw new CommandError(
    'ChunkTooBig',
    `Cannot move chunk: the maximum number of documents for a chunk is ${most}, the maximum chunk size is ${maxChunkSizeBytes}, average document size is ${averageBytes}. Found ${documents} documents in chunk  ns: ${ns} ${formatDocument(range.min)} -> ${formatDocument(range.max)}`,
  )
}

/** The most documents of a range that can move, from those of a full chunk. */
function documentsToMove({ movableRange }: Behaviours, full: number): number {
  switch (movableRange) {
    case '1.3 times, capped':
      return Math.min(documentsPerChunkMax + 1, Math.floor((130 * full) / 100))
    case 'twice':
      return 2 * full
    case 'twice, at least two':
      return 2 * Math.max(1, full)
  }
}

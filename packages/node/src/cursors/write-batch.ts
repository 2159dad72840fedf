import type { DocumentWriter } from '@shardlab/bson'
import { batchBytesMax, checkBuilt, type TimeLimit } from '@shardlab/member'
import type { CursorSource, FillingCommand } from './cursor-manager.js'
import type { WrittenBatch } from './written-batch.js'
import { hasPaused, resumeSource } from './resume-source.js'
import type { NodeInvocation } from '../host/node-host.js'

export interface BatchRequest {
  readonly command: FillingCommand
  readonly writer: DocumentWriter
  readonly source: CursorSource
  readonly countMax: number
  readonly bytesMax: number
  /** Of the command that opened the cursor; null: none. */
  readonly timeLimit: TimeLimit | null
}

/**
 * Writes documents as an array field until `countMax` documents or `bytesMax` are reached; the
 * first document always fits. Reads nothing beyond the batch except a document that does not fit.
 * @param pending the document that did not fit into the last batch
 * @returns a promise only if the source pauses
 * @throws CommandError 10334 BSONObjectTooLarge for a document that is too large for the server
 */
export function writeBatch(
  request: BatchRequest,
  name: string,
  pending: Uint8Array | null,
): WrittenBatch | Promise<WrittenBatch> {
  const { writer, source } = request
  writer.startArray(name)
  const start = writer.length
  const batch = fillBatch(request, start, 0, pending)
  return batch.exhausted && hasPaused(source) ? finishBatch(request, start, batch) : ended(request, batch)
}

async function finishBatch(request: BatchRequest, start: number, begun: WrittenBatch): Promise<WrittenBatch> {
  const { command, source, timeLimit } = request
  let batch = begun
  do {
    await resumeSource(command, source, timeLimit)
    batch = fillBatch(request, start, batch.count, null)
  } while (batch.exhausted && hasPaused(source))
  return ended(request, batch)
}

function ended({ writer, source }: BatchRequest, batch: WrittenBatch): WrittenBatch {
  writer.end()
  source.recordCost?.()
  return batch
}

/** What a router or a client gets in one batch. */
export function bytesOfBatch({ routed }: NodeInvocation): number {
  return routed === null || routed.batchBytesMax === 0 ? batchBytesMax : routed.batchBytesMax
}

/** @param count documents already in the batch */
function fillBatch(
  { writer, source, countMax, bytesMax }: BatchRequest,
  start: number,
  count: number,
  pending: Uint8Array | null,
): WrittenBatch {
  let next = pending
  while (count < countMax) {
    const document = next ?? source.next()
    next = null
    if (document === null) return { count, exhausted: true, pending: null }
    if (source.mayBeTooLarge !== true) checkBuilt(document)
    if (count > 0 && writer.length - start + document.length > bytesMax)
      return { count, exhausted: false, pending: document }
    writer.document(String(count), document)
    count++
  }
  return { count, exhausted: next === null && source.isEOF === true, pending: next }
}

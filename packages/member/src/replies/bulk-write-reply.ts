/** Server: bulk_write_parser.cpp, bulk_write.cpp. Manual: reference/command/bulkWrite, output. */
import { DocumentWriter, type CommandError, type RawValue } from '@shardlab/bson'
import { batchBytesMax } from '../cursors/cursor-limits.js'
import { errorText } from '../writes/error-text.js'

export interface BulkWriteSummary {
  nErrors: number
  nInserted: number
  nMatched: number
  nModified: number
  nUpserted: number
  nDeleted: number
}

export function emptySummary(): BulkWriteSummary {
  return { nErrors: 0, nInserted: 0, nMatched: 0, nModified: 0, nUpserted: 0, nDeleted: 0 }
}

/** Appends the fields after `cursor`. */
export function writeSummary(writer: DocumentWriter, summary: BulkWriteSummary): DocumentWriter {
  return writer
    .int32('nErrors', summary.nErrors)
    .int32('nInserted', summary.nInserted)
    .int32('nMatched', summary.nMatched)
    .int32('nModified', summary.nModified)
    .int32('nUpserted', summary.nUpserted)
    .int32('nDeleted', summary.nDeleted)
}

export interface BulkWriteResult {
  readonly n: number
  /** Of updates only. */
  readonly nModified?: number
  readonly upsertedId?: RawValue | null
}

/** `{ ok: 1, idx, n, nModified?, upserted? }` */
export function resultItem(idx: number, { n, nModified, upsertedId }: BulkWriteResult): Uint8Array {
  const writer = new DocumentWriter(64).double('ok', 1).int32('idx', idx).int32('n', n)
  if (nModified !== undefined) writer.int32('nModified', nModified)
  if (upsertedId !== undefined && upsertedId !== null) writer.startDocument('upserted').value('_id', upsertedId).end()
  return writer.finish()
}

/** `{ ok: 0, idx, code, errmsg, …, n: 0, nModified? }`; a failed update has nModified 0. */
export function errorItem(idx: number, error: CommandError, isUpdate: boolean, earlierErrors: number): Uint8Array {
  const writer = new DocumentWriter(192)
    .double('ok', 0)
    .int32('idx', idx)
    .int32('code', error.code)
    .string('errmsg', errorText(error, earlierErrors))
  if (error.extra !== null) writer.fields(error.extra)
  writer.int32('n', 0)
  if (isUpdate) writer.int32('nModified', 0)
  return writer.finish()
}

export function countOfFirstBatch(items: readonly Uint8Array[], batchSize: number | undefined): number {
  const countMax = Math.min(batchSize ?? Number.POSITIVE_INFINITY, items.length)
  let sizeBytes = 0
  for (let count = 0; count < countMax; count++) {
    sizeBytes += items[count]!.length
    if (count > 0 && sizeBytes > batchBytesMax) return count
  }
  return countMax
}

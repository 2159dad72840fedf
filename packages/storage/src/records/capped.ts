/**
 * Server: collection_options.cpp, capped_collection_maintenance.cpp. Manual page:
 * core/capped-collections.
 */
import { findField } from '@shardlab/bson'
import type { RecordTable, StoredRecord } from './record-table.js'
import type { CappedLimits } from '../engine/types.js'

const greatestMax = 0x7fff_ffff

/** The stored `size`: a multiple of 256 bytes. */
export function cappedSizeBytes(requested: number): number {
  return Math.ceil(requested / 256) * 256
}

/** The stored `max`: zero or a negative number means the maximum. */
export function cappedMaxDocuments(requested: number): number {
  return requested <= 0 ? greatestMax : requested
}

export function cappedLimitsOf(options: Uint8Array): CappedLimits | null {
  if (findField(options, 'capped')?.isTruthy() !== true) return null
  const max = findField(options, 'max')
  return {
    sizeBytes: findField(options, 'size')?.asNumber() ?? 0,
    documents: max === undefined ? null : max.asNumber(),
  }
}

export function overflowOf(
  records: RecordTable,
  dataSizeBytes: number,
  { sizeBytes, documents }: CappedLimits,
): StoredRecord[] {
  let bytesToFree = dataSizeBytes - sizeBytes
  let documentsToFree = documents === null ? 0 : records.count - documents
  const overflow: StoredRecord[] = []
  if (bytesToFree <= 0 && documentsToFree <= 0) return overflow
  const scan = records.scan()
  while ((bytesToFree > 0 || documentsToFree > 0) && overflow.length < records.count - 1) {
    const record = scan.next()!
    overflow.push(record)
    bytesToFree -= record.document.length
    documentsToFree--
  }
  return overflow
}

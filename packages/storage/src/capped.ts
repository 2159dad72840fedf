/**
 * Capped collections: how their limits are stored, and which records are too many.
 * Server: collection_options.cpp, capped_collection_maintenance.cpp. Manual page: core/capped-collections.
 */
import { findField } from '@shardlab/bson'
import type { RecordTable, StoredRecord } from './record-table.js'
import type { CappedLimits } from './types.js'

const greatestMax = 0x7fff_ffff

/** The `size` of a capped collection as it is stored: rounded up to 256 bytes. */
export function cappedSizeBytes(asked: number): number {
  return Math.ceil(asked / 256) * 256
}

/** The `max` of a capped collection as it is stored: zero and less stand for the greatest. */
export function cappedMaxDocuments(asked: number): number {
  return asked <= 0 ? greatestMax : asked
}

/** The limits among a collection's options; null when it is not capped. */
export function cappedLimitsOf(options: Uint8Array): CappedLimits | null {
  if (findField(options, 'capped')?.isTruthy() !== true) return null
  const max = findField(options, 'max')
  return {
    sizeBytes: findField(options, 'size')?.asNumber() ?? 0,
    documents: max === undefined ? null : max.asNumber(),
  }
}

/** The oldest records beyond the limits; the newest one always stays. */
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

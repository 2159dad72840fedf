import { emptyDocument } from '@shardlab/bson'
import {
  encodeLogEntry,
  plainEntryLength,
  writePlainEntry,
  type InsertedDocuments,
  type LogEntry,
} from '@shardlab/storage'

/** Encoded entries, or entries that are encoded when they are written. */
export type Pending = Uint8Array | Unencoded

interface Unencoded {
  readonly length: number
  /** @param target has room for {@link length} bytes */
  writeTo(target: Uint8Array, at: number): void
}

/**
 * Bytes that a record adds on the disk. Counted per entry, although several entries share a record.
 */
export const entryHeaderBytes = 4

export function pendingOf(entry: LogEntry): Pending {
  const length = plainEntryLength(entry)
  return length < 0 ? encodeLogEntry(entry) : new PlainEntry(entry, length)
}

/** Insert entries that differ only in their documents. */
export function pendingInserts(documents: InsertedDocuments, entryOf: (document: Uint8Array) => LogEntry): Pending {
  const around = encodeLogEntry(entryOf(emptyDocument)).length - emptyDocument.length
  const length = documents.count * around + documents.sizeBytes
  const writeTo = (target: Uint8Array, start: number): void => {
    let at = start
    for (const document of documents) {
      const bytes = encodeLogEntry(entryOf(document))
      target.set(bytes, at)
      at += bytes.length
    }
  }
  return { length, writeTo }
}

/** Encodes an entry directly into the record, which saves a copy. */
class PlainEntry implements Unencoded {
  readonly #entry: LogEntry
  readonly length: number

  constructor(entry: LogEntry, length: number) {
    this.#entry = entry
    this.length = length
  }

  writeTo(target: Uint8Array, at: number): void {
    writePlainEntry(this.#entry, target, at)
  }
}

export function bytesOf(pending: Pending): Uint8Array {
  if (pending instanceof Uint8Array) return pending
  const bytes = Buffer.allocUnsafeSlow(pending.length)
  pending.writeTo(bytes, 0)
  return bytes
}

/** Upper bound of the bytes on the disk. */
export function roomOf(entries: readonly Pending[]): number {
  let bytes = 0
  for (const { length } of entries) bytes += length + entryHeaderBytes
  return bytes
}

/** At least one entry. The record is valid until the next call: disks copy it. */
export function recordOf(entries: readonly Pending[]): Uint8Array {
  if (entries.length === 1 && entries[0] instanceof Uint8Array) return entries[0]
  let length = 0
  for (const entry of entries) length += entry.length
  const record = length > scratch.length ? Buffer.allocUnsafeSlow(length) : scratch.subarray(0, length)
  let at = 0
  for (const entry of entries) {
    if (entry instanceof Uint8Array) record.set(entry, at)
    else entry.writeTo(record, at)
    at += entry.length
  }
  return record
}

const scratch = Buffer.allocUnsafeSlow(16 * 1024)

import { emptyDocument, readUint32 } from '@shardlab/bson'
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
  /** The last entries, as {@link newestOf}. Absent: it is one entry. */
  newest?(bytesMax: number): Uint8Array
}

/**
 * Bytes that a record adds on the disk. Counted per entry, although several entries share a record.
 */
export const entryHeaderBytes = 4

export function pendingOf(entry: LogEntry): Pending {
  const length = plainEntryLength(entry)
  return length < 0 ? encodeLogEntry(entry) : new PlainEntry(entry, length)
}

/**
 * Insert entries that differ only in their documents and times.
 * @param entryOf the entry of the document with this number
 */
export function pendingInserts(
  documents: InsertedDocuments,
  entryOf: (document: Uint8Array, index: number) => LogEntry,
): Pending {
  return new PendingInserts(documents, entryOf)
}

class PendingInserts implements Unencoded {
  readonly length: number
  readonly #documents: InsertedDocuments
  readonly #entryOf: (document: Uint8Array, index: number) => LogEntry
  readonly #around: number

  constructor(documents: InsertedDocuments, entryOf: (document: Uint8Array, index: number) => LogEntry) {
    this.#documents = documents
    this.#entryOf = entryOf
    this.#around = encodeLogEntry(entryOf(emptyDocument, 0)).length - emptyDocument.length
    this.length = documents.count * this.#around + documents.sizeBytes
  }

  writeTo(target: Uint8Array, start: number): void {
    this.#write(target, start, 0)
  }

  newest(bytesMax: number): Uint8Array {
    const { count } = this.#documents
    // No more entries than this can fit, so earlier documents need not be visited.
    const first = Math.max(0, count - 1 - Math.floor(bytesMax / this.#around))
    const lengths = [...this.#documents.from(first)].map(({ length }) => length + this.#around)
    let [skipped, bytes] = [count - 1, lengths.at(-1)!]
    while (skipped > first && bytes + lengths[skipped - 1 - first]! <= bytesMax) bytes += lengths[--skipped - first]!
    const target = Buffer.allocUnsafeSlow(bytes)
    this.#write(target, 0, skipped)
    return target
  }

  #write(target: Uint8Array, start: number, skipped: number): void {
    let at = start
    let index = skipped
    for (const document of this.#documents.from(skipped)) {
      const bytes = encodeLogEntry(this.#entryOf(document, index++))
      target.set(bytes, at)
      at += bytes.length
    }
  }
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

/** The last entries that are not larger than this together, and at least the last one. A copy. */
export function newestOf(entries: readonly Pending[], bytesMax: number): Uint8Array {
  const parts: Uint8Array[] = []
  let left = bytesMax
  for (let i = entries.length - 1; i >= 0 && (left > 0 || parts.length === 0); i--) {
    const entry = entries[i]!
    const part = entry.length <= left ? bytesOf(entry) : newestIn(entry, left)
    left -= part.length
    if (left < 0 && parts.length > 0) break
    parts.unshift(part)
    if (part.length < entry.length) break
  }
  return Buffer.concat(parts)
}

function newestIn(pending: Pending, bytesMax: number): Uint8Array {
  if (!(pending instanceof Uint8Array)) return pending.newest?.(bytesMax) ?? bytesOf(pending)
  let start = 0
  for (;;) {
    const next = start + readUint32(pending, start)
    if (pending.length - start <= bytesMax || next === pending.length) return pending.subarray(start)
    start = next
  }
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

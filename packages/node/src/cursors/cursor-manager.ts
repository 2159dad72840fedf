/**
 * Open cursors of one member. Server: cursor_manager.cpp, cluster_cursor_manager.cpp.
 */
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { SessionKey } from '../sessions/session-catalog.js'

/** Where a cursor's documents come from; it owns whatever snapshot they need. */
export interface DocumentSource {
  /** The next document, or null at the end. */
  next(): Uint8Array | null
}

export interface CursorOptions {
  readonly ns: string
  readonly source: DocumentSource
  readonly session: SessionKey | null
  readonly noTimeout: boolean
  /** Batch size of getMore commands that name none; 0: no limit but bytes. */
  readonly batchSize: number
}

export interface OpenCursor extends CursorOptions {
  readonly id: bigint
  lastUsedMs: number
  /** Read ahead of a batch that was full. */
  pending: Uint8Array | null
}

/** Documents of the first batch when the client names no batchSize. */
export const defaultFirstBatch = 101
/** A reply batch ends before it would exceed this many bytes. */
export const batchBytesMax = 16 * 1024 * 1024
/** Idle time after which a cursor is closed: cursorTimeoutMillis. */
export const cursorTimeoutMs = 10 * 60_000

export interface CursorLimits {
  readonly cursorsMax: number
}

export class CursorManager {
  readonly #cursors = new Map<bigint, OpenCursor>()
  readonly #limits: CursorLimits
  readonly #newId: () => bigint

  /** `newId` draws random positive numbers. */
  constructor(newId: () => bigint, limits: CursorLimits = { cursorsMax: 100_000 }) {
    this.#newId = newId
    this.#limits = limits
  }

  get size(): number {
    return this.#cursors.size
  }

  /** @throws CommandError 365 TemporarilyUnavailable when the table is full */
  open(options: CursorOptions, nowMs: number): OpenCursor {
    if (this.#cursors.size >= this.#limits.cursorsMax)
      throw new CommandError('TemporarilyUnavailable', `too many open cursors: the limit is ${this.#limits.cursorsMax}`)
    let id = this.#newId()
    while (this.#cursors.has(id)) id = this.#newId()
    const cursor: OpenCursor = { ...options, id, lastUsedMs: nowMs, pending: null }
    this.#cursors.set(id, cursor)
    return cursor
  }

  /** @throws CommandError 43 CursorNotFound */
  get(id: bigint): OpenCursor {
    const cursor = this.#cursors.get(id)
    if (cursor === undefined) throw new CommandError('CursorNotFound', `cursor id ${id} not found`)
    return cursor
  }

  /** @returns whether there was one */
  close(id: bigint): boolean {
    return this.#cursors.delete(id)
  }

  closeWhere(condition: (cursor: OpenCursor) => boolean): void {
    for (const cursor of [...this.#cursors.values()]) if (condition(cursor)) this.#cursors.delete(cursor.id)
  }

  /** Closes what nobody has used for {@link cursorTimeoutMs}. */
  expire(nowMs: number): void {
    this.closeWhere((cursor) => !cursor.noTimeout && nowMs - cursor.lastUsedMs > cursorTimeoutMs)
  }
}

/** A batch that was written, and whether the source may have more. */
export interface WrittenBatch {
  readonly count: number
  readonly exhausted: boolean
  /** A document that was read but did not fit. */
  readonly pending: Uint8Array | null
}

/**
 * Writes documents of a source as an array field until `countMax` documents or 16 MB are reached. With `countMax` 0 it
 * writes none. One document always fits.
 */
export function writeBatch(
  writer: DocumentWriter,
  name: string,
  source: DocumentSource,
  pending: Uint8Array | null,
  countMax: number,
): WrittenBatch {
  writer.startArray(name)
  const start = writer.length
  let count = 0
  let next = pending
  while (count < countMax) {
    const document = next ?? source.next()
    next = null
    if (document === null) {
      writer.end()
      return { count, exhausted: true, pending: null }
    }
    if (count > 0 && writer.length - start + document.length > batchBytesMax) {
      writer.end()
      return { count, exhausted: false, pending: document }
    }
    writer.document(String(count), document)
    count++
  }
  writer.end()
  return { count, exhausted: false, pending: next }
}

/**
 * Open cursors of one member. Server: cursor_manager.cpp, clientcursor.h.
 */
import type { ActorContext } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import {
  checkBuilt,
  type RunningOperation,
  type TimeLimit,
  type SessionId,
  type SessionKey,
  type DocumentSource,
  type TailableMode,
  batchBytesMax,
  cursorTimeoutMs,
} from '@shardlab/member'
import type { SourceReads } from './source-reads.js'

/** The command for which a source reads from other members. */
export interface FillingCommand {
  readonly host: { readonly context: ActorContext }
  readonly session: SessionId | null
  readonly operation: RunningOperation
}

/** Where a cursor's documents come from; it owns the snapshot that they need. */
export interface CursorSource extends DocumentSource {
  /** A batch has been read: what it cost may be taken note of. */
  settle?(): void
  /** The collection that it reads, and that it needs to go on. Absent: none. */
  readonly reads?: SourceReads | undefined
  /** It looks after {@link reads} itself, when it has to read on; otherwise every getMore does. */
  readonly readsAhead?: boolean
  /** `next` has given null, and yet more is to come: {@link fill} brings it. Absent: never. */
  readonly dry?: boolean
  /**
   * Gets documents of other members here.
   * @param timeLimit of the cursor's first command; null: none
   * @throws CommandError of another member or of the way to it, 50 MaxTimeMSExpired, and what the operation was killed with
   */
  fill?(invocation: FillingCommand, timeLimit: TimeLimit | null): Promise<void>
  /** Called before each batch: what it needs of other members is brought here. Absent: nothing is needed. @throws CommandError as `fill` */
  gather?(invocation: FillingCommand, countMax: number, timeLimit: TimeLimit | null): Promise<void>
  /** Nobody reads from it any more: what is open for it on other members is closed. */
  close?(): void
}

export interface CursorOptions {
  readonly ns: string
  readonly source: CursorSource
  readonly session: SessionKey | null
  readonly noTimeout: boolean
  /** Default `no`. */
  readonly tailable?: TailableMode
  /** Of the command that opens it, paused; default: none. */
  readonly timeLimit?: TimeLimit | null
}

export interface OpenCursor extends CursorOptions {
  readonly id: bigint
  readonly tailable: TailableMode
  lastUsedMs: number
  /** Read ahead of a batch that was full. */
  pending: Uint8Array | null
  /** The getMore that waits for new documents; null: none does. */
  waiting: RunningOperation | null
}

export interface CursorLimits {
  readonly cursorsMax: number
}

export class CursorManager {
  readonly #cursors = new Map<bigint, OpenCursor>()
  readonly #limits: CursorLimits
  readonly #newId: () => bigint
  /** Cursors closed for idleness. */
  timedOutCount = 0
  /** Called behind the end of each cursor; null: nobody waits for one. */
  onEnd: (() => void) | null = null

  /** `newId` draws random positive numbers. */
  constructor(newId: () => bigint, limits: CursorLimits = { cursorsMax: 100_000 }) {
    this.#newId = newId
    this.#limits = limits
  }

  [Symbol.iterator](): IterableIterator<OpenCursor> {
    return this.#cursors.values()
  }

  get size(): number {
    return this.#cursors.size
  }

  /** All open cursors, oldest first. */
  all(): IterableIterator<OpenCursor> {
    return this.#cursors.values()
  }

  /** @throws CommandError 365 TemporarilyUnavailable when the table is full */
  open(options: CursorOptions, nowMs: number): OpenCursor {
    if (this.#cursors.size >= this.#limits.cursorsMax)
      throw new CommandError('TemporarilyUnavailable', `too many open cursors: the limit is ${this.#limits.cursorsMax}`)
    let id = this.#newId()
    while (this.#cursors.has(id)) id = this.#newId()
    const cursor: OpenCursor = {
      ...options,
      tailable: options.tailable ?? 'no',
      id,
      lastUsedMs: nowMs,
      pending: null,
      waiting: null,
    }
    this.#cursors.set(id, cursor)
    return cursor
  }

  find(id: bigint): OpenCursor | undefined {
    return this.#cursors.get(id)
  }

  /** @throws CommandError 43 CursorNotFound, 143 CursorInUse */
  get(id: bigint): OpenCursor {
    const cursor = this.#cursors.get(id)
    if (cursor === undefined) throw new CommandError('CursorNotFound', `cursor id ${id} not found`)
    if (cursor.waiting !== null) throw new CommandError('CursorInUse', `cursor id ${id} is already in use`)
    return cursor
  }

  /** Ends the getMore that waits on it, too. @returns whether there was one */
  close(id: bigint): boolean {
    const cursor = this.#cursors.get(id)
    cursor?.waiting?.interrupt(new CommandError('CursorKilled', 'operation was interrupted'))
    cursor?.source.close?.()
    const wasOpen = this.#cursors.delete(id)
    this.onEnd?.()
    return wasOpen
  }

  closeWhere(condition: (cursor: OpenCursor) => boolean): void {
    for (const cursor of [...this.#cursors.values()]) if (condition(cursor)) this.close(cursor.id)
  }

  /** Closes what nobody has used for so long. */
  expire(nowMs: number, timeoutMs = cursorTimeoutMs): void {
    const before = this.#cursors.size
    this.closeWhere((cursor) => !cursor.noTimeout && cursor.waiting === null && nowMs - cursor.lastUsedMs > timeoutMs)
    this.timedOutCount += before - this.#cursors.size
  }
}

/** A batch that was written, and whether the source may have more. */
export interface WrittenBatch {
  readonly count: number
  /** The source has said that it is at its end. */
  readonly exhausted: boolean
  /** A document that was read but did not fit. */
  readonly pending: Uint8Array | null
}

/**
 * Writes documents of a source as an array field until `countMax` documents or 16 MB are reached. With `countMax` 0 it
 * writes none. One document always fits. Nothing is read beyond the batch but a document that does not fit.
 * @throws CommandError 10334 BSONObjectTooLarge for what could be no document of the server
 */
export function writeBatch(
  writer: DocumentWriter,
  name: string,
  source: CursorSource,
  pending: Uint8Array | null,
  countMax: number,
): WrittenBatch {
  writer.startArray(name)
  const batch = fillBatch(writer, source, pending, countMax)
  writer.end()
  source.settle?.()
  return batch
}

function fillBatch(
  writer: DocumentWriter,
  source: CursorSource,
  pending: Uint8Array | null,
  countMax: number,
): WrittenBatch {
  const start = writer.length
  let count = 0
  let next = pending
  while (count < countMax) {
    const document = next ?? source.next()
    next = null
    if (document === null) return { count, exhausted: true, pending: null }
    checkBuilt(document)
    if (count > 0 && writer.length - start + document.length > batchBytesMax)
      return { count, exhausted: false, pending: document }
    writer.document(String(count), document)
    count++
  }
  return { count, exhausted: next === null && source.isEOF === true, pending: next }
}

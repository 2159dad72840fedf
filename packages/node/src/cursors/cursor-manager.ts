/** Server: cursor_manager.cpp, clientcursor.h. */
import type { ActorContext, TimestampPair } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import {
  type RunningOperation,
  type TimeLimit,
  type TimeSlice,
  type SessionId,
  type SessionKey,
  type DocumentSource,
  type TailableMode,
  cursorTimeoutMs,
  DroppedCursors,
  type CursorOwner,
} from '@shardlab/member'
import type { ReadWaits } from './read-waits.js'
import type { SourceReads } from './source-reads.js'
import type { WrittenBatch } from './written-batch.js'
import type { TransactionStatement } from '../transactions/transaction.js'

export interface FillingCommand {
  readonly host: { readonly context: ActorContext; readonly cursors: CursorManager; readonly reads: ReadWaits }
  readonly session: SessionId | null
  readonly operation: RunningOperation
  /** Absent: the command is not in a transaction. */
  readonly transaction?: TransactionStatement
}

/** A source owns the snapshot from which it reads. */
export interface CursorSource extends DocumentSource {
  /** Called after each batch. */
  recordCost?(): void
  /** What a getMore waits for. Absent: inserts into the collection. */
  readonly awaits?: string
  /** Whether a waiting getMore returns although there are no documents. Absent: never. */
  readonly hasAdvanced?: boolean
  /** Whether its documents may exceed what a client gets: a router checks them. Absent: never. */
  readonly mayBeTooLarge?: boolean
  /** For resuming after a batch. Absent: the source cannot be resumed. */
  postBatchResumeToken?(batch: WrittenBatch): Uint8Array
  /** The collection and indexes that must still exist at the next batch. Absent: none. */
  readonly reads?: SourceReads | undefined
  /**
   * The source checks {@link reads} itself when it reads ahead. Otherwise every getMore checks it.
   */
  readonly readsAhead?: boolean
  /** While it is over, `next` returns null. Absent: the source never pauses. */
  readonly slice?: TimeSlice | undefined
  /** Called before a turn in which the collection may change. */
  save?(): void
  /** Called in the next turn. @throws CommandError 175 QueryPlanKilled */
  restore?(): void
  /** Whether {@link fill} must be called before `next` can return more documents. Absent: never. */
  readonly dry?: boolean
  /**
   * Fetches documents from other members.
   * @param timeLimit of the command that opened the cursor; null: none
   * @throws CommandError of another member, of the network, 50 MaxTimeMSExpired, or the error with
   *   which the operation was killed
   */
  fill?(invocation: FillingCommand, timeLimit: TimeLimit | null): Promise<void>
  /** Closes cursors on other members. */
  close?(): void
}

export interface CursorOptions {
  readonly ns: string
  readonly source: CursorSource
  readonly session: SessionKey | null
  /** Default null: access control is off, or a member opens it. */
  readonly owner?: CursorOwner
  /** Of the transaction that opens the cursor. Default: none. */
  readonly txnNumber?: bigint | null
  readonly noTimeout: boolean
  readonly tailable?: TailableMode
  /** Of the command that opens the cursor, paused. Default: none. */
  readonly timeLimit?: TimeLimit | null
  /** Of a read with read concern snapshot; null or absent: another read concern. */
  readonly atClusterTime?: TimestampPair | null
  /** `{ comment }` of the command that opens the cursor; null or absent: none. */
  readonly comment?: Uint8Array | null
}

export interface OpenCursor extends CursorOptions {
  readonly id: bigint
  readonly txnNumber: bigint | null
  readonly tailable: TailableMode
  /** Replaced when its collection is dropped. */
  source: CursorSource
  lastUsedMs: number
  /** A document that was read but did not fit in the last batch. */
  pending: Uint8Array | null
  /** The getMore that is using the cursor and has given up its turn; null: none. */
  waiting: RunningOperation | null
}

export interface CursorLimits {
  readonly cursorsMax: number
  /** Of dropped collections; those whose collection was dropped first are closed. */
  readonly droppedCursorsMax: number
  /** Of dropped collections that pipelines still read. */
  readonly droppedBytesMax: number
}

const defaultLimits: CursorLimits = { cursorsMax: 100_000, droppedCursorsMax: 1000, droppedBytesMax: 64 * 1024 * 1024 }

export class CursorManager {
  readonly #cursors = new Map<bigint, OpenCursor>()
  readonly #limits: CursorLimits
  readonly #newId: () => bigint
  readonly #onLimit: (limit: keyof CursorLimits, value: number) => void
  readonly #dropped: DroppedCursors
  /** Of operations that have given up their turn, which may have no cursor. */
  readonly pausedReads = new Map<SourceReads, RunningOperation>()
  timedOutCount = 0
  onEnd: (() => void) | null = null

  /** @param newId draws a random positive number */
  constructor(
    newId: () => bigint,
    onLimit: (limit: keyof CursorLimits, value: number) => void = () => {},
    limits: Partial<CursorLimits> = {},
  ) {
    this.#newId = newId
    this.#onLimit = onLimit
    this.#limits = { ...defaultLimits, ...limits }
    this.#dropped = new DroppedCursors({
      cursorsMax: this.#limits.droppedCursorsMax,
      bytesMax: this.#limits.droppedBytesMax,
      close: (id) => this.close(id),
      onLimit,
    })
  }

  [Symbol.iterator](): IterableIterator<OpenCursor> {
    return this.#cursors.values()
  }

  get size(): number {
    return this.#cursors.size
  }

  all(): IterableIterator<OpenCursor> {
    return this.#cursors.values()
  }

  /** @throws CommandError 365 TemporarilyUnavailable when the table is full */
  open(options: CursorOptions, nowMs: number): OpenCursor {
    const { cursorsMax } = this.#limits
    if (this.#cursors.size >= cursorsMax) {
      this.#onLimit('cursorsMax', cursorsMax)
      throw new CommandError('TemporarilyUnavailable', `too many open cursors: the limit is ${cursorsMax}`)
    }
    let id = this.#newId()
    while (this.#cursors.has(id)) id = this.#newId()
    const cursor: OpenCursor = {
      ...options,
      tailable: options.tailable ?? 'no',
      txnNumber: options.txnNumber ?? null,
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

  /**
   * Releases the snapshots of cursors whose collection is gone. As on the server they stay open:
   * their next getMore reports the drop and closes them. A source that reads ahead keeps its
   * snapshot.
   * @param dataBytes of the collection
   */
  releaseWhere(condition: (reads: SourceReads) => boolean, dataBytes: number): void {
    const released: bigint[] = []
    let readsAhead = false
    for (const cursor of this.#cursors.values()) {
      const { source, id } = cursor
      const { reads } = source
      if (reads === undefined || !condition(reads)) continue
      released.push(id)
      if (source.readsAhead === true) {
        readsAhead = true
        continue
      }
      cursor.source = new ReleasedSource(reads)
      cursor.pending = null
    }
    this.#dropped.add(released, readsAhead ? dataBytes : 0)
  }

  /** Also interrupts a getMore that waits on the cursor. @returns whether the cursor was open */
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

  /** Closes the cursors that these operations use, because the operations may never resume. */
  forget(operations: ReadonlySet<RunningOperation>): void {
    for (const [reads, operation] of this.pausedReads) if (operations.has(operation)) this.pausedReads.delete(reads)
    this.closeWhere(({ waiting }) => waiting !== null && operations.has(waiting))
  }

  expire(nowMs: number, timeoutMs = cursorTimeoutMs): void {
    const before = this.#cursors.size
    this.closeWhere((cursor) => !cursor.noTimeout && cursor.waiting === null && nowMs - cursor.lastUsedMs > timeoutMs)
    this.timedOutCount += before - this.#cursors.size
  }
}

class ReleasedSource implements CursorSource {
  readonly reads: SourceReads

  constructor(reads: SourceReads) {
    this.reads = reads
  }

  /** @throws CommandError as {@link SourceReads.check} */
  next(): null {
    this.reads.check()
    return null
  }
}

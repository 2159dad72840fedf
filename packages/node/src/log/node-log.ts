/**
 * The one log of a node. Every change of documents and collections is an entry that is applied to
 * the engine and written to the disk. Recovery is replay.
 */
import { DiskFullError, type ClusterClock, type Disk } from '@shardlab/actor'
import { CommandError, findField, readUint32, type RawValue } from '@shardlab/bson'
import {
  decodeLogEntry,
  encodeInsertEntries,
  type LogEntry,
  type LogSession,
  type StorageEngine,
} from '@shardlab/storage'
import type { SessionKey } from '@shardlab/member'
import { RetryHistory } from '../retry/retry-history.js'
import { CheckpointSchedule } from './checkpoint-schedule.js'
import { checkpointImage, readCheckpointImage } from './checkpoint-image.js'
import { stamped, type LogChange } from './log-change.js'
import {
  bytesOf,
  entryHeaderBytes,
  pendingInserts,
  pendingOf,
  recordOf,
  roomOf,
  type Pending,
} from './pending-entries.js'
import { ignoreFullDisk, hasSucceeded } from './outcomes.js'
import { decodeSessionsImage, encodeSessionsImage } from '../retry/sessions-image.js'

/**
 * Called after a change was applied, in the same turn. `preImage`: the document before an update or
 * delete, else null.
 */
export type ChangeObserver = (entry: LogEntry, preImage: Uint8Array | null) => void

export interface NodeLogOptions {
  /**
   * A checkpoint is written when the log on disk is larger than this and than twice the last
   * checkpoint, or a sixteenth of it on a disk that keeps images. Also when the disk has more than
   * an eighth of this, and more than four times as much as is still needed.
   */
  readonly checkpointAfterBytes: number
}

export class NodeLog {
  readonly #engine: StorageEngine
  readonly #disk: Disk
  readonly #clock: ClusterClock
  readonly #now: () => number
  readonly #detach: (work: Promise<unknown>) => void
  readonly #retries: RetryHistory
  /** Not called during recovery. */
  readonly observers = new Set<ChangeObserver>()
  #unwritten: Pending[] = []
  /** Bytes reserved on the disk for entries that are unwritten or being appended. */
  #claimedBytes = 0
  /** Length of the log when a checkpoint last failed to make room; -1: none has failed. */
  #fullAtBytes = -1
  readonly #reservedBytes: number
  #appending: Promise<void> | null = null
  #inAppend: readonly Pending[] = none
  #checkpointing: Promise<void> | null = null
  readonly #schedule: CheckpointSchedule

  constructor(parts: {
    engine: StorageEngine
    disk: Disk
    clock: ClusterClock
    now: () => number
    /** Reports the rejection of a promise that is not awaited. */
    detach: (work: Promise<unknown>) => void
    retries: RetryHistory
    options: NodeLogOptions
  }) {
    this.#engine = parts.engine
    this.#disk = parts.disk
    this.#clock = parts.clock
    this.#now = parts.now
    this.#detach = parts.detach
    this.#retries = parts.retries
    this.#schedule = new CheckpointSchedule(parts.disk, parts.options.checkpointAfterBytes, () => this.#liveBytes())
    this.#reservedBytes = parts.disk.usage().limitBytes / reserveDivisor
  }

  recover(): void {
    const { checkpoint, records } = this.#disk.read()
    if (checkpoint !== null) {
      const { engine, sessions, time } = readCheckpointImage(checkpoint)
      this.#engine.restore(engine)
      this.#retries.import(decodeSessionsImage(sessions))
      this.#clock.advance(time)
    }
    const stored = (ns: string, id: RawValue) => this.#engine.collection(ns)?.findById(id)?.document
    for (const record of records) {
      for (let at = 0; at < record.length;) {
        const length = readUint32(record, at)
        const entry = decodeLogEntry(record.slice(at, at + length), stored)
        this.#engine.apply(entry)
        this.#retries.record(entry)
        this.#clock.advance(entry.ts)
        at += length
      }
    }
  }

  /** No write may be in progress. */
  get unwritten(): readonly Uint8Array[] {
    return this.#unwritten.map(bytesOf)
  }

  get isWritten(): boolean {
    return this.#unwritten.length === 0 && this.#writing === null
  }

  /**
   * For a copy, whose engine, retry history and clock come from the original. Replaces {@link
   * recover}.
   * @param unwritten entries that the original had not written
   */
  resume(unwritten: readonly Uint8Array[]): void {
    this.#unwritten = [...unwritten]
    this.#claimedBytes = roomOf(unwritten)
  }

  /**
   * Call {@link flush} before acknowledging the change; its bytes must not change until then.
   * @throws CommandError of the engine (duplicate keys …); then nothing has changed
   */
  apply(change: LogChange): LogEntry {
    const entry = stamped(change, this.#clock.tick(), this.#now())
    const preImage = entry.op === 'c' ? this.#applyCatalog(entry) : this.#engine.apply(entry)
    this.#retries.record(entry)
    this.#queue(pendingOf(entry))
    for (const observer of this.observers) observer(entry, preImage)
    return entry
  }

  #applyCatalog(entry: LogEntry): null {
    const before = this.#engine.droppedBytes
    this.#engine.apply(entry)
    this.#schedule.dropped(this.#engine.droppedBytes - before)
    return null
  }

  #liveBytes(): number {
    return this.#engine.collections().reduce((sum, { dataSizeBytes }) => sum + dataSizeBytes, this.#retries.sizeBytes)
  }

  /**
   * Inserts documents until one is refused, and queues their entries as one record.
   * @param session with the statement of each document
   * @returns number of inserted documents, and the time of the first one
   */
  insertEach(
    ns: string,
    uuid: Uint8Array,
    documents: readonly Uint8Array[],
    session: (LogSession & { readonly key: SessionKey }) | null,
  ): { readonly inserted: number; readonly ts: LogEntry['ts'] } {
    const inserted = this.#engine.insertEach(ns, documents)
    if (inserted === 0) return { inserted, ts: this.#clock.time }
    const [ts, wallMs] = [this.#clock.tickOften(inserted), this.#now()]
    if (session !== null)
      this.#retries.recordInserts(session.key, session.txnNumber, {
        ns,
        wallMs,
        stmtIds: inserted === session.stmtIds.length ? session.stmtIds : session.stmtIds.slice(0, inserted),
        documents,
      })
    this.#queue(encodeInsertEntries({ ns, uuid, ts, wallMs, session }, documents, inserted))
    for (let i = 0; i < inserted && this.observers.size > 0; i++) {
      const statement =
        session === null ? null : { lsid: session.lsid, txnNumber: session.txnNumber, stmtIds: [session.stmtIds[i]!] }
      const id = findField(documents[i]!, '_id') ?? null
      const entry = stamped(
        { op: 'i', ns, uuid, object: documents[i]!, id, session: statement },
        [ts[0], ts[1] + i],
        wallMs,
      )
      for (const observer of this.observers) observer(entry, null)
    }
    return { inserted, ts }
  }

  /**
   * Inserts all documents or none, as one record with an entry for each, all with the same time.
   * Observers receive each entry. If the record is so large that a checkpoint follows, only the
   * checkpoint is written.
   * @returns number of documents, and their time
   * @throws CommandError as {@link apply}
   */
  insertAll(
    ns: string,
    uuid: Uint8Array,
    documents: Iterable<Uint8Array>,
  ): { readonly count: number; readonly ts: LogEntry['ts'] } {
    const stored = this.#engine.insertAll(ns, documents)
    const [ts, wallMs] = [this.#clock.tick(), this.#now()]
    const entryOf = (object: Uint8Array) => stamped({ op: 'i', ns, uuid, object, id: null, session: null }, ts, wallMs)
    this.#queue(pendingInserts(stored, entryOf))
    if (this.observers.size > 0) this.#notifyObservers(stored, entryOf)
    return { count: stored.count, ts }
  }

  #notifyObservers(documents: Iterable<Uint8Array>, entryOf: (document: Uint8Array) => LogEntry): void {
    for (const document of documents) {
      const entry = entryOf(document)
      for (const observer of this.observers) observer(entry, null)
    }
  }

  hasRoom(documentBytes: number, entries: number): boolean {
    const roomBytes = documentBytes + entries * entryBytes + this.#reservedBytes
    if (this.#disk.hasRoom(this.#claimedBytes + roomBytes)) return true
    const { logBytes } = this.#disk.usage()
    if (logBytes === 0 || logBytes === this.#fullAtBytes) return false
    // A log of many changes to few documents shrinks to a checkpoint, which a disk without latency
    // writes at once.
    this.#fullAtBytes = logBytes
    this.#detach(this.#checkpoint().catch(ignoreFullDisk))
    return this.#disk.hasRoom(this.#claimedBytes + roomBytes)
  }

  /**
   * @throws CommandError 14031 OutOfDiskSpace when the changes do not fit, not even as a
   *   checkpoint; the entries stay queued for the next flush
   */
  flush(): Promise<void> {
    if (this.#writing !== null) return this.#flushAfterwards()
    if (this.#unwritten.length === 0) return nothingToWrite
    // A checkpoint would follow anyway, so write only that.
    return this.#schedule.isExceededBy(this.#claimedBytes) ? this.#flushAsCheckpoint() : this.#append()
  }

  /**
   * The write in progress may include the caller's changes. Writes are sequential: no entry may
   * reach the disk if an earlier one did not.
   */
  async #flushAfterwards(): Promise<void> {
    while (this.#writing !== null) await hasSucceeded(this.#writing)
    await this.flush()
  }

  async #flushAsCheckpoint(): Promise<void> {
    if (await this.#isCheckpointWritten()) return
    // Check again after the await: another waiter may already be writing these entries.
    while (this.#writing !== null) await hasSucceeded(this.#writing)
    if (this.#unwritten.length > 0) await this.#append()
  }

  #isCheckpointWritten(): Promise<boolean> {
    return this.#checkpoint().then(
      () => true,
      (error: unknown) => {
        ignoreFullDisk(error)
        return false
      },
    )
  }

  /**
   * Requires room beyond the share of the disk that is reserved for operations in progress.
   * @throws CommandError 14031 OutOfDiskSpace
   */
  requireRoom(documentBytes: number, entries: number): void {
    if (!this.hasRoom(documentBytes, entries)) throw this.#outOfDiskSpace()
  }

  get #writing(): Promise<void> | null {
    return this.#appending ?? this.#checkpointing
  }

  #queue(pending: Pending): void {
    this.#unwritten.push(pending)
    this.#claimedBytes += pending.length + entryHeaderBytes
  }

  #append(): Promise<void> {
    const entries = this.#unwritten
    const record = recordOf(entries)
    if (this.#disk.appendNow?.(record) === true) {
      // Emptied in place, to avoid an allocation per write: most often there is one entry.
      if (entries.length === 1) entries.pop()
      else this.#unwritten = []
      this.#claimedBytes = 0
      return this.#appended(record.length) ?? nothingToWrite
    }
    this.#unwritten = []
    this.#inAppend = entries
    return (this.#appending = this.#disk.append(record).then(this.#onAppended, this.#onRefused))
  }

  /** Appends are sequential, so one function serves all. */
  readonly #onAppended = (): Promise<void> | undefined => {
    const roomBytes = roomOf(this.#inAppend)
    this.#claimedBytes -= roomBytes
    this.#inAppend = none
    this.#appending = null
    return this.#appended(roomBytes)
  }

  #appended(bytes: number): Promise<void> | undefined {
    return this.#schedule.appended(bytes + entryHeaderBytes) ? this.#checkpoint().catch(ignoreFullDisk) : undefined
  }

  readonly #onRefused = (error: unknown): Promise<void> =>
    this.#afterRefusal(this.#inAppend, error).finally(() => {
      this.#inAppend = none
      this.#appending = null
    })

  async #afterRefusal(entries: readonly Pending[], error: unknown): Promise<void> {
    // A checkpoint that began after these entries includes them: appended after it, they would be
    // replayed twice.
    if (this.#checkpointing !== null && (await hasSucceeded(this.#checkpointing))) {
      this.#claimedBytes -= roomOf(entries)
      return
    }
    this.#unwritten = [...entries, ...this.#unwritten]
    if (!(error instanceof DiskFullError)) throw error
    // A log of many changes to few documents shrinks to a checkpoint that may fit.
    await this.#checkpoint().catch((failure: unknown) => {
      throw failure instanceof DiskFullError ? this.#outOfDiskSpace() : failure
    })
  }

  #outOfDiskSpace(): CommandError {
    return new CommandError('OutOfDiskSpace', new DiskFullError(this.#disk.usage().limitBytes).message)
  }

  #checkpoint(): Promise<void> {
    this.#checkpointing ??= this.#writeCheckpoint().finally(() => {
      this.#checkpointing = null
    })
    return this.#checkpointing
  }

  async #writeCheckpoint(): Promise<void> {
    const unwritten = this.#unwritten
    const roomBytes = roomOf(unwritten)
    // The image includes entries that are not yet appended: they need no record after it.
    this.#unwritten = []
    this.#claimedBytes -= roomBytes
    const image = checkpointImage(
      this.#engine.checkpoint(),
      encodeSessionsImage(this.#retries.export()),
      this.#clock.time,
    )
    try {
      await this.#disk.writeCheckpoint(image)
      this.#schedule.written()
      this.#fullAtBytes = -1
    } catch (error) {
      this.#unwritten = [...unwritten, ...this.#unwritten]
      this.#claimedBytes += roomBytes
      throw error
    }
  }
}

/** Upper bound of the bytes of an entry without its documents. */
const entryBytes = 128

/** Share of the disk held in reserve: a sixteenth. */
const reserveDivisor = 16

const none: readonly Pending[] = []

const nothingToWrite = Promise.resolve()

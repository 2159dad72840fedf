/**
 * Writes pending entries to the disk, in order, as records or as part of a checkpoint. The newest
 * ones are kept in the oplog.
 */
import { DiskFullError, type Disk, type DiskImage } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { OpTime } from '@shardlab/storage'
import { bytesIn } from './checkpoint-image.js'
import { CheckpointSchedule } from './checkpoint-schedule.js'
import { Oplog } from './oplog.js'
import { hasSucceeded, ignoreFullDisk } from './outcomes.js'
import { bytesOf, entryHeaderBytes, newestOf, recordOf, roomOf, type Pending } from './pending-entries.js'

export interface LogWriterOptions {
  /**
   * A checkpoint is written when the log on disk is larger than this and than twice the last
   * checkpoint, or a sixteenth of it on a disk that keeps images. Also when the disk has more than
   * an eighth of this, and more than four times as much as is still needed.
   */
  readonly checkpointAfterBytes: number
  /** Of the newest entries, at most a sixteenth of the disk; a rollback may keep more. */
  readonly oplogSizeBytes: number
}

export class LogWriter {
  readonly #disk: Disk
  readonly #detach: (work: Promise<unknown>) => void
  readonly #imageOf: (oplog: readonly Uint8Array[]) => DiskImage
  /** Has the entries that are on the disk. */
  readonly oplog: Oplog
  readonly schedule: CheckpointSchedule
  /** Called after entries have reached the disk. */
  readonly durable = new Set<() => void>()
  #unwritten: Pending[] = []
  /** Of all entries that were queued since the start. */
  #queuedCount = 0
  /** Entries that were pending when the checkpoint in progress began. */
  #inCheckpoint = 0
  /** Bytes reserved on the disk for entries that are unwritten or being appended. */
  #claimedBytes = 0
  /** Length of the log when a checkpoint last failed to make room; -1: none has failed. */
  #fullAtBytes = -1
  readonly #reservedBytes: number
  #appending: Promise<void> | null = null
  #inAppend: readonly Pending[] = none
  /** Positions in the oplog of the entries that are being appended. */
  #inAppendFrom = 0
  #inAppendTo = 0
  #checkpointing: Promise<void> | null = null

  constructor(parts: {
    disk: Disk
    /** Reports the rejection of a promise that is not awaited. */
    detach: (work: Promise<unknown>) => void
    /** Everything that is applied, with these entries. */
    imageOf: (oplog: readonly Uint8Array[]) => DiskImage
    /** Size of what an image would contain, roughly, except the oplog. */
    liveBytes: () => number
    options: LogWriterOptions
  }) {
    this.#disk = parts.disk
    this.#detach = parts.detach
    this.#imageOf = parts.imageOf
    this.schedule = new CheckpointSchedule(parts.disk, parts.options.checkpointAfterBytes, parts.liveBytes)
    this.#reservedBytes = parts.disk.usage().limitBytes / reserveDivisor
    this.oplog = new Oplog(Math.min(parts.options.oplogSizeBytes, Math.floor(this.#reservedBytes)))
  }

  /** No write may be in progress. */
  get unwritten(): readonly Uint8Array[] {
    return this.#unwritten.map(bytesOf)
  }

  /** Replaces the pending entries. No write may be in progress. */
  set unwritten(entries: readonly Uint8Array[]) {
    this.#unwritten = [...entries]
    this.#claimedBytes = roomOf(entries)
  }

  get isWritten(): boolean {
    return this.#unwritten.length === 0 && this.#writing === null
  }

  /** The newest entry that is pending or in the oplog; empty: there is none. */
  get newestEntry(): Uint8Array {
    const pending = this.#unwritten.at(-1)
    if (pending !== undefined) return newestOf([pending], 1)
    for (const [, entry] of this.oplog.windowOfAll().entriesBackwards()) return entry
    return new Uint8Array(0)
  }

  /**
   * The newest entry, and those that are not before this time.
   * @returns whole entries; each part but the first begins where a record begins. The pending
   *   entries are a copy
   */
  newestFrom(ts: OpTime['ts']): readonly Uint8Array[] {
    const window = this.oplog.windowOfAll()
    const from = window.seek(ts)
    if (this.#unwritten.length > 0) return [...window.parts(from), new Uint8Array(recordOf(this.#unwritten))]
    return from === window.end ? [this.newestEntry] : window.parts(from)
  }

  hasRoom(documentBytes: number, entries: number): boolean {
    const roomBytes = documentBytes + entries * entryBytes + this.#reservedBytes
    if (this.#disk.hasRoom(this.#claimedBytes + roomBytes)) return true
    const { logBytes } = this.#disk.usage()
    if (logBytes === 0 || logBytes === this.#fullAtBytes) return false
    // A log of many changes to few documents shrinks to a checkpoint, which a disk without latency
    // writes at once.
    this.#fullAtBytes = logBytes
    this.#detach(this.checkpoint().catch(ignoreFullDisk))
    return this.#disk.hasRoom(this.#claimedBytes + roomBytes)
  }

  /**
   * @throws CommandError 14031 OutOfDiskSpace when the changes do not fit, not even as a
   *   checkpoint; the entries stay queued for the next flush
   */
  flush(): Promise<void> {
    if (this.#writing !== null) return this.#flushAfterwards(this.#queuedCount)
    if (this.#unwritten.length === 0) return nothingToWrite
    // A checkpoint would follow anyway, so write only that.
    return this.schedule.isExceededBy(this.#claimedBytes) ? this.#flushAsCheckpoint() : this.#append()
  }

  /**
   * The write in progress may include the caller's changes. Writes are sequential: no entry may
   * reach the disk if an earlier one did not.
   */
  async #flushAfterwards(count: number): Promise<void> {
    while (this.#writing !== null && this.#writtenCount < count) await hasSucceeded(this.#writing)
    // Later writes do not concern the caller: there may always be one in progress.
    if (this.#writtenCount < count) await this.flush()
  }

  /** Entries are written in order. */
  get #writtenCount(): number {
    return this.#queuedCount - this.#unwritten.length - this.#inAppend.length - this.#inCheckpoint
  }

  async #flushAsCheckpoint(): Promise<void> {
    if (await this.#isCheckpointWritten()) return
    // Check again after the await: another waiter may already be writing these entries.
    while (this.#writing !== null) await hasSucceeded(this.#writing)
    if (this.#unwritten.length > 0) await this.#append()
  }

  #isCheckpointWritten(): Promise<boolean> {
    return this.checkpoint().then(
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

  queue(pending: Pending): void {
    this.#queuedCount++
    this.#unwritten.push(pending)
    this.#claimedBytes += pending.length + entryHeaderBytes
  }

  #append(): Promise<void> {
    const entries = this.#unwritten
    const record = recordOf(entries)
    if (this.#disk.appendNow?.(record) === true) {
      this.oplog.append(record)
      this.oplog.reveal()
      // Emptied in place, to avoid an allocation per write: most often there is one entry.
      if (entries.length === 1) entries.pop()
      else this.#unwritten = []
      this.#claimedBytes = 0
      this.#notifyDurable()
      return this.#appended(record.length) ?? nothingToWrite
    }
    this.#unwritten = []
    this.#inAppend = entries
    this.#inAppendFrom = this.oplog.end
    this.oplog.append(record)
    this.#inAppendTo = this.oplog.end
    return (this.#appending = this.#disk.append(record).then(this.#onAppended, this.#onRefused))
  }

  /** Appends are sequential, so one function serves all. */
  readonly #onAppended = (): Promise<void> | undefined => {
    const roomBytes = roomOf(this.#inAppend)
    this.#claimedBytes -= roomBytes
    this.#inAppend = none
    this.#appending = null
    this.oplog.reveal(this.#inAppendTo)
    this.#notifyDurable()
    return this.#appended(roomBytes)
  }

  #notifyDurable(): void {
    for (const listener of this.durable) listener()
  }

  #appended(bytes: number): Promise<void> | undefined {
    return this.schedule.appended(bytes + entryHeaderBytes) ? this.checkpoint().catch(ignoreFullDisk) : undefined
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
    this.oplog.cutTo(this.#inAppendFrom)
    this.#unwritten = [...entries, ...this.#unwritten]
    if (!(error instanceof DiskFullError)) throw error
    // A log of many changes to few documents shrinks to a checkpoint that may fit.
    await this.checkpoint().catch((failure: unknown) => {
      throw failure instanceof DiskFullError ? this.#outOfDiskSpace() : failure
    })
  }

  #outOfDiskSpace(): CommandError {
    return new CommandError('OutOfDiskSpace', new DiskFullError(this.#disk.usage().limitBytes).message)
  }

  /** Writes a checkpoint, which includes the pending entries. */
  checkpoint(): Promise<void> {
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
    this.#inCheckpoint = unwritten.length
    this.#claimedBytes -= roomBytes
    const from = this.oplog.end
    const { keepsEntries, sizeBytesMax } = this.oplog
    const replacement = roomBytes > sizeBytesMax && !keepsEntries ? newestOf(unwritten, sizeBytesMax) : null
    if (replacement === null && unwritten.length > 0) this.oplog.append(recordOf(unwritten))
    const to = this.oplog.end
    const newest =
      replacement === null ? this.oplog.windowOfAll(this.#disk.keepsImages === true).parts() : [replacement]
    // The newest entry may be larger than the share of the disk: then a restart begins a new oplog.
    // Not if a rollback may need the entries: without them it is an initial sync.
    const part = bytesIn(newest) > this.#reservedBytes && !keepsEntries ? [] : newest
    const image = this.#imageOf(part)
    try {
      await this.#disk.writeCheckpoint(image)
    } catch (error) {
      this.oplog.cutTo(from)
      this.#unwritten = [...unwritten, ...this.#unwritten]
      this.#claimedBytes += roomBytes
      throw error
    } finally {
      this.#inCheckpoint = 0
    }
    if (replacement === null) this.oplog.reveal(to)
    else this.oplog.replace([replacement])
    this.schedule.written(bytesIn(part))
    this.#fullAtBytes = -1
    if (unwritten.length > 0) this.#notifyDurable()
  }
}

/** Upper bound of the bytes of an entry without its documents. */
const entryBytes = 192

/** Share of the disk held in reserve: a sixteenth. */
const reserveDivisor = 16

const none: readonly Pending[] = []

const nothingToWrite = Promise.resolve()

/**
 * The one log of a node: every change of documents and collections is an entry that is applied to the engine and
 * written to the disk. Recovery is replay; whatever must know what changed reads entries.
 */
import { DiskFullError, type ClusterClock, type Disk, type DiskUsage } from '@shardlab/actor'
import { CommandError, findField, readUint32 } from '@shardlab/bson'
import {
  decodeLogEntry,
  encodeInsertEntries,
  type LogEntry,
  type LogSession,
  type StorageEngine,
} from '@shardlab/storage'
import type { SessionKey } from '@shardlab/member'
import { RetryHistory } from '../retry/retry-history.js'
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
import { ignoreFullDisk, isDone } from './outcomes.js'
import { decodeSessionsImage, encodeSessionsImage } from '../retry/sessions-image.js'

/** Hears of every change after it was applied, in the same turn. `preImage`: the document before an update or delete, else null. */
export type ChangeObserver = (entry: LogEntry, preImage: Uint8Array | null) => void

export interface NodeLogOptions {
  /** A checkpoint is written when the log on disk is larger than this and than twice the last checkpoint, or a sixteenth of it where the disk keeps images. */
  readonly checkpointAfterBytes: number
}

export class NodeLog {
  readonly #engine: StorageEngine
  readonly #disk: Disk
  readonly #clock: ClusterClock
  readonly #now: () => number
  readonly #detach: (work: Promise<unknown>) => void
  readonly #retries: RetryHistory
  readonly #options: NodeLogOptions
  /** Whoever follows what changes while it does; recovery tells nobody. */
  readonly observers = new Set<ChangeObserver>()
  #unwritten: Pending[] = []
  /** What {@link requireRoom} leaves: the room that unwritten entries take, and those being appended. */
  #claimedBytes = 0
  /** How long the log was when even a checkpoint made no room. */
  #fullAtBytes = -1
  readonly #keptBytes: number
  #appending: Promise<void> | null = null
  /** What is being appended. */
  #inAppend: readonly Pending[] = none
  #checkpointing: Promise<void> | null = null
  /** So much may be appended before the log is looked at for whether a checkpoint is due: what it takes on the disk is never more than counted here. */
  #untilCheckpoint = 0

  constructor(parts: {
    engine: StorageEngine
    disk: Disk
    clock: ClusterClock
    now: () => number
    /** Work that nobody waits for. */
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
    this.#options = parts.options
    this.#keptBytes = parts.disk.usage().limitBytes / keptPart
  }

  /** Rebuilds engine, retry history and clock from the disk. */
  recover(): void {
    const { checkpoint, records } = this.#disk.read()
    if (checkpoint !== null) {
      const { engine, sessions, time } = readCheckpointImage(checkpoint)
      this.#engine.restore(engine)
      this.#retries.import(decodeSessionsImage(sessions))
      this.#clock.advance(time)
    }
    for (const record of records) {
      for (let at = 0; at < record.length;) {
        const length = readUint32(record, at)
        const entry = decodeLogEntry(record.slice(at, at + length))
        this.#engine.apply(entry)
        this.#retries.record(entry)
        this.#clock.advance(entry.ts)
        at += length
      }
    }
  }

  /** What is applied and not on the disk. Nothing may be on its way there. */
  get unwritten(): readonly Uint8Array[] {
    return this.#unwritten.map(bytesOf)
  }

  /** Is everything that has been applied on the disk? */
  get isWritten(): boolean {
    return this.#unwritten.length === 0 && this.#writing === null
  }

  /** Instead of {@link recover}: engine, retry history and clock have come by another way, with what that log had not written. */
  resume(unwritten: readonly Uint8Array[]): void {
    this.#unwritten = [...unwritten]
    this.#claimedBytes = roomOf(unwritten)
  }

  /**
   * Applies one change in memory and queues it for the disk: {@link flush} before acknowledging it. Its bytes may be read until then, and
   * must not change.
   * @throws CommandError what the engine refuses (duplicate keys …): nothing has changed then
   */
  apply(change: LogChange): LogEntry {
    const entry = stamped(change, this.#clock.tick(), this.#now())
    const preImage = this.#engine.apply(entry)
    this.#retries.record(entry)
    this.#queue(pendingOf(entry))
    for (const observer of this.observers) observer(entry, preImage)
    return entry
  }

  /**
   * Inserts documents one after the other until one is refused, and queues their entries for the disk as one record.
   * @param session with the statement of each document
   * @returns how many were inserted, and the time of the first one
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
      this.#retries.recordInserts(session.key, session.txnNumber, session.stmtIds.slice(0, inserted), documents)
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
   * Inserts many documents at once, all or none of them, as one record of the log with an entry for each, all of one time. Observers hear of
   * each. When it is so much that a checkpoint follows, the record is never written down.
   * @returns how many there were, and their time
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
    if (this.observers.size > 0) this.#tellOf(stored, entryOf)
    return { count: stored.count, ts }
  }

  #tellOf(documents: Iterable<Uint8Array>, entryOf: (document: Uint8Array) => LogEntry): void {
    for (const document of documents) {
      const entry = entryOf(document)
      for (const observer of this.observers) observer(entry, null)
    }
  }

  /** See {@link requireRoom}. */
  hasRoom(documentBytes: number, entries: number): boolean {
    const roomBytes = documentBytes + entries * entryBytes + this.#keptBytes
    if (this.#disk.hasRoom(this.#claimedBytes + roomBytes)) return true
    const { logBytes } = this.#disk.usage()
    if (logBytes === 0 || logBytes === this.#fullAtBytes) return false
    // A log of many changes to few documents shrinks to a checkpoint. A disk that is not slow has it at once.
    this.#fullAtBytes = logBytes
    this.#detach(this.#checkpoint().catch(ignoreFullDisk))
    return this.#disk.hasRoom(this.#claimedBytes + roomBytes)
  }

  /**
   * Resolves when everything applied so far is on the disk.
   * @throws CommandError 14031 OutOfDiskSpace when it does not fit, not even as a checkpoint; the entries stay queued for the next flush
   */
  flush(): Promise<void> {
    if (this.#writing !== null) return this.#flushAfterwards()
    if (this.#unwritten.length === 0) return nothingToWrite
    // So much at once would be followed by a checkpoint anyway.
    const isMuch =
      this.#claimedBytes > this.#options.checkpointAfterBytes &&
      this.#claimedBytes > this.#checkpointAt(this.#disk.usage())
    return isMuch ? this.#flushAsCheckpoint() : this.#append()
  }

  /**
   * An append or a checkpoint that is being written may hold what the caller applied. And there is one at a time: entries
   * build on those before them, so none may reach the disk when an earlier one did not.
   */
  async #flushAfterwards(): Promise<void> {
    while (this.#writing !== null) await isDone(this.#writing)
    await this.flush()
  }

  async #flushAsCheckpoint(): Promise<void> {
    if (await this.#isCheckpointWritten()) return
    // Asked in the very turn that goes on: whoever else has waited may have taken the entries and be writing them.
    while (this.#writing !== null) await isDone(this.#writing)
    if (this.#unwritten.length > 0) await this.#append()
  }

  /** How long the log may be, in bytes. */
  #checkpointAt({ checkpointBytes }: DiskUsage): number {
    const { checkpointAfterBytes } = this.#options
    // An image is shared until something changes: what one costs are the copies of that.
    return Math.max(checkpointAfterBytes, this.#disk.keepsImages === true ? checkpointBytes / 16 : 2 * checkpointBytes)
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
   * Sees to it that there is room for so many changes with so many bytes of documents, and leaves a part of the disk to what goes on with what
   * has begun. @throws CommandError 14031 OutOfDiskSpace
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
      // Emptied in place: mostly it holds one entry, which the next one follows.
      if (entries.length === 1) entries.pop()
      else this.#unwritten = []
      this.#claimedBytes = 0
      return this.#appended(record.length) ?? nothingToWrite
    }
    this.#unwritten = []
    this.#inAppend = entries
    return (this.#appending = this.#disk.append(record).then(this.#onAppended, this.#onRefused))
  }

  /** One for all appends: there is one at a time. */
  readonly #onAppended = (): Promise<void> | undefined => {
    const roomBytes = roomOf(this.#inAppend)
    this.#claimedBytes -= roomBytes
    this.#inAppend = none
    this.#appending = null
    return this.#appended(roomBytes)
  }

  /** Begins a checkpoint when the log has become too long. */
  #appended(bytes: number): Promise<void> | undefined {
    this.#untilCheckpoint -= bytes + entryHeaderBytes
    if (this.#untilCheckpoint >= 0) return undefined
    const usage = this.#disk.usage()
    this.#untilCheckpoint = this.#checkpointAt(usage) - usage.logBytes
    return this.#untilCheckpoint < 0 ? this.#checkpoint().catch(ignoreFullDisk) : undefined
  }

  readonly #onRefused = (error: unknown): Promise<void> =>
    this.#afterRefusal(this.#inAppend, error).finally(() => {
      this.#inAppend = none
      this.#appending = null
    })

  async #afterRefusal(entries: readonly Pending[], error: unknown): Promise<void> {
    // One that began meanwhile holds them: appended after it they would be replayed twice.
    if (this.#checkpointing !== null && (await isDone(this.#checkpointing))) {
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
    // Entries that are applied but not yet appended are in the image: they need no record after it.
    this.#unwritten = []
    this.#claimedBytes -= roomBytes
    const image = checkpointImage(
      this.#engine.checkpoint(),
      encodeSessionsImage(this.#retries.export()),
      this.#clock.time,
    )
    try {
      await this.#disk.writeCheckpoint(image)
      this.#untilCheckpoint = 0
      this.#fullAtBytes = -1
    } catch (error) {
      this.#unwritten = [...unwritten, ...this.#unwritten]
      this.#claimedBytes += roomBytes
      throw error
    }
  }
}

/** What an entry takes beside its documents. */
const entryBytes = 128

/** So large a part of the disk is kept: a sixteenth. */
const keptPart = 16

const none: readonly Pending[] = []

const nothingToWrite = Promise.resolve()

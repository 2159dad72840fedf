/**
 * The one log of a node. Every change of documents and collections is an entry that is applied to
 * the engine and written to the disk. Recovery is replay. The newest entries are the oplog.
 */
import { bytesOfImage, type ClusterClock, type Disk, type DiskImage } from '@shardlab/actor'
import { DocumentWriter, findField, readUint32, type RawValue } from '@shardlab/bson'
import {
  createMemoryEngine,
  decodeLogEntry,
  encodeInsertEntries,
  type KeyOfInserted,
  uninitializedTerm,
  type LogEntry,
  type LogSession,
  type OpTime,
  type StorageEngine,
} from '@shardlab/storage'
import type { SessionKey } from '@shardlab/member'
import type { RetryHistory } from '../retry/retry-history.js'
import { applyLogged, LoggedTransactions } from '../transactions/log/logged-transactions.js'
import { operationsIn } from '../transactions/log/operations.js'
import { decodeSessionsImage, encodeSessionsImage } from '../retry/sessions-image.js'
import { bytesIn, checkpointImage, readCheckpointImage } from './checkpoint-image.js'
import { stamped, type LogChange } from './log-change.js'
import { LogWriter, type LogWriterOptions } from './log-writer.js'
import { initiatingSet, noopOf } from './noop.js'
import type { Oplog } from './oplog.js'
import { timedOpTimeOf, type TimedOpTime } from './oplog-window.js'
import { pendingInserts, pendingOf } from './pending-entries.js'

/**
 * Called after a change was applied, in the same turn. `preImage`: the document before an update or
 * delete, else null.
 */
export type ChangeObserver = (entry: LogEntry, preImage: Uint8Array | null) => void

export class NodeLog {
  readonly #engine: StorageEngine
  readonly #disk: Disk
  readonly #writer: LogWriter
  readonly #clock: ClusterClock
  readonly #now: () => number
  /** Of the entries that this member writes. */
  term: () => number = firstTerm
  readonly #retries: RetryHistory
  readonly transactions = new LoggedTransactions()
  /** Not called during recovery. */
  readonly observers = new Set<ChangeObserver>()
  /** Of the newest applied entry. Null: there is none. */
  #lastTs: LogEntry['ts'] | null = null
  #lastTerm = uninitializedTerm
  #lastWallMs = 0
  constructor(parts: {
    engine: StorageEngine
    disk: Disk
    clock: ClusterClock
    now: () => number
    /** See {@link LogWriter}. */
    detach: (work: Promise<unknown>) => void
    retries: RetryHistory
    options: LogWriterOptions
  }) {
    this.#engine = parts.engine
    this.#disk = parts.disk
    this.#clock = parts.clock
    this.#now = parts.now
    this.#retries = parts.retries
    this.#writer = new LogWriter({
      disk: parts.disk,
      detach: parts.detach,
      imageOf: (oplog) => this.#imageWith(oplog),
      liveBytes: () => this.#liveBytes(),
      options: parts.options,
    })
  }

  /** Has the entries that are on the disk. */
  get oplog(): Oplog {
    return this.#writer.oplog
  }

  /** Called after entries have reached the disk. */
  get durable(): Set<() => void> {
    return this.#writer.durable
  }

  /**
   * @param restored called before the records after the checkpoint are replayed
   * @returns false: the disk is empty
   */
  recover(restored?: () => void): boolean {
    const { checkpoint, records } = this.#disk.read()
    if (checkpoint !== null) {
      this.#restore(checkpoint)
      restored?.()
    }
    for (const record of records) {
      for (let at = 0; at < record.length;) at += this.#replay(record, at).length
      this.oplog.append(record)
      this.oplog.reveal()
    }
    return checkpoint !== null || this.#lastTs !== null
  }

  #restore(image: Uint8Array): void {
    const { engine, sessions, oplog, time } = readCheckpointImage(image)
    this.#engine.restore(engine)
    this.#retries.import(decodeSessionsImage(sessions))
    this.transactions.read(sessions)
    this.#clock.advance(time)
    this.oplog.replace(oplog)
    this.#writer.schedule.written(bytesIn(oplog))
    this.#noteLastOf(this.oplog.last)
  }

  /** Applies an encoded entry. */
  #replay(entries: Uint8Array, at: number): { readonly entry: LogEntry; readonly length: number } {
    const length = readUint32(entries, at)
    const entry = decodeLogEntry(entries.slice(at, at + length), this.#stored)
    const parts = applyLogged(entry, this.#engine, this.transactions)
    this.#retries.record(entry, parts)
    this.#clock.advance(entry.ts)
    this.#noteApplied(entry.ts, entry.term, entry.wallMs)
    return { entry, length }
  }

  readonly #stored = (ns: string, id: RawValue) => this.#engine.collection(ns)?.findById(id)?.document

  /** The newest applied entry, which may not be on the disk yet; null: there is none. */
  get lastApplied(): TimedOpTime | null {
    if (this.#lastTs === null) return null
    return { optime: { ts: this.#lastTs, term: this.#lastTerm }, wallMs: this.#lastWallMs }
  }

  /** The time of {@link lastApplied}; `[0, 0]` while the log is empty. */
  get lastTs(): LogEntry['ts'] {
    return this.#lastTs ?? noTime
  }

  /** The entry itself is not kept: it is a view of a whole message. */
  #noteApplied(ts: LogEntry['ts'], term: number, wallMs: number): void {
    this.#lastTs = ts
    this.#lastTerm = term
    this.#lastWallMs = wallMs
  }

  #noteLastOf(last: TimedOpTime | null): void {
    if (last === null) this.#lastTs = null
    else this.#noteApplied(last.optime.ts, last.optime.term, last.wallMs)
  }

  /**
   * Applies entries of another member, in order. Observers are not called. Call {@link flush}
   * afterwards.
   * @param entries whole entries, one after the other. Copied
   * @param onEntry called after each
   * @returns the last one
   */
  applyReplicated(entries: Uint8Array, onEntry?: (entry: LogEntry) => void): TimedOpTime | null {
    const bytes = new Uint8Array(entries)
    let at = 0
    try {
      while (at < bytes.length) {
        const { entry, length } = this.#replay(bytes, at)
        at += length
        onEntry?.(entry)
      }
    } finally {
      // Also after an error: what is applied must be in the log.
      if (at > 0) this.#writer.queue(bytes.subarray(0, at))
    }
    return this.lastApplied
  }

  /**
   * Everything that is applied, for a member without data, with its entries since this one.
   * @param committed a rollback keeps it
   */
  snapshotForInitialSync(committed: OpTime): Uint8Array {
    return bytesOfImage(this.#imageWith(this.#writer.newestFrom(committed.ts)))
  }

  /**
   * Replaces everything in memory by a {@link snapshotForInitialSync}. No write may be in progress.
   * Call {@link rewriteDisk} afterwards.
   */
  restoreFrom(image: Uint8Array): void {
    this.#writer.unwritten = []
    this.#restore(image)
  }

  /**
   * Writes the first entry of a set with several members, which is the same on all of them. Call
   * {@link flush} afterwards.
   */
  initiate(ts: LogEntry['ts'], wallMs: number): void {
    this.#clock.advance(ts)
    const entry = stamped(noopOf(initiatingSet), ts, uninitializedTerm, wallMs)
    this.#writer.queue(pendingOf(entry))
    this.#noteApplied(ts, uninitializedTerm, wallMs)
  }

  /**
   * Removes everything from memory. No write may be in progress. Call {@link rewriteDisk}
   * afterwards.
   */
  clear(): void {
    this.#engine.adopt(createMemoryEngine())
    this.#retries.clear()
    this.transactions.clear()
    this.oplog.replace([])
    this.#lastTs = null
  }

  /** Makes the disk match engine and oplog. @throws DiskFullError; it may be called again */
  rewriteDisk(): Promise<void> {
    this.#noteLastOf(this.oplog.last)
    return this.#writer.checkpoint()
  }

  /** No write may be in progress. */
  get unwritten(): readonly Uint8Array[] {
    return this.#writer.unwritten
  }

  get isWritten(): boolean {
    return this.#writer.isWritten
  }

  /**
   * For a copy, whose engine, retry history and clock come from the original. Replaces {@link
   * recover}.
   * @param unwritten entries that the original had not written
   */
  resume(unwritten: readonly Uint8Array[], oplog: Oplog): void {
    this.#writer.unwritten = unwritten
    this.oplog.adopt(oplog)
    const newest = this.#writer.newestEntry
    this.#noteLastOf(newest.length === 0 ? null : timedOpTimeOf(newest))
  }

  /**
   * Call {@link flush} before acknowledging the change; its bytes must not change until then.
   * @throws CommandError of the engine (duplicate keys …); then nothing has changed
   */
  apply(change: LogChange, term = this.term()): LogEntry {
    const entry = stamped(change, this.#clock.tick(), term, this.#now())
    const preImage = entry.op === 'c' ? this.#applyCatalog(entry) : this.#engine.apply(entry)
    const prevOpTime = this.#retries.record(entry)
    this.#writer.queue(pendingOf(prevOpTime === undefined ? entry : { ...entry, prevOpTime }))
    this.#noteApplied(entry.ts, term, entry.wallMs)
    for (const observer of this.observers) observer(entry, preImage)
    return entry
  }

  /**
   * Writes entries of a transaction, and applies the operations that take effect with the last one,
   * all with its time. They have been checked: none fails. Call {@link flush} before acknowledging
   * them.
   * @param onChange called after each operation
   */
  applyTransaction(entries: readonly LogChange[], onChange: (change: LogEntry) => void): LogEntry {
    let last: LogEntry | null = null
    let parts: readonly Uint8Array[] = []
    for (const each of entries) {
      last = stamped(each, this.#clock.tick(), this.term(), this.#now())
      parts = this.transactions.record(last) ?? []
      const prevOpTime = this.#retries.record(last, parts)
      this.#writer.queue(pendingOf(prevOpTime === undefined ? last : { ...last, prevOpTime }))
    }
    if (last === null) throw new Error('a transaction has no log entry')
    this.#noteApplied(last.ts, last.term, last.wallMs)
    const { session } = last
    for (const each of operationsIn(parts, last, this.#engine)) this.#applyOperation({ ...each, session }, onChange)
    return last
  }

  #applyOperation(entry: LogEntry, onChange: (change: LogEntry) => void): void {
    const preImage = entry.op === 'c' ? this.#applyCatalog(entry) : this.#engine.apply(entry)
    onChange(entry)
    for (const observer of this.observers) observer(entry, preImage)
  }

  #applyCatalog(entry: LogEntry): null {
    const before = this.#engine.droppedBytes
    this.#engine.apply(entry)
    this.#writer.schedule.dropped(this.#engine.droppedBytes - before)
    return null
  }

  #liveBytes(): number {
    return this.#engine.collections().reduce((sum, { dataSizeBytes }) => sum + dataSizeBytes, this.#retries.sizeBytes)
  }

  /**
   * Inserts documents until one is refused, and queues their entries as one record.
   * @param session with the statement of each document
   * @param keyOf null: entries have no document keys
   * @returns number of inserted documents, and the time of the first one
   */
  insertEach(
    ns: string,
    uuid: Uint8Array,
    documents: readonly Uint8Array[],
    session: (LogSession & { readonly key: SessionKey }) | null,
    keyOf: KeyOfInserted | null,
  ): { readonly inserted: number; readonly ts: LogEntry['ts'] } {
    const inserted = this.#engine.insertEach(ns, documents)
    if (inserted === 0) return { inserted, ts: this.#clock.time }
    const [ts, term, wallMs] = [this.#clock.tickOften(inserted), this.term(), this.#now()]
    this.#engine.recordInserts(ns, ts, inserted)
    const last: OpTime = { ts: [ts[0], ts[1] + inserted - 1], term }
    this.#noteApplied(last.ts, term, wallMs)
    let prevOpTime: OpTime | undefined
    if (session !== null)
      prevOpTime = this.#retries.recordInserts(session.key, session.txnNumber, {
        ns,
        wallMs,
        last,
        stmtIds: inserted === session.stmtIds.length ? session.stmtIds : session.stmtIds.slice(0, inserted),
        documents,
      })
    const common = { ns, uuid, ts, term, wallMs, session, keyOf }
    this.#writer.queue(
      encodeInsertEntries(prevOpTime === undefined ? common : { ...common, prevOpTime }, documents, inserted),
    )
    for (let i = 0; i < inserted && this.observers.size > 0; i++) {
      const statement =
        session === null ? null : { lsid: session.lsid, txnNumber: session.txnNumber, stmtIds: [session.stmtIds[i]!] }
      const id = findField(documents[i]!, '_id') ?? null
      const entry = stamped(
        { op: 'i', ns, uuid, object: documents[i]!, id, session: statement, o2: keyOf?.(documents[i]!) ?? undefined },
        [ts[0], ts[1] + i],
        term,
        wallMs,
      )
      for (const observer of this.observers) observer(entry, null)
    }
    return { inserted, ts }
  }

  /**
   * Inserts all documents or none, as one record with an entry for each. Observers receive each
   * entry. If the record is so large that a checkpoint follows, only the checkpoint is written.
   * @returns number of documents, and the time of the last one
   * @throws CommandError as {@link apply}
   */
  insertAll(
    ns: string,
    uuid: Uint8Array,
    documents: Iterable<Uint8Array>,
  ): { readonly count: number; readonly ts: LogEntry['ts'] } {
    const stored = this.#engine.insertAll(ns, documents)
    if (stored.count === 0) return { count: 0, ts: this.#clock.time }
    const [first, term, wallMs] = [this.#clock.tickOften(stored.count), this.term(), this.#now()]
    this.#engine.recordInserts(ns, first, stored.count)
    const entryOf = (object: Uint8Array, index: number) =>
      stamped({ op: 'i', ns, uuid, object, id: null, session: null }, [first[0], first[1] + index], term, wallMs)
    const ts = this.#clock.time
    this.#noteApplied(ts, term, wallMs)
    this.#writer.queue(pendingInserts(stored, entryOf))
    if (this.observers.size > 0) this.#notifyObservers(stored, entryOf)
    return { count: stored.count, ts }
  }

  #notifyObservers(documents: Iterable<Uint8Array>, entryOf: (document: Uint8Array, index: number) => LogEntry): void {
    let index = 0
    for (const document of documents) {
      const entry = entryOf(document, index++)
      for (const observer of this.observers) observer(entry, null)
    }
  }

  hasRoom(documentBytes: number, entries: number): boolean {
    return this.#writer.hasRoom(documentBytes, entries)
  }

  /** As {@link LogWriter.requireRoom}. */
  requireRoom(documentBytes: number, entries: number): void {
    this.#writer.requireRoom(documentBytes, entries)
  }

  /** As {@link LogWriter.flush}. */
  flush(): Promise<void> {
    return this.#writer.flush()
  }

  #imageWith(oplog: readonly Uint8Array[]): DiskImage {
    const encoded = encodeSessionsImage(this.#retries.export())
    const sessions = this.transactions.isEmpty
      ? encoded
      : this.transactions.write(new DocumentWriter(encoded.length + 1024).fields(encoded)).finish()
    return checkpointImage(this.#engine.checkpoint(), sessions, this.#clock.time, oplog)
  }
}

const firstTerm = (): number => 1

const noTime: LogEntry['ts'] = [0, 0]

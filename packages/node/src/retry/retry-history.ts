/**
 * The executed statements of each session's newest retryable write: a repeated one is answered, not
 * run again. Built from the log alone, so replay rebuilds it. Server: transaction_participant,
 * session_catalog; manual: core/retryable-writes.
 */
import { CommandError, documentsOf, findField, firstFieldName } from '@shardlab/bson'
import { statementOfOperation, type LogEntry, type OpTime } from '@shardlab/storage'
import { isInternalSession, SessionCatalog, type ParentSession, type SessionKey } from '@shardlab/member'
import { decodeSessionsImage, isSessionsImage } from './sessions-image.js'
import type { ExecutedStatement } from './executed-statement.js'
import { hasEnded, type RetryHistoryImage, type SessionImage, type TransactionState } from './retry-history-image.js'
import { InsertedRun } from './inserted-run.js'
import { SessionHistory } from './session-history.js'
import { sessionText } from './session-text.js'

/** Statements that were inserted together, one per document. */
export interface InsertedStatements {
  readonly ns: string
  readonly wallMs: number
  readonly stmtIds: readonly number[]
  readonly documents: readonly Uint8Array[]
  /** Of the entry of the last document. */
  readonly last: OpTime
}

export interface RetryHistoryOptions {
  /** Beyond this, the statements of the sessions that have not written for longest are dropped. */
  readonly bytesMax: number
  /** Deliberate defect for the checkers: the history never finds an executed statement. */
  readonly isForgetful?: boolean
  readonly onLimit?: () => void
}

export class RetryHistory {
  /** Sessions that have begun to write most recently are last. */
  readonly #sessions = new Map<SessionKey, SessionHistory>()
  readonly #options: RetryHistoryOptions
  /** Of internal transactions that have ended, oldest first. Their clients do not repeat them. */
  #endedInternally: SessionKey[] = []
  /** Entries of sessions that were recorded since the start of the member. */
  writeCount = 0
  #owner: object = {}
  #sizeBytes = 0

  constructor(options: RetryHistoryOptions) {
    this.#options = options
  }

  /** An estimate of its memory. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  get statementCount(): number {
    let count = 0
    for (const history of this.#sessions.values()) count += history.statementCount
    return count
  }

  /**
   * Called before a retryable write runs. Drops the statements of an older number.
   * @throws CommandError 225 TransactionTooOld when the session has a newer number, 217
   *   IncompleteTransactionHistory when the write with this number was converted to a transaction,
   *   whose result is not stored
   */
  begin(key: SessionKey, txnNumber: bigint, nowMs: number): void {
    const history = this.#sessions.get(key)
    checkNotOlder(history, txnNumber)
    if (history !== undefined && txnNumber === history.txnNumber && history.transaction !== null) {
      throw new CommandError(
        'IncompleteTransactionHistory',
        'Cannot retry a retryable write that has been converted into a transaction',
      )
    }
    if (history === undefined || txnNumber > history.txnNumber)
      this.#replace(key, new SessionHistory(this.#owner, txnNumber, nowMs))
  }

  /** The newest number that the session has used, and for what; undefined: none is known. */
  newest(key: SessionKey):
    | {
        readonly txnNumber: bigint
        readonly transaction: TransactionState | null
        readonly statementCount: number
        readonly isIncomplete: boolean
      }
    | undefined {
    return this.#sessions.get(key)
  }

  /** The session has used the number for a transaction. The log records outcomes of its own. */
  noteTransaction(key: SessionKey, txnNumber: bigint, transaction: TransactionState, nowMs: number): void {
    const history = this.#writable(key, txnNumber, nowMs)
    if (history === null) return
    history.transaction = transaction
    if (hasEnded(transaction)) this.#noteEnded(key)
  }

  /**
   * Called in the turn in which the statement would be executed: since {@link begin}, the session
   * may have used a newer number.
   * @returns undefined: the statement was not executed
   * @throws CommandError 225 TransactionTooOld, 217 IncompleteTransactionHistory when the statement
   *   may have been dropped
   */
  executed(key: SessionKey, txnNumber: bigint, stmtId: number): ExecutedStatement | undefined {
    const history = this.#sessions.get(key)
    checkNotOlder(history, txnNumber)
    if (history?.txnNumber !== txnNumber || this.#options.isForgetful === true) return undefined
    const statement = history.find(stmtId)
    if (statement === undefined && history.isIncomplete)
      throw new CommandError(
        'IncompleteTransactionHistory',
        `Incomplete history detected for transaction ${txnNumber} on session ${sessionText(key)}`,
      )
    if (statement?.op === 'n') throw hasMovedDocument()
    return statement
  }

  /** As {@link executed}, also for a statement whose reply is not known. */
  hasExecuted(key: SessionKey, txnNumber: bigint, stmtId: number): boolean {
    const history = this.#sessions.get(key)
    if (history?.txnNumber !== txnNumber || this.#options.isForgetful === true) return false
    return history.isIncomplete || history.find(stmtId) !== undefined
  }

  /**
   * Records the statements of an applied log entry, or those that another member executed and
   * handed over.
   * @param parts of the transaction that takes effect with the entry; null: none does
   * @returns the previous entry of the same retryable write; undefined: there is none
   */
  record(entry: LogEntry, parts: readonly Uint8Array[] | null = null): OpTime | undefined {
    if (entry.op === 'n' && isSessionsImage(entry.object))
      for (const session of decodeSessionsImage(entry.object)) this.#merge(session)
    if (entry.session === null) return undefined
    const { key, parent } = SessionCatalog.parseAny(entry.session.lsid)
    const history = this.#writable(key, entry.session.txnNumber, entry.wallMs)
    if (history === null) return undefined
    this.writeCount++
    const previous = history.lastOpTime ?? undefined
    history.lastOpTime = { ts: entry.ts, term: entry.term }
    if (entry.op === 'c') {
      history.transaction = stateAfter(entry.object)
      if (parent?.txnNumber != null && parts !== null) this.#recordParts(parent, parts, entry.wallMs)
      if (hasEnded(history.transaction)) this.#noteEnded(key)
      return previous
    }
    const image = entry.session.image ?? null
    const insertedId = entry.op === 'i' ? findField(entry.object, '_id') : undefined
    const before = history.sizeBytes
    for (const stmtId of entry.session.stmtIds)
      history.add(entry.ns, stmtId, {
        op: entry.op,
        insertedId: insertedId?.detached() ?? null,
        // Copied: a view would keep its whole message or log block alive.
        image: image === null ? null : { kind: image.kind, document: new Uint8Array(image.document) },
      })
    this.#grown(key, history.sizeBytes - before)
    return previous
  }

  /** The statements of a client's retryable write that ran in an internal transaction. */
  #recordParts({ session: { key }, txnNumber }: ParentSession, parts: readonly Uint8Array[], wallMs: number): void {
    for (const part of parts)
      for (const operation of documentsOf(findField(part, 'applyOps')!)) {
        const { stmtIds, image } = statementOfOperation(operation)
        if (stmtIds.length === 0) continue
        const history = this.#writable(key, txnNumber!, wallMs)
        if (history === null) return
        const op = findField(operation, 'op')!.asString() as ExecutedStatement['op']
        const insertedId = op === 'i' ? findField(findField(operation, 'o')!.slice(), '_id')!.detached() : null
        const before = history.sizeBytes
        for (const stmtId of stmtIds)
          history.add(findField(operation, 'ns')!.asString(), stmtId, {
            op,
            insertedId,
            image: image === undefined ? null : { kind: image.kind, document: new Uint8Array(image.document) },
          })
        this.#grown(key, history.sizeBytes - before)
      }
  }

  /** Internal sessions are not used again, so few are kept: for routers that repeat a commit. */
  #noteEnded(key: SessionKey): void {
    if (!isInternalSession(key) || this.#endedInternally.at(-1) === key) return
    this.#endedInternally.push(key)
    if (this.#endedInternally.length <= 2 * internalSessionsMax) return
    const dropped = this.#endedInternally.splice(0, this.#endedInternally.length - internalSessionsMax)
    const kept = new Set(this.#endedInternally)
    for (const each of dropped) if (!kept.has(each) && this.#hasEnded(each)) this.drop(each)
  }

  #hasEnded(key: SessionKey): boolean {
    return hasEnded(this.#sessions.get(key)?.transaction ?? null)
  }

  /** @returns as {@link record} */
  recordInserts(
    key: SessionKey,
    txnNumber: bigint,
    { ns, wallMs, stmtIds, documents, last }: InsertedStatements,
  ): OpTime | undefined {
    const history = this.#writable(key, txnNumber, wallMs)
    if (history === null) return undefined
    this.writeCount++
    const previous = history.lastOpTime ?? undefined
    history.lastOpTime = last
    const before = history.sizeBytes
    history.addRun(ns, InsertedRun.of(stmtIds, documents))
    this.#grown(key, history.sizeBytes - before)
    return previous
  }

  drop(key: SessionKey): void {
    this.#sizeBytes -= this.#sessions.get(key)?.sizeBytes ?? 0
    this.#sessions.delete(key)
  }

  /**
   * Drops what sessions wrote before that time, if they have not been used since. Server:
   * session_catalog_mongod.cpp, reapSessionsOlderThan.
   */
  expire(beforeMs: number, isActive: (key: SessionKey) => boolean): void {
    for (const [key, { lastWriteAtMs }] of this.#sessions)
      if (lastWriteAtMs < beforeMs && !isActive(key)) this.drop(key)
  }

  /** All of it, for a checkpoint. */
  export(): RetryHistoryImage {
    return [...this.#sessions].map(([key, history]) => history.image(key, null)!)
  }

  /**
   * For a member that takes over documents of the namespace. Server:
   * session_catalog_migration_source.cpp.
   * @param keys default: all sessions
   */
  exportOf(ns: string, keys: Iterable<SessionKey> = this.#sessions.keys()): RetryHistoryImage {
    const images: SessionImage[] = []
    for (const key of keys) {
      const image = isInternalSession(key) ? null : (this.#sessions.get(key)?.image(key, ns) ?? null)
      if (image !== null) images.push(image)
    }
    return images
  }

  import(image: RetryHistoryImage): void {
    this.clear()
    for (const session of image) {
      this.#merge(session)
      if (hasEnded(session.transaction)) this.#noteEnded(session.key)
    }
  }

  /** Costs O(sessions): the statements of a session are copied on write. */
  clone(): RetryHistory {
    const copy = new RetryHistory(this.#options)
    copy.adopt(this)
    return copy
  }

  adopt(other: RetryHistory): void {
    other.#owner = {}
    this.#sessions.clear()
    for (const [key, history] of other.#sessions) this.#sessions.set(key, history)
    this.#endedInternally = [...other.#endedInternally]
    this.#sizeBytes = other.#sizeBytes
  }

  clear(): void {
    this.#sessions.clear()
    this.#endedInternally = []
    this.#sizeBytes = 0
  }

  #merge(session: SessionImage): void {
    const { key, txnNumber, lastWriteAtMs, isIncomplete } = session
    const history = this.#writable(key, txnNumber, lastWriteAtMs, isIncomplete)
    if (history === null) return
    const before = history.sizeBytes
    history.merge(session)
    this.#grown(key, history.sizeBytes - before)
  }

  #replace(key: SessionKey, history: SessionHistory): void {
    this.#sizeBytes += history.sizeBytes - (this.#sessions.get(key)?.sizeBytes ?? 0)
    this.#sessions.delete(key)
    this.#sessions.set(key, history)
  }

  /** @param writing its statements are kept: further ones of the same write must be executed */
  #grown(writing: SessionKey, bytes: number): void {
    this.#sizeBytes += bytes
    if (this.#sizeBytes > this.#options.bytesMax) this.#dropOldest(writing)
  }

  #dropOldest(writing: SessionKey): void {
    this.#options.onLimit?.()
    // An eighth more, so that the next writes need not drop any.
    const bytesMax = this.#options.bytesMax * (7 / 8)
    for (const [key, history] of [...this.#sessions]) {
      if (this.#sizeBytes <= bytesMax) return
      if (key !== writing && history.sizeBytes > 0) this.#replace(key, history.incomplete(this.#owner))
    }
  }

  /**
   * Null: the session has used a newer number, before work finished by another member arrived here.
   */
  #writable(key: SessionKey, txnNumber: bigint, wallMs: number, isIncomplete = false): SessionHistory | null {
    const known = this.#sessions.get(key)
    if (known !== undefined && known.txnNumber > txnNumber) return null
    if (
      known !== undefined &&
      known.txnNumber === txnNumber &&
      known.owner === this.#owner &&
      (known.isIncomplete || !isIncomplete)
    ) {
      if (wallMs > known.lastWriteAtMs) known.lastWriteAtMs = wallMs
      return known
    }
    const history =
      known?.txnNumber === txnNumber
        ? known.copyFor(this.#owner, isIncomplete)
        : new SessionHistory(this.#owner, txnNumber, wallMs, isIncomplete)
    if (wallMs > history.lastWriteAtMs) history.lastWriteAtMs = wallMs
    this.#replace(key, history)
    return history
  }
}

const internalSessionsMax = 1000

function hasMovedDocument(): CommandError {
  return new CommandError(
    'IncompleteTransactionHistory',
    'Operation was converted into a distributed transaction because the modified document would move shards and succeeded but transaction history was not generated so the original reply cannot be recreated.',
  )
}

function stateAfter(command: Uint8Array): TransactionState {
  if (firstFieldName(command) === 'abortTransaction') return 'aborted'
  if (findField(command, 'prepare') !== undefined) return 'prepared'
  return findField(command, 'partialTxn') === undefined ? 'committed' : 'inProgress'
}

function checkNotOlder(history: SessionHistory | undefined, txnNumber: bigint): void {
  if (history === undefined || txnNumber >= history.txnNumber) return
  const newer = history.transaction === null ? 'retryable write' : 'transaction'
  throw new CommandError(
    'TransactionTooOld',
    `Retryable write with txnNumber ${txnNumber} is prohibited on session because a newer ${newer} with txnNumber ${history.txnNumber} has already started on this session.`,
  )
}

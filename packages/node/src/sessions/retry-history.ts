/**
 * Which statements of each session's newest retryable write have been executed, so that a repeated one is answered
 * instead of run again. Built from the log alone: replaying it rebuilds the history.
 * Server: transaction_participant, session_catalog; manual: core/retryable-writes.
 */
import { CommandError, type RawValue } from '@shardlab/bson'
import type { LogEntry, RetryImage } from '@shardlab/storage'
import { decodeSessionsImage, isSessionsImage } from '../log/sessions-image.js'
import { SessionCatalog, type SessionKey } from './session-catalog.js'

/** What an executed statement had done. */
export interface ExecutedStatement {
  readonly op: 'i' | 'u' | 'd' | 'n'
  /** `_id` of an inserted document (an upsert's too). */
  readonly insertedId: RawValue | null
  /** Of a findAndModify: the document that it answered with. */
  readonly image: RetryImage | null
}

interface SessionHistory {
  txnNumber: bigint
  readonly statements: Map<number, ExecutedStatement>
}

/** A write whose document moved to another shard was the only statement of its command; an entry that changes nothing tells of it. */
function becameTransaction({ statements }: SessionHistory): boolean {
  for (const { op } of statements.values()) return op === 'n'
  return false
}

export class RetryHistory {
  readonly #sessions = new Map<SessionKey, SessionHistory>()

  /**
   * Called before a retryable write runs.
   * @throws CommandError 225 TransactionTooOld when the session has gone on to a newer number, 217 IncompleteTransactionHistory when the
   *   write with this number was finished as a transaction, which nobody can answer again
   */
  begin(key: SessionKey, txnNumber: bigint): void {
    const history = this.#sessions.get(key)
    if (history !== undefined && txnNumber < history.txnNumber) {
      throw new CommandError(
        'TransactionTooOld',
        `Retryable write with txnNumber ${txnNumber} is prohibited on session because a newer retryable write with txnNumber ${history.txnNumber} has already started on this session.`,
      )
    }
    if (history !== undefined && txnNumber === history.txnNumber && becameTransaction(history)) {
      throw new CommandError('IncompleteTransactionHistory', 'Cannot retry a retryable write that has been converted into a transaction')
    }
    if (history === undefined || txnNumber > history.txnNumber) this.#sessions.set(key, { txnNumber, statements: new Map() })
  }

  /** What the statement did when it was executed before; undefined when it was not. */
  executed(key: SessionKey, txnNumber: bigint, stmtId: number): ExecutedStatement | undefined {
    const history = this.#sessions.get(key)
    return history?.txnNumber === txnNumber ? history.statements.get(stmtId) : undefined
  }

  /** Takes note of a log entry that was applied: of its own statement, or of those that another member has executed and handed over. */
  record(entry: LogEntry, insertedId: RawValue | null): void {
    if (entry.op === 'n' && isSessionsImage(entry.object)) this.#merge(decodeSessionsImage(entry.object))
    if (entry.session === null || entry.op === 'c') return
    const { key } = SessionCatalog.parse(entry.session.lsid)
    let history = this.#sessions.get(key)
    if (history === undefined || history.txnNumber < entry.session.txnNumber) {
      history = { txnNumber: entry.session.txnNumber, statements: new Map() }
      this.#sessions.set(key, history)
    }
    // What other members finish may come after the session has gone on.
    if (history.txnNumber > entry.session.txnNumber) return
    const image = entry.session.image ?? null
    for (const stmtId of entry.session.stmtIds)
      history.statements.set(stmtId, {
        op: entry.op,
        insertedId: insertedId === null ? null : insertedId.detached(),
        // The document may be a view on a message or a block of the log, which must not stay alive for it.
        image: image === null ? null : { kind: image.kind, document: new Uint8Array(image.document) },
      })
  }

  forget(key: SessionKey): void {
    this.#sessions.delete(key)
  }

  /** What is known of sessions, for a checkpoint or another member. Default: all of them. */
  export(keys: Iterable<SessionKey> = this.#sessions.keys()): RetryHistoryImage {
    const image: Mutable<RetryHistoryImage> = []
    for (const key of keys) {
      const history = this.#sessions.get(key)
      if (history === undefined) continue
      const statements = [...history.statements].map(([stmtId, statement]) => ({ stmtId, ...statement }))
      image.push({ key, txnNumber: history.txnNumber, statements })
    }
    return image
  }

  /** The newer number of a session counts; statements of the same number add up. */
  #merge(image: RetryHistoryImage): void {
    for (const { key, txnNumber, statements } of image) {
      const known = this.#sessions.get(key)
      if (known !== undefined && known.txnNumber > txnNumber) continue
      const kept = known?.txnNumber === txnNumber ? known.statements : new Map<number, ExecutedStatement>()
      for (const { stmtId, ...executed } of statements) if (!kept.has(stmtId)) kept.set(stmtId, executed)
      this.#sessions.set(key, { txnNumber, statements: kept })
    }
  }

  import(image: RetryHistoryImage): void {
    this.#sessions.clear()
    for (const { key, txnNumber, statements } of image) {
      this.#sessions.set(key, {
        txnNumber,
        statements: new Map(statements.map(({ stmtId, ...executed }) => [stmtId, executed])),
      })
    }
  }
}

/** The history as plain data. */
export type RetryHistoryImage = readonly {
  readonly key: SessionKey
  readonly txnNumber: bigint
  readonly statements: readonly ({ readonly stmtId: number } & ExecutedStatement)[]
}[]

type Mutable<T extends readonly unknown[]> = T[number][]

/**
 * Which statements of each session's newest retryable write have been executed, so that a repeated one is answered
 * instead of run again. Built from the log alone: replaying it rebuilds the history.
 * Server: transaction_participant, session_catalog; manual: core/retryable-writes.
 */
import { CommandError, type RawValue } from '@shardlab/bson'
import type { LogEntry, RetryImage } from '@shardlab/storage'
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

export class RetryHistory {
  readonly #sessions = new Map<SessionKey, SessionHistory>()

  /**
   * Called before a retryable write runs.
   * @throws CommandError 225 TransactionTooOld when the session has gone on to a newer number
   */
  begin(key: SessionKey, txnNumber: bigint): void {
    const history = this.#sessions.get(key)
    if (history !== undefined && txnNumber < history.txnNumber) {
      throw new CommandError(
        'TransactionTooOld',
        `Retryable write with txnNumber ${txnNumber} is prohibited on session because a newer retryable write with txnNumber ${history.txnNumber} has already started on this session.`,
      )
    }
    if (history === undefined || txnNumber > history.txnNumber) this.#sessions.set(key, { txnNumber, statements: new Map() })
  }

  /** What the statement did when it was executed before; undefined when it was not. */
  executed(key: SessionKey, txnNumber: bigint, stmtId: number): ExecutedStatement | undefined {
    const history = this.#sessions.get(key)
    return history?.txnNumber === txnNumber ? history.statements.get(stmtId) : undefined
  }

  /** Takes note of a log entry that was applied. */
  record(entry: LogEntry, insertedId: RawValue | null): void {
    if (entry.session === null || entry.op === 'c') return
    const { key } = SessionCatalog.parse(entry.session.lsid)
    let history = this.#sessions.get(key)
    if (history === undefined || history.txnNumber < entry.session.txnNumber) {
      history = { txnNumber: entry.session.txnNumber, statements: new Map() }
      this.#sessions.set(key, history)
    }
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

  /** Everything, for a checkpoint. */
  export(): RetryHistoryImage {
    return [...this.#sessions].map(([key, history]) => ({
      key,
      txnNumber: history.txnNumber,
      statements: [...history.statements].map(([stmtId, statement]) => ({ stmtId, ...statement })),
    }))
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

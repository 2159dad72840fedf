/**
 * The executed statements of each session's newest retryable write: a repeated one is answered, not
 * run again. Built from the log alone, so replay rebuilds it. Server: transaction_participant,
 * session_catalog; manual: core/retryable-writes.
 */
import { CommandError, findField } from '@shardlab/bson'
import type { LogEntry } from '@shardlab/storage'
import { SessionCatalog, type SessionKey } from '@shardlab/member'
import { decodeSessionsImage, isSessionsImage } from './sessions-image.js'
import type { ExecutedStatement, RetryHistoryImage } from './executed-statement.js'
import { InsertedRun } from './inserted-run.js'

type Statements = Map<number, ExecutedStatement | InsertedRun>

function statementOf(known: ExecutedStatement | InsertedRun, stmtId: number): ExecutedStatement {
  return known instanceof InsertedRun ? known.statement(stmtId) : known
}

interface SessionHistory {
  /** The history that may add statements; other histories that share the map must copy it first. */
  readonly owner: object
  readonly txnNumber: bigint
  readonly statements: Statements
}

/**
 * Whether the write moved its document to another shard in a transaction. It was the only statement
 * of its command, and a no-op entry records it.
 */
function isConvertedToTransaction({ statements }: SessionHistory): boolean {
  for (const [stmtId, known] of statements) return statementOf(known, stmtId).op === 'n'
  return false
}

export class RetryHistory {
  readonly #sessions = new Map<SessionKey, SessionHistory>()
  #owner: object = {}
  readonly #isForgetful: boolean

  /**
   * @param isForgetful deliberate defect for the checkers: the history never finds an executed
   * statement
   */
  constructor(isForgetful = false) {
    this.#isForgetful = isForgetful
  }

  /**
   * Called before a retryable write runs.
   * @throws CommandError 225 TransactionTooOld when the session has a newer number, 217
   *   IncompleteTransactionHistory when the write with this number was converted to a transaction,
   *   whose result is not stored
   */
  begin(key: SessionKey, txnNumber: bigint): void {
    const history = this.#sessions.get(key)
    if (history !== undefined && txnNumber < history.txnNumber) {
      throw new CommandError(
        'TransactionTooOld',
        `Retryable write with txnNumber ${txnNumber} is prohibited on session because a newer retryable write with txnNumber ${history.txnNumber} has already started on this session.`,
      )
    }
    if (history !== undefined && txnNumber === history.txnNumber && isConvertedToTransaction(history)) {
      throw new CommandError(
        'IncompleteTransactionHistory',
        'Cannot retry a retryable write that has been converted into a transaction',
      )
    }
    if (history === undefined || txnNumber > history.txnNumber) this.#set(key, txnNumber)
  }

  /** undefined: the statement was not executed */
  executed(key: SessionKey, txnNumber: bigint, stmtId: number): ExecutedStatement | undefined {
    const history = this.#sessions.get(key)
    if (history?.txnNumber !== txnNumber || this.#isForgetful) return undefined
    const known = history.statements.get(stmtId)
    return known && statementOf(known, stmtId)
  }

  /**
   * Records the statements of an applied log entry, or those that another member executed and
   * handed over.
   */
  record(entry: LogEntry): void {
    if (entry.op === 'n' && isSessionsImage(entry.object)) this.#merge(decodeSessionsImage(entry.object))
    if (entry.session === null || entry.op === 'c') return
    const { key } = SessionCatalog.parse(entry.session.lsid)
    const { txnNumber } = entry.session
    // Work finished by other members may arrive after the session has used a newer number.
    if ((this.#sessions.get(key)?.txnNumber ?? txnNumber) > txnNumber) return
    const statements = this.#statementsOf(key, txnNumber)
    const image = entry.session.image ?? null
    const insertedId = entry.op === 'i' ? findField(entry.object, '_id') : undefined
    for (const stmtId of entry.session.stmtIds)
      statements.set(stmtId, {
        op: entry.op,
        insertedId: insertedId?.detached() ?? null,
        // Copied: a view would keep its whole message or log block alive.
        image: image === null ? null : { kind: image.kind, document: new Uint8Array(image.document) },
      })
  }

  /** One document per statement. */
  recordInserts(
    key: SessionKey,
    txnNumber: bigint,
    stmtIds: readonly number[],
    documents: readonly Uint8Array[],
  ): void {
    if ((this.#sessions.get(key)?.txnNumber ?? txnNumber) > txnNumber) return
    const statements = this.#statementsOf(key, txnNumber)
    const run = new InsertedRun(stmtIds, documents)
    for (const stmtId of stmtIds) statements.set(stmtId, run)
  }

  drop(key: SessionKey): void {
    this.#sessions.delete(key)
  }

  /** For a checkpoint or another member. Default: all sessions. */
  export(keys: Iterable<SessionKey> = this.#sessions.keys()): RetryHistoryImage {
    const image: Mutable<RetryHistoryImage> = []
    for (const key of keys) {
      const history = this.#sessions.get(key)
      if (history === undefined) continue
      const statements = [...history.statements].map(([stmtId, known]) => ({ stmtId, ...statementOf(known, stmtId) }))
      image.push({ key, txnNumber: history.txnNumber, statements })
    }
    return image
  }

  /** Keeps the newer number of a session; statements of the same number are added. */
  #merge(image: RetryHistoryImage): void {
    for (const { key, txnNumber, statements } of image) {
      if ((this.#sessions.get(key)?.txnNumber ?? txnNumber) > txnNumber) continue
      const kept = this.#statementsOf(key, txnNumber)
      for (const { stmtId, ...executed } of statements) if (!kept.has(stmtId)) kept.set(stmtId, executed)
    }
  }

  /** Costs O(sessions): the statements of a session are copied on write. */
  clone(): RetryHistory {
    const copy = new RetryHistory(this.#isForgetful)
    copy.adopt(this)
    return copy
  }

  adopt(other: RetryHistory): void {
    other.#owner = {}
    this.#sessions.clear()
    for (const [key, history] of other.#sessions) this.#sessions.set(key, history)
  }

  /** For additions: statements that other histories share are copied first. */
  #statementsOf(key: SessionKey, txnNumber: bigint): Statements {
    const known = this.#sessions.get(key)
    if (known?.txnNumber !== txnNumber) return this.#set(key, txnNumber)
    return known.owner === this.#owner ? known.statements : this.#set(key, txnNumber, known.statements)
  }

  #set(key: SessionKey, txnNumber: bigint, executed?: Iterable<[number, ExecutedStatement | InsertedRun]>): Statements {
    const statements: Statements = new Map(executed)
    this.#sessions.set(key, { owner: this.#owner, txnNumber, statements })
    return statements
  }

  import(image: RetryHistoryImage): void {
    this.#sessions.clear()
    for (const { key, txnNumber, statements } of image) {
      const executed = statements.map(({ stmtId, ...statement }): [number, ExecutedStatement] => [stmtId, statement])
      this.#set(key, txnNumber, executed)
    }
  }
}

type Mutable<T extends readonly unknown[]> = T[number][]

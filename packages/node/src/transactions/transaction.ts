import { createDeferred, type TimestampPair } from '@shardlab/actor'
import {
  ActivityClock,
  isoText,
  type ReportedTransaction,
  type RunningOperation,
  type SessionId,
} from '@shardlab/member'
import type { LogSession, StorageEngine } from '@shardlab/storage'

/** What the transaction reads and changes: a clone of the data, with its own writes. */
export interface Snapshot {
  readonly engine: StorageEngine
  /** Of the last change that the clone includes. */
  readonly time: TimestampPair
  /** Whether all shards read at this time. */
  readonly isCommon: boolean
}

/** A command of a transaction, as its session options name it. */
export interface TransactionStatement {
  readonly session: SessionId
  readonly txnNumber: bigint
  readonly starts: boolean
  /** In which the command runs. Null: it has not begun to, or it ends the transaction. */
  readonly open: Transaction | null
}

export class Transaction {
  readonly session: SessionId
  readonly txnNumber: bigint
  readonly clock: ActivityClock
  state: 'in-progress' | 'prepared' | 'committed' | 'aborted' = 'in-progress'
  /** Null: its first statement has not begun to read. */
  snapshot: Snapshot | null = null
  /** As in the oplog. */
  readonly operations: Uint8Array[] = []
  sizeBytes = 0
  /** Of collections that it has used. */
  readonly namespaces = new Set<string>()
  readonly createdNamespaces = new Set<string>()
  /** See `WriteKeys`. */
  readonly keys = new Set<string>()
  /** Of its first command. Null: it named none. */
  readConcern: Uint8Array | null = null
  /** Of the last command; 0: it came from another member. */
  connectionId = 0
  /** Null: it is not prepared. */
  preparedAtMs: number | null = null
  /** The statement that runs. Null: it is inactive. */
  operation: RunningOperation | null = null
  /** Of its prepare. Null: it is not prepared. */
  prepareTime: TimestampPair | null = null
  /** Its statement waits to enter a collection, and uses nothing until then. */
  isEntering = false
  /** A statement has failed for some of its documents. */
  hasFailed = false
  readonly #ended = createDeferred<void>()

  constructor(session: SessionId, txnNumber: bigint, startedAtMs: number) {
    this.session = session
    this.txnNumber = txnNumber
    this.clock = new ActivityClock(startedAtMs)
  }

  get isOpen(): boolean {
    return this.state === 'in-progress' || this.state === 'prepared'
  }

  get startedAtMs(): number {
    return this.clock.startedAtMs
  }

  /** For currentOp. */
  report(nowMs: number, lifetimeMs: number): ReportedTransaction {
    return {
      lsid: this.session.document,
      operation: this.operation,
      connectionId: this.connectionId,
      write: (writer) => {
        writer.startDocument('parameters').int64('txnNumber', this.txnNumber).bool('autocommit', false)
        if (this.readConcern !== null) writer.document('readConcern', this.readConcern)
        const [seconds, increment] = this.snapshot?.isCommon === true ? this.snapshot.time : [0, 0]
        writer.end().timestamp('readTimestamp', seconds, increment)
        this.clock.write(writer, nowMs)
        if (this.preparedAtMs !== null)
          writer.int64('timePreparedMicros', Math.round((nowMs - this.preparedAtMs) * 1000))
        writer.string('expiryTime', isoText(this.startedAtMs + lifetimeMs))
      },
    }
  }

  get isReadOnly(): boolean {
    return this.operations.length === 0
  }

  get logSession(): LogSession {
    return { lsid: this.session.document, txnNumber: this.txnNumber, stmtIds: [] }
  }

  /** Resolves when it has committed or aborted. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  end(state: 'committed' | 'aborted'): void {
    this.state = state
    this.snapshot = null
    this.#ended.resolve()
  }
}

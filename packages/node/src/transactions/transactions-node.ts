import type { ActorContext, TimestampPair } from '@shardlab/actor'
import type { ParameterSet } from '@shardlab/member'
import type { Behaviours } from '@shardlab/sharding'
import type { Collection, LogEntry } from '@shardlab/storage'
import type { CursorManager } from '../cursors/cursor-manager.js'
import type { LogChange } from '../log/log-change.js'
import type { NodeParameterName } from '../parameters/node-parameters.js'
import type { RetryHistory } from '../retry/retry-history.js'
import type { LoggedTransactions } from './log/logged-transactions.js'

/** What transactions need of the node. */
export interface TransactionsNode {
  readonly behaviours: Behaviours
  readonly context: ActorContext
  readonly cursors: CursorManager
  readonly parameters: ParameterSet<NodeParameterName>
  readonly retries: RetryHistory
  readonly role: { readonly name: string }
  readonly set: { readonly appliedTs: TimestampPair; readonly isWritablePrimary: boolean }
  collection(ns: string): Collection | undefined
}

/** What the node does for its transactions. */
export interface TransactionLog {
  /** For members that are not primary, and for readers of past times. */
  readonly logged: LoggedTransactions
  /** See `NodeLog.applyTransaction`. */
  write(entries: readonly LogChange[]): LogEntry
}

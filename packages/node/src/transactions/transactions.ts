/**
 * The transactions of a primary: at most one open one for each session. Server:
 * transaction_participant.cpp.
 */
import type { TimestampPair } from '@shardlab/actor'
import { BsonType, CommandError, findField, firstFieldName, type DocumentWriter } from '@shardlab/bson'
import {
  clientSession,
  databaseNameOf,
  SessionCatalog,
  type ReportedTransaction,
  type SessionId,
  type SessionKey,
} from '@shardlab/member'
import type { StorageEngine } from '@shardlab/storage'
import type { LogChange } from '../log/log-change.js'
import { DefinitionLocks } from './definition-locks.js'
import type { LoggedTransaction } from './log/logged-transactions.js'
import { operationsIn } from './log/operations.js'
import {
  abortEntry,
  applyOpsEntries,
  commitEntry,
  encodedOperation,
  type EntryLimits,
} from './log/transaction-entries.js'
import { runsWriteOf } from './internal-sessions.js'
import { RangeArrivals } from './range-arrivals.js'
import { SessionCheckout } from './session-checkout.js'
import { Transaction } from './transaction.js'
import {
  checkNumber,
  checkRestart,
  commandOnPrepared,
  exceededLifetime,
  hasAborted,
  hasCommitted,
  noSuchTransaction,
  SessionIsPrepared,
} from './transaction-errors.js'
import { TransactionStatistics } from './transaction-statistics.js'
import type { TransactionLog, TransactionsNode } from './transactions-node.js'
import { UndecidedTransactions } from './undecided-transactions.js'
import { keysOf, TransactionConflict, WriteKeys } from './write-keys.js'

export const transactionsTimer = 'transactions'

export class Transactions {
  readonly keys = new WriteKeys()
  readonly definitions: DefinitionLocks
  readonly checkout = new SessionCheckout()
  readonly statistics = new TransactionStatistics()
  /** Since some transaction began that is still open. */
  readonly arrivals = new RangeArrivals()
  preparedCount = 0
  readonly undecided = new UndecidedTransactions()
  readonly #node: TransactionsNode
  readonly log: TransactionLog
  readonly #open = new Map<SessionKey, Transaction>()
  /** Infinite: the timer is not armed. */
  #dueMs = Number.POSITIVE_INFINITY

  constructor(node: TransactionsNode, log: TransactionLog) {
    this.#node = node
    this.log = log
    this.definitions = new DefinitionLocks(() => node.parameters.number('maxTransactionLockRequestTimeoutMillis'))
  }

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  all(): Transaction[] {
    return [...this.#open.values()]
  }

  /**
   * @throws CommandError 225 TransactionTooOld, 117 ConflictingOperationInProgress, 50911, 10107
   *   NotWritablePrimary
   * @throws SessionIsPrepared
   */
  start(session: SessionId, txnNumber: bigint): Transaction {
    const node = this.#node
    const nowMs = node.context.now()
    this.#checkPrimary()
    const newest = node.retries.newest(session.key)
    checkNumber(session, txnNumber, newest, node.behaviours)
    const open = this.#open.get(session.key)
    if (newest?.txnNumber === txnNumber) {
      checkRestart(txnNumber, newest, node.role.name)
      if (open !== undefined) this.abort(open)
    } else this.#supersede(open)
    this.#supersedeInternal(clientSession(session).key, session.parent?.txnNumber ?? txnNumber, session)
    node.retries.noteTransaction(session.key, txnNumber, 'inProgress', nowMs)
    const transaction = new Transaction(session, txnNumber, nowMs)
    this.#open.set(session.key, transaction)
    this.statistics.started++
    this.#arm(nowMs + this.#lifetimeMs)
    return transaction
  }

  /**
   * @param command that does not end the transaction
   * @throws CommandError 225, 251 NoSuchTransaction, 256 TransactionCommitted, 267, 10107
   */
  continue(session: SessionId, txnNumber: bigint): Transaction {
    const transaction = this.find(session, txnNumber)
    if (transaction === null) throw hasCommitted(txnNumber, this.#node.behaviours)
    if (transaction.state === 'prepared') throw commandOnPrepared()
    return transaction
  }

  /**
   * @returns null: it has committed
   * @throws CommandError 225, 251, 10107
   */
  find(session: SessionId, txnNumber: bigint): Transaction | null {
    this.#checkPrimary()
    const { behaviours, retries } = this.#node
    const newest = retries.newest(session.key)
    checkNumber(session, txnNumber, newest, behaviours)
    if (newest?.txnNumber !== txnNumber || newest.transaction === null)
      throw noSuchTransaction(txnNumber, newest?.txnNumber ?? -1n)
    const open = this.#open.get(session.key)
    if (open?.txnNumber === txnNumber) return open
    if (newest.transaction === 'committed') return null
    throw hasAborted(txnNumber, behaviours)
  }

  /**
   * Called before a retryable write uses the number. A write that was converted to a transaction is
   * repeated when that has ended.
   * @throws SessionIsPrepared
   */
  beginRetryableWrite(key: SessionKey, txnNumber: bigint): void {
    this.#supersedeInternal(key, txnNumber - 1n, null)
    const open = this.#open.get(key)
    if (open === undefined || txnNumber < open.txnNumber) return
    if (txnNumber > open.txnNumber || open.state === 'prepared') this.#supersede(open)
  }

  /** Ends those of repeated or earlier retryable writes of the client, but the one that begins. */
  #supersedeInternal(client: SessionKey, txnNumber: bigint, except: SessionId | null): void {
    if (except?.parent?.txnNumber === null) return
    for (const open of this.#open.values())
      if (open.session.key !== except?.key && runsWriteOf(open.session, client, txnNumber)) this.#supersede(open)
  }

  #supersede(open: Transaction | undefined): void {
    if (open === undefined) return
    if (open.state === 'prepared') throw new SessionIsPrepared(open)
    this.abort(open)
  }

  /**
   * All its operations take effect in this turn. The caller flushes the node.
   * @param writeConcern as in {@link TransactionStatistics.committed}
   * @throws Error if the log refuses the entries, as a fail point does; then it has aborted
   */
  commit(transaction: Transaction, writeConcern: Uint8Array | null): void {
    const { operations, logSession } = transaction
    try {
      if (operations.length > 0) this.log.write(applyOpsEntries(operations, logSession, false, this.#entryLimits))
    } catch (error) {
      this.abort(transaction)
      throw error
    }
    this.statistics.committed(transaction, writeConcern)
    this.#end(transaction, 'committed')
  }

  /**
   * The first phase of a commit on several shards: after it, only the coordinator ends the
   * transaction. The caller flushes the node to a majority.
   * @throws CommandError 263 OperationNotSupportedInTransaction
   */
  prepare(transaction: Transaction): TimestampPair {
    const { operations, logSession, createdNamespaces, prepareTime } = transaction
    if (prepareTime !== null) return prepareTime
    if (createdNamespaces.size > 0)
      throw new CommandError(
        'OperationNotSupportedInTransaction',
        'Cannot create new collections inside distributed transactions',
      )
    const { ts } = this.log.write(applyOpsEntries(operations, logSession, true, this.#entryLimits))
    transaction.state = 'prepared'
    transaction.prepareTime = ts
    transaction.preparedAtMs = this.#node.context.now()
    transaction.snapshot = null
    this.preparedCount++
    this.statistics.prepared++
    return ts
  }

  /** The second phase, as {@link commit}. */
  commitPrepared(transaction: Transaction, commitTime: TimestampPair, writeConcern: Uint8Array | null): void {
    this.log.write([commitEntry(transaction.logSession, commitTime)])
    this.statistics.preparedThenCommitted++
    this.statistics.committed(transaction, writeConcern)
    this.#end(transaction, 'committed')
  }

  /** The caller flushes the node. */
  abort(transaction: Transaction): void {
    if (!transaction.isOpen) return
    const isPrepared = transaction.state === 'prepared'
    if (isPrepared) {
      this.log.write([abortEntry(transaction.logSession)])
      this.statistics.preparedThenAborted++
    }
    this.statistics.aborted++
    this.#end(transaction, isPrepared ? 'aborted' : 'abortedWithoutPrepare')
  }

  /** Prepared transactions hold their keys after a restart and after an election, too. */
  restore(prepared: readonly LoggedTransaction[], engine: StorageEngine): void {
    for (const { key, lsid, txnNumber, parts, preparedAt } of prepared) {
      const transaction = new Transaction(SessionCatalog.parseAny(lsid), txnNumber, this.#node.context.now())
      transaction.state = 'prepared'
      transaction.prepareTime = preparedAt!.ts
      transaction.preparedAtMs = this.#node.context.now()
      const clone = engine.clone()
      const entry = { ts: preparedAt!.ts, term: preparedAt!.term, wallMs: 0 }
      for (const change of operationsIn(parts, entry, clone)) {
        this.keys.take(transaction, keysOf(change, clone.collection(change.ns)))
        clone.apply(change)
        transaction.namespaces.add(change.ns)
        transaction.operations.push(encodedOperation(change))
      }
      this.preparedCount++
      this.#open.set(key, transaction)
    }
  }

  #end(transaction: Transaction, state: 'committed' | 'aborted' | 'abortedWithoutPrepare'): void {
    const { session, txnNumber } = transaction
    const { cursors, context, retries } = this.#node
    if (transaction.state === 'prepared') this.preparedCount--
    this.keys.release(transaction)
    this.#open.delete(session.key)
    if (this.isEmpty) this.arrivals.clear()
    retries.noteTransaction(session.key, txnNumber, state, context.now())
    transaction.end(state === 'committed' ? 'committed' : 'aborted')
    cursors.closeWhere((cursor) => cursor.session === session.key && cursor.txnNumber === txnNumber)
  }

  /** The sessions are killed. Prepared transactions stay. */
  abortWhere(fits: (session: SessionKey) => boolean): void {
    for (const transaction of this.all())
      if (transaction.state === 'in-progress' && fits(clientSession(transaction.session).key)) this.abort(transaction)
  }

  /**
   * Called before a change outside of transactions, while there are any.
   * @throws TransactionConflict for what an open transaction has written
   */
  checkChange(change: LogChange): void {
    if (change.op === 'c') this.#checkDefinition(change)
    else if (!this.keys.isEmpty) this.keys.checkFree(change, this.#node.collection(change.ns))
  }

  /**
   * Commands that change definitions have waited for transactions. Other work, such as that of
   * coordinators, aborts those that are not prepared; the prepared ones find what is left.
   * @throws TransactionConflict
   */
  #checkDefinition({ ns: commandNs, object }: LogChange): void {
    const command = firstFieldName(object)!
    const target = findField(object, command)!
    const db = databaseNameOf(commandNs)
    const name = target.type === BsonType.string ? target.asString() : null
    const ns = command === 'renameCollection' ? name : `${db}.${name}`
    if (command === 'create') {
      const creator = this.all().find(({ createdNamespaces }) => createdNamespaces.has(ns!))
      if (creator !== undefined) throw new TransactionConflict(creator)
      return
    }
    const to = findField(object, 'to')?.asString()
    const covers =
      name === null ? (each: string) => each.startsWith(`${db}.`) : (each: string) => each === ns || each === to
    this.abortUsers(covers)
  }

  /** Of the namespaces, except prepared ones. */
  abortUsers(covers: (ns: string) => boolean): void {
    for (const user of this.usersOf(covers)) if (user.state === 'in-progress') this.abort(user)
  }

  /**
   * Resolves when no transaction uses the namespaces. Until then, statements that begin to use them
   * fail with LockTimeout.
   * @param timeoutMs null: no limit
   * @param block blocks the namespaces before a transaction can use them again. One whose statement
   *   waits to enter them may be waiting for the caller, and is not waited for: it will be refused.
   * @returns false: some still use them after that time, and `block` was not called
   */
  async whenUnused(
    covers: (ns: string) => boolean,
    timeoutMs: number | null,
    block: (() => void) | null = null,
  ): Promise<boolean> {
    if (this.isEmpty) {
      block?.()
      return true
    }
    const usersLeft = () => this.usersOf(covers).filter(({ isEntering }) => block === null || !isEntering)
    const { context } = this.#node
    const release = this.definitions.acquire(covers)
    let isOver = false
    const expiry = timeoutMs === null ? [] : [context.sleep(timeoutMs).then(() => void (isOver = true))]
    try {
      for (let users = usersLeft(); users.length > 0; users = usersLeft()) {
        await context.all([Promise.race([users[0]!.ended, ...expiry])])
        if (isOver && usersLeft().length > 0) return false
      }
      block?.()
      return true
    } finally {
      release()
    }
  }

  /**
   * The documents of a range have arrived from another shard. Transactions whose snapshot is older
   * must not read the collection.
   */
  noteArrival(ns: string): void {
    if (!this.isEmpty) this.arrivals.note(ns, this.#node.set.appliedTs)
  }

  isCreatedByAnother(ns: string, transaction: Transaction): boolean {
    for (const other of this.#open.values()) if (other !== transaction && other.createdNamespaces.has(ns)) return true
    return false
  }

  usersOf(covers: (ns: string) => boolean): Transaction[] {
    return this.all().filter(({ namespaces, createdNamespaces }) =>
      [...namespaces, ...createdNamespaces].some((ns) => covers(ns)),
    )
  }

  reports(): ReportedTransaction[] {
    const nowMs = this.#node.context.now()
    return this.all().map((each) => each.report(nowMs, this.#lifetimeMs))
  }

  writeStatistics(writer: DocumentWriter, withLastCommitted: boolean): void {
    const { behaviours, retries } = this.#node
    this.statistics.write(writer, {
      open: this.all(),
      collectionWrites: retries.writeCount,
      behaviours,
      withLastCommitted,
    })
  }

  /** Aborts those that are too old. */
  wake(): boolean {
    this.#dueMs = Number.POSITIVE_INFINITY
    const nowMs = this.#node.context.now()
    let nextMs = Number.POSITIVE_INFINITY
    for (const transaction of this.all()) {
      if (transaction.state === 'prepared') continue
      const endsAtMs = transaction.startedAtMs + this.#lifetimeMs
      if (endsAtMs > nowMs) nextMs = Math.min(nextMs, endsAtMs)
      else this.#expire(transaction)
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.#arm(nextMs)
    return true
  }

  #expire(transaction: Transaction): void {
    transaction.operation?.interrupt(exceededLifetime())
    this.abort(transaction)
  }

  /** This member serves as primary no more. */
  end(): void {
    this.abortWhere(() => true)
  }

  get #entryLimits(): EntryLimits {
    return { operationsMax: this.#node.parameters.number('maxNumberOfTransactionOperationsInSingleOplogEntry') }
  }

  get #lifetimeMs(): number {
    return this.#node.parameters.number('transactionLifetimeLimitSeconds') * 1000
  }

  #arm(atMs: number): void {
    if (atMs >= this.#dueMs) return
    this.#dueMs = atMs
    this.#node.context.setTimer(transactionsTimer, Math.max(0, atMs - this.#node.context.now()))
  }

  #checkPrimary(): void {
    if (!this.#node.set.isWritablePrimary)
      throw new CommandError('NotWritablePrimary', 'Not primary so we cannot begin or continue a transaction')
  }
}

/** The newest transaction of each session. Server: transaction_router.cpp, beginOrContinueTxn. */
import type { ActorContext } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { uuidText, type ReportedTransaction, type SessionId, type SessionKey } from '@shardlab/member'
import { InternalSessions } from './internal-sessions.js'
import { RouterTransaction } from './router-transaction.js'
import { reportOf } from './report-transaction.js'
import { RouterTransactionStatistics } from './router-transaction-statistics.js'

export class RouterTransactions {
  readonly statistics = new RouterTransactionStatistics()
  /** For transactions that the router runs for clients. */
  readonly sessions: InternalSessions
  readonly #bySession = new Map<SessionKey, RouterTransaction>()

  readonly #now: () => number

  constructor(context: ActorContext) {
    this.#now = () => context.now()
    this.sessions = new InternalSessions(context)
  }

  /** The session has ended. */
  drop(key: SessionKey): void {
    this.#bySession.delete(key)
  }

  /** For currentOp. */
  *reports(): Generator<ReportedTransaction> {
    for (const transaction of this.#bySession.values())
      if (transaction.isKnown && (transaction.outcome === 'open' || transaction.operation !== null))
        yield reportOf(transaction, this.#now())
  }

  all(): Iterable<RouterTransaction> {
    return this.#bySession.values()
  }

  /** @throws CommandError 225 TransactionTooOld, 117 ConflictingOperationInProgress */
  start(session: SessionId, txnNumber: bigint): RouterTransaction {
    const newest = this.#newest(session, txnNumber)
    if (newest?.txnNumber === txnNumber)
      throw new CommandError(
        'ConflictingOperationInProgress',
        `txnNumber ${txnNumber} for session ${text(session)} already started`,
      )
    this.statistics.started++
    return this.#add(new RouterTransaction(session, txnNumber, true, this.statistics, this.#now()))
  }

  /** @throws CommandError 225, 251 NoSuchTransaction, 256 TransactionCommitted */
  continue(session: SessionId, txnNumber: bigint): RouterTransaction {
    const newest = this.#newest(session, txnNumber)
    if (newest?.txnNumber !== txnNumber)
      throw new CommandError(
        'NoSuchTransaction',
        `cannot continue txnId ${newest?.txnNumber ?? -1n} for session ${text(session)} with txnId ${txnNumber}`,
      )
    if (newest.outcome === 'aborted') throw hasAborted(newest)
    if (newest.outcome === 'committing')
      throw new CommandError('TransactionCommitted', `Transaction ${txnNumber} has been committed.`)
    return newest
  }

  /**
   * For commit and abort: the transaction may be unknown here.
   * @throws CommandError 225
   */
  find(session: SessionId, txnNumber: bigint): RouterTransaction {
    const newest = this.#newest(session, txnNumber)
    if (newest?.txnNumber === txnNumber) return newest
    return this.#add(new RouterTransaction(session, txnNumber, false, this.statistics, this.#now()))
  }

  #newest(session: SessionId, txnNumber: bigint): RouterTransaction | undefined {
    const newest = this.#bySession.get(session.key)
    if (newest !== undefined && txnNumber < newest.txnNumber)
      throw new CommandError(
        'TransactionTooOld',
        `txnNumber ${txnNumber} is less than last txnNumber ${newest.txnNumber} seen in session ${text(session)}`,
      )
    return newest
  }

  #add(transaction: RouterTransaction): RouterTransaction {
    this.#bySession.set(transaction.session.key, transaction)
    return transaction
  }
}

export function hasAborted({ txnNumber }: RouterTransaction): CommandError {
  return new CommandError('NoSuchTransaction', `Transaction ${txnNumber} has been aborted.`)
}

function text({ key }: SessionId): string {
  return uuidText(Buffer.from(key.slice(0, 16), 'latin1'))
}

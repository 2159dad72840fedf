/**
 * A command that belongs to a transaction. Server: service_entry_point_shard_role.cpp,
 * CheckoutSessionAndInvokeCommand.
 */
import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, ErrorCodes } from '@shardlab/bson'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'
import { prepareRead, snapshotAt } from '../replication/concerns/read-concern.js'
import { awaitEnd } from './await-transactions.js'
import { awaitOutcome, undecidedIn } from './undecided-reads.js'
import type { Snapshot, Transaction, TransactionStatement } from './transaction.js'
import { transactionHost } from './transaction-host.js'
import { hasAborted, SessionIsPrepared } from './transaction-errors.js'

type Row = CommandRow<NodeInvocation>
type Run = (invocation: NodeInvocation) => Promise<DocumentWriter> | DocumentWriter

/** These end the transaction; the others run in it. */
export const endingCommands: ReadonlySet<string> = new Set([
  'commitTransaction',
  'abortTransaction',
  'prepareTransaction',
])

/**
 * @param run the command, on the snapshot of the transaction
 * @throws CommandError of the command, after which the transaction is aborted, and those of
 *   `Transactions.start` and `Transactions.continue`
 */
export async function runInTransaction(row: Row, invocation: NodeInvocation, run: Run): Promise<DocumentWriter> {
  const { host, operation, routed } = invocation
  const statement = invocation.transaction!
  // The coordinator sends commands of the same session to this member, too.
  if (row.name === 'coordinateCommitTransaction') return run(invocation)
  const { checkout } = host.transactions
  const { key } = statement.session
  await checkout.acquire(key, operation)
  try {
    if (endingCommands.has(row.name)) return await run(invocation)
    const transaction = await transactionOf(invocation, statement)
    const reply = await runStatement(transaction, invocation, run)
    // Routers skip the participants that have written nothing.
    return routed === null ? reply : reply.bool('readOnly', transaction.isReadOnly)
  } finally {
    checkout.release(key)
  }
}

async function transactionOf(
  invocation: NodeInvocation,
  { session, txnNumber, starts }: TransactionStatement,
): Promise<Transaction> {
  const { transactions } = invocation.host
  if (!starts) return transactions.continue(session, txnNumber)
  const { operation } = invocation
  for (;;)
    try {
      const transaction = transactions.start(session, txnNumber)
      transaction.readConcern = invocation.args.document('readConcern')?.slice() ?? null
      if (invocation.args.bool('coordinator') === true) transactions.statistics.coordinatorsCreated++
      return transaction
    } catch (error) {
      if (!(error instanceof SessionIsPrepared)) throw error
      // The decision arrives as another command of the session.
      const ended = () => awaitEnd(invocation, error.holder)
      await transactions.checkout.whileYielded(invocation.host.context, { session, open: null }, ended)
      operation.checkForInterrupt()
    }
}

async function runStatement(transaction: Transaction, invocation: NodeInvocation, run: Run): Promise<DocumentWriter> {
  const { host, operation } = invocation
  transaction.operation = operation
  transaction.connectionId = operation.connectionId
  transaction.clock.begin(host.context.now())
  try {
    if (transaction.snapshot === null) await openSnapshot(transaction, invocation)
    await awaitDefinitions(transaction, invocation)
    checkOpen(transaction, host)
    const statement = { ...invocation.transaction!, open: transaction }
    const inside = transactionHost(host, host.transactions, transaction, transaction.snapshot!.engine)
    const concerns = concernsIn(transaction.snapshot!, invocation)
    const reply = await run({ ...invocation, host: inside, transaction: statement, concerns })
    operation.checkForInterrupt()
    checkOpen(transaction, host)
    if (transaction.hasFailed) host.transactions.abort(transaction)
    return reply
  } catch (error) {
    if (!(error instanceof CommandError) || !leavesOpen(error)) host.transactions.abort(transaction)
    throw error
  } finally {
    transaction.operation = null
    transaction.clock.end(host.context.now())
  }
}

/** Every statement reads at the time of the snapshot, which only the first one has named. */
function concernsIn({ time, isCommon }: Snapshot, { concerns }: NodeInvocation): NodeInvocation['concerns'] {
  return isCommon ? { ...concerns, read: { ...concerns.read, level: 'snapshot', atClusterTime: time } } : concerns
}

/** The router resolves a view, or moves the document, and continues. */
function leavesOpen({ code }: CommandError): boolean {
  return code === ErrorCodes.CommandOnShardedViewNotSupportedOnMongod || code === ErrorCodes.WouldChangeOwningShard
}

/** @throws CommandError 251 NoSuchTransaction: the transaction was aborted during the statement */
function checkOpen({ isOpen, txnNumber }: Transaction, { behaviours }: NodeHost): void {
  if (!isOpen) throw hasAborted(txnNumber, behaviours)
}

/**
 * With read concern `majority`, statements read the newest data, as with `local`: the commit waits
 * until a majority has that data.
 */
async function openSnapshot(transaction: Transaction, invocation: NodeInvocation): Promise<void> {
  const { host, concerns, operation } = invocation
  const { read } = concerns
  const { atClusterTime } = read
  const waited = {
    level: 'local',
    afterClusterTime: read.afterClusterTime ?? atClusterTime,
    atClusterTime: null,
  } as const
  await prepareRead({ ...invocation, concerns: { ...concerns, read: waited } })
  // A later statement may read any collection.
  for (let undecided = undecidedIn(invocation); undecided !== null; undecided = undecidedIn(invocation))
    await awaitOutcome(invocation, undecided)
  operation.checkForInterrupt()
  checkOpen(transaction, host)
  const engine = atClusterTime === null ? host.engine : snapshotAt(host, atClusterTime)
  const clone = engine.clone()
  clone.keepsPreImages = false
  const isCommon = atClusterTime !== null
  transaction.snapshot = { engine: clone, time: atClusterTime ?? host.set.appliedTs, isCommon }
}

/**
 * Waits for changes of the collection's definition. A transaction that has used the collection
 * holds its lock, and does not wait.
 * @throws CommandError 24 LockTimeout
 */
async function awaitDefinitions(
  { namespaces }: Transaction,
  { host, args, db, operation }: NodeInvocation,
): Promise<void> {
  const { definitions } = host.transactions
  if (definitions.isEmpty) return
  const ns = args.namedCollection(db)
  const released = ns === null || namespaces.has(ns) ? null : definitions.released(ns)
  if (released === null) return
  const timeoutMs = host.parameters.number('maxTransactionLockRequestTimeoutMillis')
  const waits = timeoutMs < 0 ? [released] : [released, host.context.sleep(timeoutMs, operation.signal)]
  await operation.interruptible(Promise.race(waits))
  if (definitions.released(ns!) !== null) throw definitions.timedOut(ns!)
}

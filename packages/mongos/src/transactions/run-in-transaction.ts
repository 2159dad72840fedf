/** A command of a transaction. Server: strategy.cpp, the router's service_entry_point. */
import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, ErrorCodes, findField } from '@shardlab/bson'
import { endsTransaction, helpOf } from '@shardlab/member'
import { snapshotTime } from '../dispatch/snapshot-time.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { runOnResolved } from '../views/run-resolving-views.js'
import { abortImplicitly } from './end-transaction.js'
import type { RouterTransaction } from './router-transaction.js'
import { codeOfWriteError } from './write-error-code.js'

type Row = CommandRow<MongosInvocation>

/**
 * Begins a statement, or finds the transaction that the command ends.
 * @throws CommandError those of `RouterTransactions`, 72 InvalidOptions
 */
function transactionOf({ host, args, concerns, session }: MongosInvocation, row: Row): RouterTransaction {
  const txnNumber = args.value('txnNumber')!.asBigInt()
  if (endsTransaction(row.name)) return host.transactions.find(session!, txnNumber)
  const preference = args.document('$readPreference')
  if (preference !== undefined && findField(preference, 'mode')?.asString() !== 'primary')
    throw new CommandError('InvalidOptions', 'read preference in a transaction must be primary')
  const transaction = args.has('startTransaction')
    ? host.transactions.start(session!, txnNumber)
    : host.transactions.continue(session!, txnNumber)
  const { read } = concerns
  const isAtOneTime = read.level === 'snapshot' && !host.context.mutated('snapshotTimeOff')
  const time = isAtOneTime ? snapshotTime(host, read) : null
  transaction.beginStatement(args.document('readConcern') ?? null, time)
  return transaction
}

/**
 * A failed statement aborts the transaction on all shards.
 * @throws CommandError of the command, and those of `RouterTransactions`
 */
export async function runInTransaction(
  row: Row,
  command: MongosInvocation,
  findRow: (name: string) => Row | undefined,
): Promise<DocumentWriter> {
  const transaction = transactionOf(command, row)
  const { operation, host } = command
  transaction.connectionId = operation.connectionId
  return transaction.during(operation, host.context, () =>
    endsTransaction(row.name) ? row.run(command) : runStatement(row, command, transaction, findRow),
  )
}

async function runStatement(
  row: Row,
  command: MongosInvocation,
  transaction: RouterTransaction,
  findRow: (name: string) => Row | undefined,
): Promise<DocumentWriter> {
  const invocation = atSnapshot(command, transaction)
  try {
    const reply = (helpOf(row, invocation.args) ?? (await runOnViews(row, invocation, findRow))).finish()
    const code = codeOfWriteError(reply)
    if (code !== null) await abortImplicitly(invocation, transaction, code)
    return new DocumentWriter(reply.length + 256).fields(reply)
  } catch (error) {
    const code = error instanceof CommandError ? error.code : ErrorCodes.InternalError
    await abortImplicitly(invocation, transaction, code)
    throw error
  }
}

/** All statements are routed by the chunks of the snapshot's time. */
function atSnapshot(invocation: MongosInvocation, { snapshotTime }: RouterTransaction): MongosInvocation {
  if (snapshotTime === null) return invocation
  const { concerns } = invocation
  return { ...invocation, concerns: { ...concerns, read: { ...concerns.read, atClusterTime: snapshotTime } } }
}

async function runOnViews(
  row: Row,
  invocation: MongosInvocation,
  findRow: (name: string) => Row | undefined,
): Promise<DocumentWriter> {
  try {
    return await row.run(invocation)
  } catch (error) {
    const onView = runOnResolved(row, invocation, error, findRow)
    if (onView === null) throw error
    return onView
  }
}

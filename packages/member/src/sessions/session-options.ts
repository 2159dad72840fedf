/** Server: initialize_operation_session_info.cpp, transaction_validation.cpp. */
import type { CommandArguments, CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { internalOutside, SessionCatalog, type SessionId } from './session-catalog.js'
import { checkRunsInTransaction, type TransactionSupport } from './transaction-commands.js'

export interface SessionOptions {
  readonly session: SessionId | null
  /** null: the command is neither a retryable write nor in a transaction */
  readonly txnNumber: bigint | null
  /** Whether the command begins its transaction, or continues it. Null: it is not in one. */
  readonly transaction: 'starts' | 'continues' | null
}

const noSession: SessionOptions = { session: null, txnNumber: null, transaction: null }

/**
 * @throws CommandError 72 InvalidOptions for options that exclude each other, 263
 *   OperationNotSupportedInTransaction for transactions, 50768 NotARetryableWriteCommand, and those
 *   of {@link SessionCatalog.parse}
 */
export function readSessionOptions(
  args: CommandArguments,
  row: Pick<CommandRow<never>, 'name' | 'retryable'>,
  db: string,
  behaviours: TransactionSupport,
): SessionOptions {
  const lsid = args.document('lsid')
  const number = args.value('txnNumber')
  const inTransaction = args.has('autocommit')
  if (lsid === undefined && number === undefined && !inTransaction && !args.has('startTransaction')) return noSession
  const session = lsid === undefined ? null : SessionCatalog.parseAny(lsid)
  if (session?.parent !== undefined && !inTransaction) throw internalOutside()
  const txnNumber = number?.asBigInt() ?? null
  if (txnNumber !== null) {
    if (session === null)
      throw new CommandError('InvalidOptions', 'Transaction number requires a session ID to also be specified')
    if (txnNumber < 0n) throw new CommandError('InvalidOptions', 'Transaction number cannot be negative')
  } else if (inTransaction)
    throw new CommandError('InvalidOptions', "'autocommit' field requires a transaction number to also be specified")
  if (inTransaction) {
    if (args.bool('autocommit') === true)
      throw new CommandError('InvalidOptions', 'Specifying autocommit=true is not allowed.')
    if (args.bool('startTransaction') === false)
      throw new CommandError('InvalidOptions', 'Specifying startTransaction=false is not allowed.')
    const starts = args.has('startTransaction')
    checkRunsInTransaction(row.name, args, db, behaviours, starts)
    return { session, txnNumber, transaction: starts ? 'starts' : 'continues' }
  }
  if (args.has('startTransaction'))
    throw new CommandError(
      'InvalidOptions',
      "'startTransaction' field requires 'autocommit' field to also be specified",
    )
  if (txnNumber !== null && row.retryable !== true) {
    throw new CommandError(
      'NotARetryableWriteCommand',
      `txnNumber may only be provided for multi-document transactions and retryable write commands. autocommit:false was not provided, and ${row.name} is not a retryable write command.`,
    )
  }
  return { session, txnNumber, transaction: null }
}

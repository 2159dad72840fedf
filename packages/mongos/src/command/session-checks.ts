/** Logical sessions and retryable writes. Server: initialize_operation_session_info.cpp. */
import type { CommandArguments, CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { SessionCatalog, type SessionId } from '@shardlab/node'
import type { MongosInvocation } from './invocation.js'

export interface OperationSession {
  readonly session: SessionId | null
  readonly txnNumber: bigint | null
}

const noSession: OperationSession = { session: null, txnNumber: null }

/** @throws CommandError 72 InvalidOptions, 20 IllegalOperation for transactions, 50768 NotARetryableWriteCommand */
export function readSession(args: CommandArguments, row: CommandRow<MongosInvocation>): OperationSession {
  const lsid = args.document('lsid')
  const number = args.value('txnNumber')
  if (number === undefined) {
    if (args.has('autocommit'))
      throw new CommandError('InvalidOptions', "'autocommit' field requires a transaction number to also be specified")
    if (args.has('startTransaction'))
      throw new CommandError('InvalidOptions', "'startTransaction' field requires a transaction number to also be specified")
    return lsid === undefined ? noSession : { session: SessionCatalog.parse(lsid), txnNumber: null }
  }
  if (lsid === undefined) throw new CommandError('InvalidOptions', 'Transaction number requires a session ID to also be specified')
  if (args.has('autocommit') || args.has('startTransaction')) {
    throw new CommandError('IllegalOperation', 'Transaction numbers are only allowed on a replica set member or mongos')
  }
  const txnNumber = number.asBigInt()
  if (txnNumber < 0n) throw new CommandError('InvalidOptions', 'Transaction number cannot be negative')
  if (row.retryable !== true) {
    throw new CommandError(
      50768,
      `txnNumber may only be provided for multi-document transactions and retryable write commands. autocommit:false was not provided, and ${row.name} is not a retryable write command.`,
    )
  }
  return { session: SessionCatalog.parse(lsid), txnNumber }
}

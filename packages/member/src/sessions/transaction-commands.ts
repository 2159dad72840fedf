/**
 * Server: CommandHelpers::canUseTransactions; validateSessionOptions in transaction_validation.cpp.
 */
import type { CommandArguments } from '@shardlab/actor'
import { CommandError, firstFieldName } from '@shardlab/bson'

export interface TransactionSupport {
  /** Whether this member runs transactions. */
  readonly transactions: boolean
  readonly transactionsCreateCollections: boolean
}

const commands: ReadonlySet<string> = new Set([
  'abortTransaction',
  'aggregate',
  'bulkWrite',
  'commitTransaction',
  'coordinateCommitTransaction',
  'delete',
  'distinct',
  'find',
  'findAndModify',
  'getMore',
  'insert',
  'killCursors',
  'prepareTransaction',
  'update',
])

const creatingCommands: ReadonlySet<string> = new Set(['create', 'createIndexes'])

const endingCommands: ReadonlySet<string> = new Set([
  'abortTransaction',
  'commitTransaction',
  'coordinateCommitTransaction',
])

/** They run on the database admin. */
const adminCommands: ReadonlySet<string> = new Set([...endingCommands, 'prepareTransaction'])

/** Whether the command is about a whole transaction. Server: isTransactionCommand. */
export function isTransactionCommand(name: string): boolean {
  return adminCommands.has(name)
}

/** Whether the command commits or aborts its transaction. */
export function endsTransaction(name: string): boolean {
  return endingCommands.has(name)
}

/**
 * For a command with `autocommit`.
 * @throws CommandError 263 OperationNotSupportedInTransaction
 */
export function checkRunsInTransaction(
  name: string,
  args: CommandArguments,
  db: string,
  { transactions, transactionsCreateCollections }: TransactionSupport,
  starts: boolean,
): void {
  if (transactions && name === 'count')
    throw unsupported(
      "Cannot run 'count' in a multi-document transaction. Please see http://dochub.mongodb.org/core/transaction-count for a recommended alternative.",
    )
  const isSupported = commands.has(name) || (transactionsCreateCollections && creatingCommands.has(name))
  if (!transactions || !isSupported) throw unsupported(`Cannot run '${name}' in a multi-document transaction.`)
  if (adminCommands.has(name)) {
    if (starts) throw unsupported(`Cannot start a transaction with ${startOf(name)}`)
    return
  }
  if (db === 'local' || db === 'config')
    throw unsupported(`Cannot run command against the '${db}' database in a transaction.`)
  const ns = args.namedCollection(db)
  if (ns?.endsWith('.system.profile') === true)
    throw unsupported(`Cannot run command against the '${ns}' namespace in a transaction.`)
  if (starts && name === 'killCursors')
    throw unsupported('Cannot run killCursors as the first operation in a multi-document transaction.')
  if (name === 'aggregate') checkStages(args)
}

function startOf(name: string): string {
  return name === 'abortTransaction' ? 'an abort' : name === 'prepareTransaction' ? 'a prepare' : 'a commit'
}

/** Server: `StageConstraints::TransactionRequirement::kNotAllowed`. */
const refusedStages: ReadonlySet<string> = new Set([
  '$changeStream',
  '$collStats',
  '$currentOp',
  '$indexStats',
  '$listLocalSessions',
  '$listSessions',
  '$merge',
  '$out',
  '$planCacheStats',
])

function checkStages(args: CommandArguments): void {
  for (const stage of args.documents('pipeline') ?? []) {
    const name = firstFieldName(stage)
    if (name !== undefined && refusedStages.has(name))
      throw unsupported(`Stage not supported inside of a multi-document transaction: ${name}`)
  }
}

function unsupported(message: string): CommandError {
  return new CommandError('OperationNotSupportedInTransaction', message)
}

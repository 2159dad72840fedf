/** From a client's command to its reply. Server: strategy.cpp, service_entry_point of the router. */
import {
  checkDatabaseName,
  CommandArguments,
  compareTimestamps,
  refusePartial,
  writeTimes,
  type ClientCommand,
  type ClientReply,
  type TimestampPair,
} from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField, firstFieldName, writeError } from '@shardlab/bson'
import { checkOpQueryCommand } from '@shardlab/wire'
import { commandTable } from '../command-table.js'
import type { Mongos } from '../mongos.js'
import { checkApiVersion } from './api-version.js'
import type { MongosInvocation } from './invocation.js'
import { Operation } from './operation.js'
import { readSession } from './session-checks.js'

const noTime: TimestampPair = [0, 0]

/** Answers one command; what a client did wrong is in the reply. */
export async function dispatch(host: Mongos, command: ClientCommand): Promise<ClientReply> {
  host.connections.of(command.connectionId)
  const running: { operation: Operation | null } = { operation: null }
  let writer: DocumentWriter
  try {
    const invocation = prepare(host, command)
    running.operation = invocation.operation
    const result = invocation.row.run(invocation)
    writer = (result instanceof DocumentWriter ? result : await result).double('ok', 1)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    writer = new DocumentWriter(512)
    writeError(writer, error)
  }
  const { time } = host.clock
  const operationTime = running.operation?.operationTime ?? noTime
  return { body: writeTimes(writer, time, compareTimestamps(operationTime, noTime) === 0 ? time : operationTime).finish() }
}

type PreparedInvocation = MongosInvocation & { readonly row: NonNullable<ReturnType<typeof commandTable.find>> }

/** Everything that is checked alike for all commands. @throws CommandError */
function prepare(host: Mongos, { body, sequences, connectionId, legacy, remote }: ClientCommand): PreparedInvocation {
  host.clock.advanceFrom(body)
  const name = firstFieldName(body) ?? ''
  if (legacy && !host.behaviours.commandsByOpQuery) checkOpQueryCommand(name)
  const row = commandTable.find(name)
  if (row === undefined) throw new CommandError('CommandNotFound', `no such command: '${name}'`)
  if (host.options.strict === true) refusePartial(row)
  if (host.stopping.signal.aborted) throw new CommandError('ShutdownInProgress', 'The server is in quiesce mode and will shut down')
  const db = databaseOf(body)
  const args = CommandArguments.parse(body, row.fields ?? null, sequences.length === 0 ? [] : sequences.map(([id]) => id))
  if (row.adminOnly === true && db !== 'admin')
    throw new CommandError('Unauthorized', `${name} may only be run against the admin database.`)
  checkApiVersion(args, row.name)
  const { session, txnNumber } = readSession(args, row)
  const now = host.context.now()
  if (session !== null) host.sessions.touch(session, now)
  const operation = new Operation(host.nextOperationId(), row.name, now, maxTimeMsOf(args))
  return { row, host, db, body, args, sequences, session, txnNumber, operation, connectionId, remote }
}

/** @throws CommandError 40571 without a database, 20 for `local`, 73 InvalidNamespace */
function databaseOf(body: Uint8Array): string {
  const value = findField(body, '$db')
  if (value?.type !== BsonType.string) throw new CommandError(40571, 'OP_MSG requests require a $db argument')
  const db = value.asString()
  if (db === 'local') throw new CommandError('IllegalOperation', "Can't use 'local' database through mongos")
  checkDatabaseName(db)
  return db
}

/** 0: no limit. @throws CommandError 2 BadValue */
function maxTimeMsOf(args: CommandArguments): number {
  const value = args.number('maxTimeMS')
  if (value === undefined) return 0
  if (!Number.isInteger(value)) throw new CommandError('BadValue', 'maxTimeMS has non-integral value')
  if (value < 0 || value > 0x7fff_ffff) throw new CommandError('BadValue', `${value} value for maxTimeMS is out of range [0, 2147483647]`)
  return value
}

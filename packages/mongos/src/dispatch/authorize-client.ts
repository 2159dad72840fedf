import type { ClientCommand, CommandRow, CommandTable } from '@shardlab/actor'
import { authorize, withUserOfSession, type Connection } from '@shardlab/member'
import type { MongosHost, MongosInvocation } from '../host/mongos-host.js'
import { argumentsOf, databaseOf } from './arguments-of-client.js'
import type { Operation } from './operation.js'

/**
 * @returns null, or a promise if users have to be read first
 * @throws CommandError Unauthorized, and those of the arguments
 */
export function authorizeClient(
  host: MongosHost & { readonly table: CommandTable<MongosInvocation> },
  { body, sequences }: ClientCommand,
  row: CommandRow<MongosInvocation>,
  operation: Operation,
  connection: Connection,
): Promise<void> | null {
  const db = databaseOf(row, operation, body)
  const readArguments = () => argumentsOf(row, body, sequences)
  const findRow = (name: string) => host.table.find(name, host.behaviours)
  const namespaceOfUuid = () => null
  return authorize({ host, row, connection, operation, db, body, readArguments, sequences, findRow, namespaceOfUuid })
}

/** @throws CommandError Unauthorized */
export function withUser(
  host: MongosHost,
  row: CommandRow<MongosInvocation>,
  command: ClientCommand,
  connection: Connection,
): ClientCommand {
  return { ...command, body: withUserOfSession(host, row, connection, command.body) }
}

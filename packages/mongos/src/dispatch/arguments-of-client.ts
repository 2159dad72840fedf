import { checkDatabaseName, CommandArguments, type ClientCommand, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, findField } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import type { Operation } from './operation.js'

export function argumentsOf(
  row: CommandRow<MongosInvocation>,
  body: Uint8Array,
  sequences: ClientCommand['sequences'],
): CommandArguments {
  return CommandArguments.parse(
    body,
    row.fields ?? null,
    sequences.length === 0 ? [] : sequences.map(([id]) => id),
    row.unknownFields,
    row.handwritten,
  )
}

/**
 * @throws CommandError 40571 without a database, 20 IllegalOperation for `local`, 73
 *   InvalidNamespace, 13 Unauthorized for another database than admin
 */
export function databaseOf(row: CommandRow<MongosInvocation>, { db }: Operation, body: Uint8Array): string {
  if (db === '' && findField(body, '$db')?.type !== BsonType.string)
    throw new CommandError(40571, 'OP_MSG requests require a $db argument')
  if (db === 'local') throw new CommandError('IllegalOperation', "Can't use 'local' database through mongos")
  checkDatabaseName(db)
  if (row.adminOnly === true && db !== 'admin')
    throw new CommandError('Unauthorized', `${row.name} may only be run against the admin database.`)
  return db
}

import { CommandArguments, type FieldSpecs } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'

/**
 * Checks one statement of a write batch like a command's arguments.
 * @param name how errors call it: `update.updates`
 */
export function parseStatement(name: string, statement: Uint8Array, fields: FieldSpecs): CommandArguments {
  // The parser of commands takes the first field as the command's own; statements have none.
  const wrapped = new DocumentWriter(statement.length + 32).int32(name, 1).fields(statement).finish()
  if (findField(statement, '$db') !== undefined) throw new CommandError(40415, `BSON field '${name}.$db' is an unknown field.`)
  return CommandArguments.parse(wrapped, fields)
}

import type { CommandArguments } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'

/**
 * Refuses `let` in versions whose commands have none, with the message of the parser that each
 * command had. Server 4.4: aggregation_request.cpp, query_request.cpp, find_and_modify.cpp,
 * write_ops.idl.
 * @throws CommandError 9 FailedToParse, 40415 IDLUnknownField
 */
export function checkLet({
  args,
  body,
  host,
}: {
  args: CommandArguments
  body: Uint8Array
  host: { behaviours: Behaviours }
}): void {
  if (!args.has('let') || host.behaviours.letInCommands) return
  switch (args.command.toLowerCase()) {
    case 'aggregate':
      throw new CommandError('FailedToParse', "unrecognized field 'let'")
    case 'find':
      throw new CommandError('FailedToParse', `Failed to parse: ${formatDocument(body)}. Unrecognized field 'let'.`)
    case 'findandmodify':
      throw new CommandError('IDLUnknownField', "BSON field 'let' is an unknown field.")
    default:
      throw new CommandError('IDLUnknownField', `BSON field '${args.command}.let' is an unknown field.`)
  }
}

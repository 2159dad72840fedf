import { refuseLacking, type ClientCommand, type CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, fieldsOf, firstFieldName } from '@shardlab/bson'
import { checkOpQueryCommand } from '@shardlab/wire'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'

interface Request {
  readonly body: Uint8Array
  readonly client: ClientCommand | null
}

/** @throws CommandError 59 CommandNotFound, 352 for commands that OP_QUERY may not carry */
export function findRow(node: NodeHost, { body, client }: Request): CommandRow<NodeInvocation> {
  const name = firstFieldName(body) ?? ''
  if (client?.legacy === true && !node.behaviours.commandsByOpQuery) checkOpQueryCommand(name)
  const row = node.table.find(name, node.behaviours)
  if (row === undefined) {
    node.statistics.unknownCommands++
    throw unknownCommand(name, body, node.behaviours)
  }
  if (node.options.strict === true) refuseLacking(row)
  return row
}

function unknownCommand(
  name: string,
  body: Uint8Array,
  { unknownCommandsAreRepeated }: NodeHost['behaviours'],
): CommandError {
  if (!unknownCommandsAreRepeated) return new CommandError('CommandNotFound', `no such command: '${name}'`)
  const extra = new DocumentWriter(body.length + 16).startDocument('bad cmd')
  for (const [field, value] of fieldsOf(body)) if (field !== '$db') extra.value(field, value)
  return new CommandError('CommandNotFound', `no such cmd: ${name}`, { extra: extra.end().finish() })
}

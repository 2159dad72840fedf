import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, noCode, typeName } from '@shardlab/bson'
import { formatValue } from '@shardlab/query'
import type { MemberInvocation } from '../member-host.js'
import { onCluster } from '../access/needs.js'

const components = ['global', 'startupWarnings']

/** Server: generic_servers.cpp; before 6.0 generic.cpp. */
export const getLog: CommandRow<MemberInvocation> = {
  name: 'getLog',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('getLog'),
  adminOnly: true,
  manual: 'reference/command/getLog',
  status: 'partial',
  deviations: ['D713'],
  summary: 'Returns the latest lines of the log: accepted connections, slow operations, parameters that were set.',
  run({ args, host }) {
    const { logCommandsAreTyped } = host.behaviours
    if (args.target.type !== BsonType.string && !logCommandsAreTyped)
      throw new CommandError(
        'TypeMismatch',
        `Argument to getLog must be of type String; found ${formatValue(args.target)} of type ${typeName(args.target.type)}`,
      )
    const component = args.targetString()
    const writer = new DocumentWriter(256)
    if (component === '*') {
      writer.startArray('names')
      components.forEach((name, i) => writer.string(String(i), name))
      return writer.end()
    }
    if (!components.includes(component))
      throw logCommandsAreTyped
        ? new CommandError('OperationFailed', `No log named '${component}'`)
        : new CommandError(noCode, `no RamLog named: ${component}`)
    const lines = component === 'global' ? host.logBuffer.lines : []
    writer.int32('totalLinesWritten', component === 'global' ? host.logBuffer.total : 0).startArray('log')
    lines.forEach((line, i) => writer.string(String(i), line))
    return writer.end()
  },
}

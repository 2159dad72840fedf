import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, typeName } from '@shardlab/bson'
import type { CommonInvocation } from '../common-invocation.js'

const components = ['global', 'startupWarnings']

export const getLog: CommandRow<CommonInvocation> = {
  name: 'getLog',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/getLog',
  status: 'partial',
  missing: 'the log goes to the event stream of the cluster; the lists are empty',
  summary: 'Lists recent log lines.',
  run({ args }) {
    if (args.target.type !== BsonType.string)
      throw new CommandError('TypeMismatch', `Argument to getLog must be of type String; found ${typeName(args.target.type)}`)
    const component = args.target.asString()
    const writer = new DocumentWriter(256)
    if (component === '*') {
      writer.startArray('names')
      components.forEach((name, i) => writer.string(String(i), name))
      return writer.end()
    }
    if (!components.includes(component)) throw new CommandError('OperationFailed', `no RamLog named: ${component}`)
    return writer.int32('totalLinesWritten', 0).startArray('log').end()
  },
}

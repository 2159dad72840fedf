import { isGenericArgument, type CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, FieldIterator, type RawValue } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'
import { onCluster } from '../access/needs.js'

export const setParameter: CommandRow<MemberInvocation> = {
  name: 'setParameter',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('setParameter'),
  adminOnly: true,
  manual: 'reference/command/setParameter',
  status: 'partial',
  deviations: ['D713', 'D724'],
  missing: 'parameters whose effect clients could see and that are not built',
  summary: 'Sets server parameters until the member restarts.',
  run({ body, host }) {
    const { parameters } = host
    const values = new Map<string, RawValue>()
    const it = new FieldIterator(body)
    for (it.next(); it.next();) {
      const name = it.name()
      if (isGenericArgument(name)) continue
      parameters.checkSettable(name)
      if (values.has(name))
        throw new CommandError(
          'InvalidOptions',
          `attempted to set parameter [${name}] twice in the same setParameter command, once to value: [], and once to value: []`,
        )
      values.set(name, it.value())
    }
    const [first] = [...values.keys()].sort()
    if (first === undefined)
      throw new CommandError('InvalidOptions', 'no option found to set, use help:true to see options ')
    const writer = new DocumentWriter(256)
    parameters.write(writer, parameters.find(first)!, 'was')
    for (const name of [...values.keys()].sort()) {
      parameters.set(name, values.get(name)!)
      host.logBuffer.add(host.context.now(), 'I', 'COMMAND', 23435, 'conn', 'Successfully set parameter to new value', {
        parameterName: name,
      })
    }
    return writer
  },
}

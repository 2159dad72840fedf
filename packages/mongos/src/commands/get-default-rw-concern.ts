import { configAddress, type CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { getDefaultRWConcernFields, writeConcernDefaults } from '@shardlab/member'
import type { MongosInvocation } from '../command/invocation.js'
import { configCommand, passThrough } from '../routing/primary.js'

export const getDefaultRWConcern: CommandRow<MongosInvocation> = {
  name: 'getDefaultRWConcern',
  routing: 'config-server',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/getDefaultRWConcern',
  status: 'full',
  summary:
    'Tells which read and write concern hold where a command names none: as the config server has them, or this router.',
  fields: getDefaultRWConcernFields,
  behaviour: 'defaultConcernCommands',
  run(invocation) {
    const { args, host } = invocation
    if (args.bool('inMemory') !== true) return passThrough(invocation, configAddress, configCommand(invocation), true)
    const { document, updatedAtMs } = host.concernDefaults
    return writeConcernDefaults(new DocumentWriter(512), document, host.behaviours, {
      localUpdateMs: updatedAtMs,
      inMemory: true,
    })
  },
}

import { configAddress, type CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { getDefaultRWConcernSpec, writeConcernDefaults } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { configCommand, passThrough } from '../routing/primary.js'

export const getDefaultRWConcern: CommandRow<MongosInvocation> = {
  ...getDefaultRWConcernSpec,
  routing: 'config-server',
  status: 'full',
  summary:
    'Tells which read and write concern hold where a command names none: as the config server has them, or this router.',
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

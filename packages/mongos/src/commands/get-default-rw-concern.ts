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
    'Shows the read and write concern of commands that name none, as stored on the config server or cached by this router.',
  run(invocation) {
    const { args, host } = invocation
    if (args.bool('inMemory') !== true) return passThrough(invocation, configAddress, configCommand(invocation), true)
    const { document, updatedAtMs } = host.concernDefaults
    return writeConcernDefaults(new DocumentWriter(512), document, host.behaviours, {
      localUpdateMs: updatedAtMs,
      inMemory: true,
      isImplicitMajority: true,
    })
  },
}

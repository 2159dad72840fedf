import { configAddress, type CommandRow } from '@shardlab/actor'
import { setDefaultRWConcernSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { configCommand, passThrough } from '../routing/primary.js'

export const setDefaultRWConcern: CommandRow<MongosInvocation> = {
  ...setDefaultRWConcernSpec,
  routing: 'config-server',
  status: 'full',
  summary:
    'Sets the read and write concern of commands that name none: for this router at once, for others within half a minute.',
  async run(invocation) {
    const reply = await passThrough(invocation, configAddress, configCommand(invocation), false)
    await invocation.host.refreshConcernDefaults(invocation.operation)
    return reply
  },
}

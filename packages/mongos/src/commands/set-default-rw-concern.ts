import { configAddress, type CommandRow } from '@shardlab/actor'
import { setDefaultRWConcernFields } from '@shardlab/member'
import type { MongosInvocation } from '../command/invocation.js'
import { configCommand, passThrough } from '../routing/primary.js'

export const setDefaultRWConcern: CommandRow<MongosInvocation> = {
  name: 'setDefaultRWConcern',
  routing: 'config-server',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/setDefaultRWConcern',
  status: 'full',
  summary:
    'Sets the read and write concern that hold for commands which name none: in this router at once, in others within half a minute.',
  fields: setDefaultRWConcernFields,
  behaviour: 'defaultConcernCommands',
  async run(invocation) {
    const reply = await passThrough(invocation, configAddress, configCommand(invocation), false)
    await invocation.host.refreshConcernDefaults(invocation.operation)
    return reply
  },
}

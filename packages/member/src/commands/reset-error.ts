import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { forgetErrors } from '../connections/last-error.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: get_last_error.cpp. */
export const resetError: CommandRow<MemberInvocation> = {
  name: 'resetError',
  aliases: ['reseterror'],
  routing: 'local',
  access: 'none',
  privileges: 'user',
  behaviour: 'resetErrorCommand',
  manual: 'reference/command/resetError',
  status: 'full',
  summary: 'Forgets the errors that getLastError and getPrevError report.',
  run({ connectionId, host }) {
    forgetErrors(host, connectionId)
    return new DocumentWriter(128)
  },
}

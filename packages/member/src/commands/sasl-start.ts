import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

/** Answers as a server without users, with a hint. Server: sasl_commands.cpp. */
export const saslStart: CommandRow<MemberInvocation> = {
  name: 'saslStart',
  routing: 'local',
  access: 'none',
  manual: 'reference/command/saslStart',
  status: 'partial',
  deviations: ['D911'],
  summary: 'Begins an authentication. It fails with code 18, because there are no users.',
  run() {
    throw new CommandError(
      'AuthenticationFailed',
      'Authentication failed. Shardlab has no users: remove the user name and password from the connection string.',
    )
  },
}

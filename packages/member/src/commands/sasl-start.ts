import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { startLogin } from '../access/authenticate.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: sasl_commands.cpp. */
export const saslStart: CommandRow<MemberInvocation> = {
  name: 'saslStart',
  routing: 'local',
  access: 'none',
  privileges: 'none',
  apiVersion1: true,
  sensitive: ['payload'],
  manual: 'reference/command/saslStart',
  status: 'partial',
  deviations: ['D914'],
  missing: 'mechanisms other than SCRAM-SHA-1 and SCRAM-SHA-256',
  summary: 'Begins a login.',
  fields: { mechanism: 'string!', payload: 'any!', options: 'object', autoAuthorize: 'any' },
  run({ host, args, db, connectionId }) {
    if (connectionId === 0) throw new CommandError('AuthenticationFailed', 'Authentication failed.')
    return startLogin(
      { host, connection: host.connections.stillOpen(connectionId), db, isStrict: args.bool('apiStrict') === true },
      {
        mechanism: args.string('mechanism')!,
        payload: args.value('payload')!,
        options: args.document('options'),
      },
    )
  },
}

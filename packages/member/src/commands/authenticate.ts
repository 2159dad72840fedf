import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { accessRulesOf } from '../access/access-rules.js'
import { authenticateOnce } from '../access/certificate-login.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: authentication_commands.cpp. */
export const authenticate: CommandRow<MemberInvocation> = {
  name: 'authenticate',
  routing: 'local',
  access: 'none',
  privileges: 'none',
  sensitive: ['key', 'nonce'],
  manual: 'reference/command/authenticate',
  status: 'partial',
  deviations: ['D914'],
  missing: 'the mechanism MONGODB-CR, which is older than SCRAM',
  summary: 'Logs in with the certificate of the connection.',
  run({ args, host, db, connectionId }) {
    if (connectionId === 0) throw new CommandError('AuthenticationFailed', 'Authentication failed.')
    const mechanism = args.string('mechanism')
    if (mechanism === undefined && accessRulesOf(host.behaviours).has('mechanismCounters'))
      throw new CommandError('IDLFailedToParse', "BSON field 'authenticate.mechanism' is missing but a required field")
    return authenticateOnce(
      { host, connection: host.connections.stillOpen(connectionId), db, isStrict: args.bool('apiStrict') === true },
      { mechanism: mechanism ?? '', user: args.string('user') ?? '' },
    )
  },
}

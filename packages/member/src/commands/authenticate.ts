import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { accessRulesOf } from '../access/access-rules.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: authentication_commands.cpp. */
export const authenticate: CommandRow<MemberInvocation> = {
  name: 'authenticate',
  routing: 'local',
  access: 'none',
  privileges: 'none',
  apiVersion1: true,
  sensitive: ['key', 'nonce'],
  manual: 'reference/command/authenticate',
  status: 'partial',
  deviations: ['D914'],
  missing: 'every mechanism: MONGODB-X509 needs TLS, and MONGODB-CR is older than SCRAM',
  summary: 'Refused: drivers log in with saslStart.',
  run({ args, host, connectionId }) {
    host.connections.find(connectionId)?.access?.endExchange()
    const rules = accessRulesOf(host.behaviours)
    const mechanism = args.string('mechanism') ?? ''
    if (mechanism === '') throw new CommandError('BadValue', 'Auth mechanism not specified')
    if (rules.has('mechanismUnavailable') && mechanism !== 'MONGODB-X509')
      throw new CommandError(
        'MechanismUnavailable',
        `Received authentication for mechanism ${mechanism} which is not enabled`,
      )
    throw new CommandError('BadValue', `Unsupported mechanism: ${mechanism}`)
  },
}

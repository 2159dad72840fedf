import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { continueLogin } from '../access/authenticate.js'
import type { MemberInvocation } from '../member-host.js'

/** Server: sasl_commands.cpp. */
export const saslContinue: CommandRow<MemberInvocation> = {
  name: 'saslContinue',
  routing: 'local',
  access: 'none',
  privileges: 'none',
  apiVersion1: true,
  sensitive: ['payload'],
  manual: 'reference/command/saslContinue',
  status: 'full',
  summary: 'Continues a login; with the last message the connection has the user.',
  fields: { conversationId: 'number!', payload: 'any!' },
  run({ host, args, db, connectionId }) {
    if (connectionId === 0) throw new CommandError('ProtocolError', 'No SASL session state found')
    return continueLogin(
      { host, connection: host.connections.stillOpen(connectionId), db, isStrict: args.bool('apiStrict') === true },
      args.number('conversationId')!,
      args.value('payload')!,
    )
  },
}

import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

/**
 * Old clients asked for a nonce before they authenticated. Server: authentication_commands.cpp,
 * until 6.1.
 */
export const getNonce: CommandRow<MemberInvocation> = {
  name: 'getnonce',
  routing: 'local',
  access: 'none',
  privileges: 'none',
  behaviour: 'nonces',
  manual: 'reference/command/getnonce',
  status: 'full',
  summary: 'Returns a number for one authentication.',
  run: ({ host }) => new DocumentWriter(128).string('nonce', Buffer.from(host.context.random.bytes(8)).toString('hex')),
}

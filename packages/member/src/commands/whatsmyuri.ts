import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

export const whatsmyuri: CommandRow<MemberInvocation> = {
  name: 'whatsmyuri',
  routing: 'local',
  access: 'none',
  privileges: 'none',
  manual: 'reference/command/whatsmyuri',
  status: 'full',
  summary: 'Returns the address of the client.',
  run: ({ remote }) => new DocumentWriter(128).string('you', remote),
}

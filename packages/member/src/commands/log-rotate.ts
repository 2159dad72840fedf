import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

export const logRotate: CommandRow<MemberInvocation> = {
  name: 'logRotate',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/logRotate',
  status: 'full',
  summary: 'Succeeds and does nothing, as on a server that logs to no file.',
  run: () => new DocumentWriter(256),
}

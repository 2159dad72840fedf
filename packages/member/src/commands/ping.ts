import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

export const ping: CommandRow<MemberInvocation> = {
  name: 'ping',
  routing: 'local',
  access: 'none',
  privileges: 'none',
  apiVersion1: true,
  manual: 'reference/command/ping',
  status: 'full',
  summary: 'Replies that the member is up.',
  fields: {},
  run: () => new DocumentWriter(128),
}

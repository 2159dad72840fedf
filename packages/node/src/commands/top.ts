import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { NodeInvocation } from '../host/node-host.js'
import { onCluster } from '@shardlab/member'

/** Server: top_command.cpp, top.cpp. */
export const top: CommandRow<NodeInvocation> = {
  name: 'top',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('top'),
  adminOnly: true,
  manual: 'reference/command/top',
  status: 'partial',
  deviations: ['D705'],
  summary: 'Reports how often and how long each collection of this member was used. Not on routers.',
  fields: {},
  run: ({ host }) =>
    host.statistics.usage
      .write(new DocumentWriter(1024).startDocument('totals').string('note', 'all times in microseconds'))
      .end(),
}

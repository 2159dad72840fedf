import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'

/** Members exchange messages without connection pools, so all counts are 0. */
export const connPoolStats: CommandRow<MemberInvocation> = {
  name: 'connPoolStats',
  routing: 'local',
  access: 'admin',
  manual: 'reference/command/connPoolStats',
  status: 'partial',
  deviations: ['D702'],
  summary: 'Reports on connections to other members; there are none.',
  run() {
    const writer = new DocumentWriter(512)
    for (const name of [
      'numClientConnections',
      'numAScopedConnections',
      'totalInUse',
      'totalAvailable',
      'totalLeased',
      'totalCreated',
      'totalRefreshing',
    ])
      writer.int32(name, 0)
    return writer.startDocument('replicaSets').end().startDocument('pools').end().startDocument('hosts').end()
  },
}

import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'
import { onCluster } from '../access/needs.js'

/**
 * Members exchange messages without connection pools, so all counts are 0. Server:
 * replica_set_monitor.cpp, appendInfo.
 */
export const connPoolStats: CommandRow<MemberInvocation> = {
  name: 'connPoolStats',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('connPoolStats'),
  manual: 'reference/command/connPoolStats',
  status: 'partial',
  deviations: ['D702'],
  summary: 'Reports on connections to other members, of which there are none, and on replica sets that a router knows.',
  run({ host }) {
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
    writer.startDocument('replicaSets')
    for (const connection of new Set(host.replicaSets?.() ?? [])) {
      const [setName, address] = connection.split('/') as [string, string]
      writer.startDocument(setName).startArray('hosts').startDocument('0')
      writer.string('addr', address).bool('ok', true).bool('ismaster', true).bool('hidden', false)
      writer.bool('secondary', false).int32('pingTimeMillis', 0).end().end().end()
    }
    return writer.end().startDocument('pools').end().startDocument('hosts').end()
  },
}

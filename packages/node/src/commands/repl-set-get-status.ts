import type { CommandRow } from '@shardlab/actor'
import { replSetGetStatusSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'
import { answered } from '../replication/answered.js'

/** Server: topology_coordinator.cpp, prepareStatusResponse. */
export const replSetGetStatus: CommandRow<NodeInvocation> = {
  ...replSetGetStatusSpec,
  routing: 'local',
  status: 'full',
  summary: 'Describes the replica set, its members and its last election.',
  run: ({ host }) => answered(host.set.status()),
}

import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { setClusterParameterSpec } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

/** Server: set_cluster_parameter_command_impl_d.cpp. */
export const setClusterParameter: CommandRow<NodeInvocation> = {
  ...setClusterParameterSpec,
  routing: 'local',
  status: 'full',
  summary: 'Refused by shards and the config server, as on the server.',
  run() {
    throw new CommandError('NotImplemented', 'setClusterParameter can only run on mongos in sharded clusters')
  },
}

import { configAddress, type CommandRow } from '@shardlab/actor'
import { getClusterParameterSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { configCommand, passThrough } from '../routing/primary.js'

/** Server: get_cluster_parameter_command_impl_s.cpp, which reads from the config server first. */
export const getClusterParameter: CommandRow<MongosInvocation> = {
  ...getClusterParameterSpec,
  routing: 'config-server',
  status: 'partial',
  deviations: ['D719'],
  summary: 'Reads parameters of the cluster from the config server.',
  run: (invocation) => passThrough(invocation, configAddress, configCommand(invocation), true),
}

import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { getClusterParameterSpec, writeClusterParameters } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'
import { storedClusterParameter } from '../parameters/cluster-parameter.js'

/** Server: get_cluster_parameter_invocation.cpp. */
export const getClusterParameter: CommandRow<NodeInvocation> = {
  ...getClusterParameterSpec,
  routing: 'local',
  status: 'partial',
  deviations: ['D719'],
  summary: 'Reads parameters of the cluster that are stored on this member.',
  run: ({ args, host }) =>
    writeClusterParameters(new DocumentWriter(512), host.behaviours, args.target, (name) =>
      storedClusterParameter(host, name),
    ),
}

import { configAddress, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, typeName } from '@shardlab/bson'
import { setClusterParameterSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'

/** Server: set_cluster_parameter_command_impl_s.cpp. */
export const setClusterParameter: CommandRow<MongosInvocation> = {
  ...setClusterParameterSpec,
  routing: 'config-server',
  status: 'partial',
  missing: 'a defaultMaxTimeMS, and pauseMigrationsDuringMultiUpdates',
  deviations: ['D719'],
  summary: 'Sets a parameter of the cluster, which the config server and all shards store.',
  async run({ args, host, operation }) {
    const { target } = args
    if (target.type !== BsonType.object)
      throw new CommandError(
        'TypeMismatch',
        `BSON field 'setClusterParameter.setClusterParameter' is the wrong type '${typeName(target.type)}', expected type 'object'`,
      )
    const request = { parameter: target.slice() }
    raise((await host.remote.request(configAddress, 'config.set-cluster-parameter', request, operation)).error)
    return new DocumentWriter(192)
  },
}

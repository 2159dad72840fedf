import type { CommandRow } from '@shardlab/actor'
import { getCmdLineOptsSpec, writeCommandLine } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'

export const getCmdLineOpts: CommandRow<NodeInvocation> = {
  ...getCmdLineOptsSpec,
  routing: 'local',
  status: 'partial',
  deviations: ['D700'],
  summary: 'Returns the options of a server with the role, set name and port of this member.',
  run({ host }) {
    const { name, setName } = host.role
    const ofSet = { flag: '--replSet', argument: setName, section: 'replication', name: 'replSet', value: setName }
    const clusterRole = name === 'shard' ? 'shardsvr' : 'configsvr'
    const ofCluster = {
      ...{ flag: `--${clusterRole}`, argument: null, section: 'sharding', name: 'clusterRole', value: clusterRole },
    }
    return writeCommandLine(host, [...(host.isStandalone ? [] : [ofSet]), ...(name === 'mongod' ? [] : [ofCluster])])
  },
}

import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, findField, toRawValue } from '@shardlab/bson'
import type { NodeInvocation } from '@shardlab/node'

export const shardingState: CommandRow<NodeInvocation> = {
  name: 'shardingState',
  routing: 'local',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/shardingState',
  status: 'partial',
  missing: 'the versions of each collection',
  summary: 'Tells whether the member is a shard, and of which cluster.',
  fields: {},
  run({ host }) {
    const identity = host.collection('admin.system.version')?.findById(toRawValue('shardIdentity'))?.document
    const writer = new DocumentWriter(256).bool('enabled', identity !== undefined)
    if (identity === undefined) return writer
    return writer
      .value('configServer', findField(identity, 'configsvrConnectionString')!)
      .value('shardName', findField(identity, 'shardName')!)
      .value('clusterId', findField(identity, 'clusterId')!)
  },
}

import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, findField, stringValue } from '@shardlab/bson'
import type { NodeInvocation } from '@shardlab/node'
import type { PlacementVersion } from '@shardlab/sharding'
import { onCluster } from '@shardlab/member'

const unsharded: PlacementVersion = ['', 0, 0, 0, 0]

/** Server: sharding_state_command.cpp, CollectionShardingRuntime::appendShardVersion. */
export const shardingState: CommandRow<NodeInvocation> = {
  name: 'shardingState',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('shardingState'),
  adminOnly: true,
  manual: 'reference/command/shardingState',
  status: 'full',
  summary: 'Returns whether the member is a shard, its cluster, and the placement versions that it knows.',
  fields: {},
  run({ host }) {
    const identity = host.collection('admin.system.version')?.findById(stringValue('shardIdentity'))?.document
    const writer = new DocumentWriter(256).bool('enabled', identity !== undefined)
    if (identity === undefined) return writer
    writer
      .value('configServer', findField(identity, 'configsvrConnectionString')!)
      .value('shardName', findField(identity, 'shardName')!)
      .value('clusterId', findField(identity, 'clusterId')!)
      .startDocument('versions')
    for (const [ns, version] of host.role.placements?.() ?? []) {
      const [, seconds, increment, major, minor] = version ?? unsharded
      if (!host.behaviours.shardingStateHasTimestamps) writer.timestamp(ns, major, minor)
      else
        writer
          .startDocument(ns)
          .timestamp('placementVersion', major, minor)
          .timestamp('timestamp', seconds, increment)
          .end()
    }
    return writer.end()
  },
}

import type { CommandRow } from '@shardlab/actor'
import type { MongosInvocation } from '../host/mongos-host.js'
import { gatherOnShard } from '../admin/run-resharding.js'
import { onNamedNamespace } from '@shardlab/member'

/** Server: cluster_unshard_collection_cmd.cpp. */
export const unshardCollection: CommandRow<MongosInvocation> = {
  name: 'unshardCollection',
  routing: 'primary-shard',
  access: 'admin',
  privileges: onNamedNamespace('unshardCollection'),
  adminOnly: true,
  manual: 'reference/command/unshardCollection',
  status: 'partial',
  deviations: ['D833', 'D837'],
  summary: 'Moves a sharded collection to one shard and removes its shard key.',
  behaviour: 'moveCollectionCommand',
  fields: { toShard: 'string' },
  unknownFields: 'ignored',
  run: (invocation) => gatherOnShard(invocation, 'unshardCollection', invocation.args.string('toShard')),
}

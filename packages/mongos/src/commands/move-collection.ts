import type { CommandRow } from '@shardlab/actor'
import type { MongosInvocation } from '../host/mongos-host.js'
import { gatherOnShard } from '../admin/run-resharding.js'
import { onNamedNamespace } from '@shardlab/member'

/** Server: cluster_move_collection_cmd.cpp. */
export const moveCollection: CommandRow<MongosInvocation> = {
  name: 'moveCollection',
  routing: 'primary-shard',
  access: 'admin',
  privileges: onNamedNamespace('moveCollection'),
  adminOnly: true,
  manual: 'reference/command/moveCollection',
  status: 'partial',
  deviations: ['D833', 'D837'],
  summary: 'Moves an unsharded collection to another shard.',
  behaviour: 'moveCollectionCommand',
  fields: { toShard: 'string!' },
  unknownFields: 'ignored',
  run: (invocation) => gatherOnShard(invocation, 'moveCollection', invocation.args.string('toShard')),
}

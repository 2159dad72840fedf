import type { CommandRow } from '@shardlab/actor'
import type { MongosInvocation } from '../host/mongos-host.js'
import { gatherOnShard } from '../admin/run-resharding.js'

/** Server: cluster_unshard_collection_cmd.cpp. */
export const unshardCollection: CommandRow<MongosInvocation> = {
  name: 'unshardCollection',
  routing: 'primary-shard',
  access: 'admin',
  adminOnly: true,
  manual: 'reference/command/unshardCollection',
  status: 'full',
  summary: 'Gathers a sharded collection on one shard, without a shard key.',
  behaviour: 'moveCollectionCommand',
  fields: { toShard: 'string' },
  ignoresUnknownFields: true,
  run: (invocation) => gatherOnShard(invocation, 'unshardCollection', invocation.args.string('toShard')),
}

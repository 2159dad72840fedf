import { configAddress, type CommandRow } from '@shardlab/actor'
import { createIndexesSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { configCommand, passThrough } from '../routing/primary.js'
import { rawReplies } from '../routing/raw-replies.js'
import { withRoute } from '../routing/stale-loop.js'

export const createIndexes: CommandRow<MongosInvocation> = {
  ...createIndexesSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D404', 'D608', 'D824'],
  summary: 'Builds indexes on every shard that owns a part of the collection.',
  run(invocation) {
    const { args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    return withRoute(invocation, ns, true, (route) =>
      route.kind === 'config'
        ? passThrough(invocation, configAddress, configCommand(invocation), true)
        : rawReplies(invocation, route),
    )
  },
}

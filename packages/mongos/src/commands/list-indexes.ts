import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { batchSizeOf, listIndexesSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { openOnOne } from '../reads/open-cursor.js'
import { routedCommand, soleMember } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'

export const listIndexes: CommandRow<MongosInvocation> = {
  ...listIndexesSpec,
  routing: 'primary-shard',
  status: 'full',
  summary: 'Lists the indexes of a collection, read from the shard with the lowest chunk.',
  run(invocation) {
    const { args, db, body } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const traits = { noTimeout: false, batchSize: batchSizeOf(args) }
    return withRoute(invocation, ns, false, (route) => {
      if (route.kind === 'missing') throw new CommandError('NamespaceNotFound', `ns does not exist: ${ns}`)
      const member = route.kind === 'sharded' ? route.placement.table.lowestShard() : soleMember(route)
      return openOnOne(invocation, member, routedCommand(invocation, route, member, body), traits)
    })
  },
}

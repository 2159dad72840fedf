import { configAddress, type CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { collModSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { configCommand, passThrough } from '../routing/primary.js'
import { rawReplies } from '../routing/raw-replies.js'
import { routedCommand, soleMember } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'

export const collMod: CommandRow<MongosInvocation> = {
  ...collModSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D853'],
  missing: 'time series collections',
  summary: 'Changes options of a collection or an index on every shard that has the collection, or a view.',
  run(invocation) {
    const { args, db, host } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    return withRoute(invocation, ns, false, async (route) => {
      if (route.kind === 'config') return passThrough(invocation, configAddress, configCommand(invocation), false)
      if (route.kind === 'missing') throw new CommandError('NamespaceNotFound', 'ns does not exist')
      if (route.kind === 'unsharded') {
        const { body, sequences } = invocation
        const { primaryShard } = route.database
        const member = soleMember(route)
        // Until 4.4 the reply of a single shard has the `raw` form, too.
        if (!host.behaviours.collModOfUnshardedIsPlain) return rawReplies(invocation, route)
        const done = await passThrough(
          invocation,
          member,
          routedCommand(invocation, route, member, body, sequences),
          false,
        )
        // The primary shard lists the options of a collection that was moved away from it.
        if (member !== primaryShard)
          await passThrough(
            invocation,
            primaryShard,
            routedCommand(invocation, route, primaryShard, body, sequences),
            false,
          )
        return done
      }
      // The primary shard lists the collection's options even if it owns no chunk.
      const database = host.catalog.peekDatabase(db) ?? (await host.catalog.database(db, invocation.operation))
      return rawReplies(invocation, route, { further: database === null ? [] : [database.primaryShard] })
    })
  },
}

import { configAddress, type CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { databaseNameOf, splitVectorSpec } from '@shardlab/member'
import { qualifiedNamespace } from '../chunks/sharded-collection.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { configCommand, passThrough } from '../routing/primary.js'
import { routedCommand, soleMember } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'

/** Server: cluster_split_vector_cmd.cpp. */
export const splitVector: CommandRow<MongosInvocation> = {
  ...splitVectorSpec,
  routing: 'primary-shard',
  status: 'partial',
  deviations: ['D820'],
  summary: 'Lists the keys at which an unsharded collection can be split.',
  run(invocation) {
    const { args, body, db } = invocation
    const ns = qualifiedNamespace(args)
    if (databaseNameOf(ns) !== db)
      throw new CommandError('IllegalOperation', "Performing splitVector across dbs isn't supported via mongos")
    return withRoute(invocation, ns, false, (route) => {
      if (route.kind === 'sharded')
        throw new CommandError('IllegalOperation', "can't do command: splitVector on sharded collection")
      if (route.kind === 'missing') throw new CommandError('NamespaceNotFound', `database ${db} not found`)
      if (route.kind === 'config') return passThrough(invocation, configAddress, configCommand(invocation), true)
      const member = soleMember(route)
      return passThrough(invocation, member, routedCommand(invocation, route, member, body), true)
    })
  },
}

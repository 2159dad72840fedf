import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, findField } from '@shardlab/bson'
import { databaseNameOf, dataSizeSpec, namespaceArgument } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { askAll } from '../reads/ask-all.js'
import { owningMembers } from '../routing/owning-members.js'
import { routedCommand } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'

export const dataSize: CommandRow<MongosInvocation> = {
  ...dataSizeSpec,
  routing: 'all-shards',
  status: 'full',
  summary: 'Sums the sizes of the documents of a collection, or of a range of keys, over its shards.',
  run(invocation) {
    const ns = namespaceArgument(invocation.args)
    const db = databaseNameOf(ns)
    // The namespace may be in another database than the command's.
    const routed = db === invocation.db ? invocation : { ...invocation, db }
    return withRoute(routed, ns, false, async (route) => {
      const members = owningMembers(route, db)
      const answers = await askAll(routed, members, (member) => routedCommand(routed, route, member, invocation.body))
      const sum = (name: string) =>
        answers.reduce((total, [, reply]) => total + (findField(reply, name)?.asNumber() ?? 0), 0)
      return new DocumentWriter(256)
        .int64('size', sum('size'))
        .int64('numObjects', sum('numObjects'))
        .int64('millis', sum('millis'))
    })
  },
}

import type { CommandRow } from '@shardlab/actor'
import { elementsOf, findField, type DocumentWriter } from '@shardlab/bson'
import { compileDistinct, distinctSpec, DistinctValues, evaluationOf, writeValues } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { copyReplyFields, replyWriterFor } from '../remote/command-reply.js'
import { askAll } from '../reads/ask-all.js'
import { placementOf, routedCommand, type Route } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'
import { membersOfRead, noteRead } from '../routing/target-read.js'

export const distinct: CommandRow<MongosInvocation> = {
  ...distinctSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D304', 'D401', 'D501', 'D502', 'D505', 'D600'],
  summary: 'Lists the distinct values of a field on all shards that can have matching documents.',
  run(invocation) {
    const { args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    return withRoute(invocation, ns, false, (route) => distinctOn(invocation, ns, route))
  },
}

async function distinctOn(invocation: MongosInvocation, ns: string, route: Route): Promise<DocumentWriter> {
  const { args, body, host } = invocation
  const context = evaluationOf(host, args, placementOf(route)?.defaultCollation ?? null)
  compileDistinct(args, context)
  const targets = membersOfRead(invocation, ns, route, args.value('query'), args.document('collation'))
  await host.reach('mongos.read.targeted', { ns, shards: targets.members })
  const answers = await askAll(invocation, targets.members, (member) => routedCommand(invocation, route, member, body))
  noteRead(invocation, targets.to)
  const [only] = answers
  if (answers.length === 1) return copyReplyFields(replyWriterFor(only![1]), only![1])
  const values = new DistinctValues(context.strings)
  for (const [, reply] of answers) for (const value of elementsOf(findField(reply, 'values')!)) values.add(value)
  return writeValues(values.sorted())
}

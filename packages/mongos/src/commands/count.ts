import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import { countBounds, countSpec, writeCount } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { askAll } from '../reads/ask-all.js'
import { routedCommand, type Route } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'
import { membersOfRead, noteRead } from '../routing/target-read.js'

export const count: CommandRow<MongosInvocation> = {
  ...countSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D109', 'D401', 'D502', 'D505'],
  summary: 'Adds up the counts of the shards that can have matching documents.',
  run(invocation) {
    const { args, db, host } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    countBounds(args, host)
    return withRoute(invocation, ns, false, (route) => countOn(invocation, ns, route))
  },
}

async function countOn(invocation: MongosInvocation, ns: string, route: Route): Promise<DocumentWriter> {
  const { args, host } = invocation
  const { skip, limit } = countBounds(args, host)
  const targets = membersOfRead(invocation, ns, route, args.value('query'), args.document('collation'))
  await host.reach('mongos.read.targeted', { ns, shards: targets.members })
  const body = bodyForShards(invocation, skip, limit)
  const answers = await askAll(invocation, targets.members, (member) => routedCommand(invocation, route, member, body))
  const writer = new DocumentWriter(256).startDocument('shards')
  let total = 0
  for (const [member, reply] of answers) {
    const n = findField(reply, 'n')!.asNumber()
    if (n < 2 ** 31) writer.int32(member, n)
    else writer.int64(member, n)
    total += n
  }
  noteRead(invocation, targets.to)
  const left = Math.max(0, total - skip)
  return writeCount(limit > 0 ? Math.min(left, limit) : left, writer.end())
}

/**
 * Each shard counts up to `skip + limit`; `skip` is applied to the sum. A limit that the version
 * ignores stays here.
 */
function bodyForShards({ args, body }: MongosInvocation, skip: number, limit: number): Uint8Array {
  if (skip === 0 && args.value('limit')?.isNumber() !== false) return body
  const writer = new DocumentWriter(body.length)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (name === 'skip' || name === 'limit') continue
    writer.value(name, it.value())
  }
  if (limit > 0) writer.int64('limit', limit + skip)
  return writer.finish()
}

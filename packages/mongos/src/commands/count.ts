import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import { nonNegative } from '@shardlab/node'
import type { MongosInvocation } from '../command/invocation.js'
import { isStaleCode } from '../remote/command-reply.js'
import { routedCommand, soleMember, type Route } from '../routing/route.js'
import { scatter } from '../routing/scatter.js'
import { withRoute } from '../routing/stale-loop.js'
import { targetRead } from '../routing/target-read.js'
import { noteRouted, routedToPrimary } from '../statistics/routed.js'

export const count: CommandRow<MongosInvocation> = {
  name: 'count',
  routing: 'shard-key',
  access: 'read',
  manual: 'reference/command/count',
  status: 'full',
  summary: 'Adds up the counts of the shards that can have matching documents.',
  fields: { query: 'object', limit: 'number', skip: 'number', hint: 'string|object', collation: 'object', fields: 'object' },
  run(invocation) {
    const { args, db, host } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    nonNegative(args, 'skip')
    host.statistics.opcounters.command++
    return withRoute(invocation, ns, false, (route) => countOn(invocation, ns, route))
  },
}

async function countOn(invocation: MongosInvocation, ns: string, route: Route): Promise<DocumentWriter> {
  const { args, host } = invocation
  const skip = Math.trunc(args.number('skip') ?? 0)
  // A negative limit counts like a positive one.
  const limit = Math.abs(Math.trunc(args.number('limit') ?? 0))
  const targeting =
    route.kind === 'sharded' ? targetRead(invocation, route.placement, args.document('query'), args.document('collation')) : null
  const members = targeting !== null ? targeting.shards : route.kind === 'missing' || route.kind === 'sharded' ? [] : [soleMember(route)]
  await host.reach('mongos.read.targeted', { ns, shards: members })
  const body = bodyForShards(invocation, skip, limit)
  const answers = await scatter(invocation, members, (member) => routedCommand(invocation, route, member, body), true)
  const failures = answers.flatMap((answer) => answer.error ?? [])
  const failure = failures.find((error) => isStaleCode(error.code)) ?? failures[0]
  if (failure !== undefined) throw failure
  const writer = new DocumentWriter(256).startDocument('shards')
  let total = 0
  for (const { member, body: reply } of answers) {
    const n = findField(reply!, 'n')!.asNumber()
    writeNumber(writer, member, n)
    total += n
  }
  if (targeting !== null) noteRouted(invocation, null, { ns, route, ...targeting })
  else if (members.length > 0) noteRouted(invocation, null, routedToPrimary(ns, route, members[0]!))
  const left = Math.max(0, total - skip)
  return writeNumber(writer.end(), 'n', limit > 0 ? Math.min(left, limit) : left)
}

/** Shards count as far as it can matter; passing over comes after adding up. */
function bodyForShards({ body }: MongosInvocation, skip: number, limit: number): Uint8Array {
  if (skip === 0) return body
  const writer = new DocumentWriter(body.length)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (name === 'skip' || name === 'limit') continue
    writer.value(name, it.value())
  }
  if (limit > 0) writer.int64('limit', limit + skip)
  return writer.finish()
}

/** As the server appends numbers: int32 where they fit. */
function writeNumber(writer: DocumentWriter, name: string, value: number): DocumentWriter {
  return value < 2 ** 31 ? writer.int32(name, value) : writer.int64(name, value)
}

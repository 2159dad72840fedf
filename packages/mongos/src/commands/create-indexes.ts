import { configAddress, type CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { createIndexesFields } from '@shardlab/node'
import { formatDocument } from '@shardlab/query'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { MongosInvocation } from '../command/invocation.js'
import { copyReplyFields, isStaleCode } from '../remote/command-reply.js'
import { configCommand, passThrough } from '../routing/primary.js'
import { routedCommand, soleMember, type Route } from '../routing/route.js'
import { scatter, type MemberAnswer } from '../routing/scatter.js'
import { withRoute } from '../routing/stale-loop.js'

export const createIndexes: CommandRow<MongosInvocation> = {
  name: 'createIndexes',
  routing: 'all-shards',
  access: 'write',
  manual: 'reference/command/createIndexes',
  status: 'full',
  summary: 'Builds indexes on every shard that owns a part of the collection.',
  fields: createIndexesFields,
  run(invocation) {
    const { args, db, host } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    host.statistics.opcounters.command++
    return withRoute(invocation, ns, true, (route) =>
      route.kind === 'config' ? passThrough(invocation, configAddress, configCommand(invocation), true) : createOn(invocation, route),
    )
  },
}

async function createOn(invocation: MongosInvocation, route: Route): Promise<DocumentWriter> {
  if (route.kind === 'config' || route.kind === 'missing') throw new Error('indexes are built where a collection can be')
  if (route.kind === 'sharded') checkUniqueness(invocation, route.placement)
  const members = route.kind === 'sharded' ? route.placement.table.owners() : [soleMember(route)]
  const { body, sequences } = invocation
  const answers = await scatter(invocation, members, (member) => routedCommand(invocation, route, member, body, sequences), true)
  return writeRaw(invocation, answers)
}

/** An index that could only be unique on each shard by itself is refused. */
function checkUniqueness({ args }: MongosInvocation, { shardKey }: CollectionPlacement): void {
  for (const spec of args.documents('indexes')!) {
    if (findField(spec, 'unique')?.isTruthy() !== true) continue
    const key = findField(spec, 'key')
    if (key?.type !== BsonType.object || shardKey.allowsUniqueIndex(key.slice())) continue
    throw new CommandError(
      'CannotCreateIndex',
      `cannot create unique index over ${formatDocument(key.slice())} with shard key pattern ${formatDocument(shardKey.document)}`,
    )
  }
}

/** `{ raw: { "set/host:port": reply, … } }`. @throws CommandError the first failure, with `raw` beside it */
function writeRaw({ host }: MongosInvocation, answers: readonly MemberAnswer[]): DocumentWriter {
  const stale = answers.find((answer) => answer.error !== null && isStaleCode(answer.error.code))
  if (stale?.error != null) throw stale.error
  const writer = new DocumentWriter(512).startDocument('raw')
  for (const { member, body, error } of answers) {
    writer.startDocument(host.shards.connectionString(member))
    if (error === null) copyReplyFields(writer, body).double('ok', 1)
    else writer.double('ok', 0).string('errmsg', error.message).int32('code', error.code).string('codeName', error.codeName)
    writer.end()
  }
  writer.end()
  const failure = answers.find((answer) => answer.error !== null)?.error ?? null
  if (failure !== null) throw new CommandError(failure.code, failure.message, { errorLabels: failure.errorLabels, extra: writer.finish() })
  return writer
}

/** Replies of several shards side by side, as commands on indexes and collections give them. Server: appendRawResponses. */
import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../command/invocation.js'
import { copyReplyFields, isStaleCode } from '../remote/command-reply.js'
import { routedCommand, soleMember, type Route } from './route.js'
import { scatter, type MemberAnswer } from './scatter.js'

/**
 * The client's command, untouched, to the members that hold a part of the collection.
 * @param further shards that hold a copy though they own nothing
 * @throws CommandError a stale one before others, then the first failure, with `raw` beside it
 */
export async function rawReplies(invocation: MongosInvocation, route: Route, further: readonly string[] = []): Promise<DocumentWriter> {
  if (route.kind === 'config' || route.kind === 'missing') throw new Error('only collections of shards have replies side by side')
  const members = route.kind === 'sharded' ? [...new Set([...route.placement.table.owners(), ...further])].sort() : [soleMember(route)]
  const { body, sequences } = invocation
  const answers = await scatter(invocation, members, (member) => routedCommand(invocation, route, member, body, sequences), true)
  // A router that has just begun knows no hosts.
  await invocation.host.shards.ids(invocation.operation)
  return writeRaw(invocation, answers)
}

/** `{ raw: { "set/host:port": reply, … } }`. */
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

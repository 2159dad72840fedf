/** Replies of commands on indexes and collections. Server: appendRawResponses. */
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { writeCode } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { copyReplyFields, isStaleCode } from '../remote/command-reply.js'
import { routedCommand, soleMember, type Route } from './route.js'
import { scatter, type MemberAnswer } from './scatter.js'

/** From an attempt in which other members reported the router's routing as stale. */
export type SuccessfulAnswers = Map<string, MemberAnswer>

export interface RawRepliesOptions {
  /** Shards that hold a copy of the collection without owning chunks. Default: none. */
  readonly further?: readonly string[]
  /**
   * For commands that must not run twice on a member: members that replied to earlier attempts are
   * not asked again. Successes of this attempt are added when it fails for a stale version. Server:
   * StaleConfigRetryState of cluster_drop_indexes_cmd.cpp.
   */
  readonly done?: SuccessfulAnswers
}

/**
 * @throws CommandError a stale one before others, then the first failure, with `raw` in the reply
 */
export async function rawReplies(
  invocation: MongosInvocation,
  route: Route,
  { further = [], done = new Map() }: RawRepliesOptions = {},
): Promise<DocumentWriter> {
  if (route.kind === 'config' || route.kind === 'missing')
    throw new Error('replies of several members need a collection on shards')
  const members =
    route.kind === 'sharded'
      ? [...new Set([...route.placement.table.owners(), ...further])].sort()
      : [soleMember(route)]
  const { body, sequences } = invocation
  const left = members.filter((member) => !done.has(member))
  const answers = await scatter(
    invocation,
    left,
    (member) => routedCommand(invocation, route, member, body, sequences),
    true,
  )
  // A new router does not have the hosts of shards yet.
  await invocation.host.shards.ids(invocation.operation)
  const stale = answers.find(({ error }) => error !== null && isStaleCode(error.code))
  if (stale?.error != null) {
    for (const answer of answers) if (answer.error === null) done.set(answer.member, answer)
    throw stale.error
  }
  return writeRaw(invocation, [...answers, ...done.values()])
}

/** `{ raw: { "set/host:port": reply, … } }`. */
export function writeRaw({ host }: MongosInvocation, answers: readonly MemberAnswer[]): DocumentWriter {
  const writer = new DocumentWriter(512).startDocument('raw')
  for (const { member, body, error } of answers) {
    writer.startDocument(host.shards.connectionString(member))
    if (error === null) copyReplyFields(writer, body).double('ok', 1)
    else writeCode(writer.double('ok', 0).string('errmsg', error.message), error.code, host.behaviours)
    writer.end()
  }
  writer.end()
  const failure = answers.find((answer) => answer.error !== null)?.error ?? null
  if (failure !== null)
    throw new CommandError(failure.code, failure.message, { errorLabels: failure.errorLabels, extra: writer.finish() })
  return writer
}

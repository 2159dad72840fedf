import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { validateSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { copyReplyFields, isStaleCode } from '../remote/command-reply.js'
import { owningMembers } from '../routing/owning-members.js'
import { routedCommand, type Route } from '../routing/route.js'
import { scatter } from '../routing/scatter.js'
import { withRoute } from '../routing/stale-loop.js'

export const validate: CommandRow<MongosInvocation> = {
  ...validateSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D708'],
  summary: 'Validates a collection on every shard that owns a part of it.',
  run(invocation) {
    const { args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    return withRoute(invocation, ns, false, (route) => validateOn(invocation, route))
  },
}

async function validateOn(invocation: MongosInvocation, route: Route): Promise<DocumentWriter> {
  const { body, db } = invocation
  const answers = await scatter(
    invocation,
    owningMembers(route, db),
    (member) => routedCommand(invocation, route, member, body),
    true,
  )
  const stale = answers.find(({ error }) => error !== null && isStaleCode(error.code))
  if (stale?.error != null) throw stale.error
  const raw = new DocumentWriter(1024).startDocument('raw')
  let valid = true
  for (const { member, body: reply, error } of answers) {
    raw.startDocument(member)
    if (reply !== null) copyReplyFields(raw, reply).double('ok', error === null ? 1 : 0)
    else if (error !== null) raw.string('error', `${error.codeName}: ${error.message}`)
    raw.end()
    if (reply !== null && error === null && findField(reply, 'valid')?.isTruthy() !== true) valid = false
  }
  const failure = answers.find(({ error }) => error !== null)?.error
  if (failure != null) throw new CommandError(failure.code, failure.message, { extra: raw.end().finish() })
  const writer = new DocumentWriter(2048)
  if (route.kind === 'sharded') writer.bool('valid', valid)
  else copyReplyFields(writer, answers[0]!.body!)
  return writer.fields(raw.end().finish())
}

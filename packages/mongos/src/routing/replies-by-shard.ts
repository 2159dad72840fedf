import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { MongosInvocation } from '../host/mongos-host.js'
import { copyReplyFields, isStaleCode } from '../remote/command-reply.js'
import { owningMembers } from './owning-members.js'
import { routedCommand } from './route.js'
import { scatter } from './scatter.js'
import { withRoute } from './stale-loop.js'

/**
 * Sends the command to the owners of the collection. The reply is that of the first shard, followed
 * by all replies under the names of the shards. Server: cluster_index_filter_cmd.cpp,
 * cluster_plan_cache_clear_cmd.cpp.
 * @throws CommandError the failure of the first shard with the replies; others with their shard
 */
export function repliesByShard(invocation: MongosInvocation): Promise<DocumentWriter> {
  const { args, db, body } = invocation
  return withRoute(invocation, `${db}.${args.collectionName(db)}`, false, async (route) => {
    const members = [...owningMembers(route, db)].sort()
    const answers = await scatter(invocation, members, (member) => routedCommand(invocation, route, member, body), true)
    const stale = answers.find(({ error }) => error !== null && isStaleCode(error.code))
    if (stale?.error != null) throw stale.error
    const shards = new DocumentWriter(1024)
    for (const answer of answers) {
      const { member, error } = answer
      if (error !== null && !answer.answered)
        throw new CommandError(error.code, `failed on: ${member} :: caused by :: ${error.message}`)
      copyReplyFields(shards.startDocument(member), answer.body!)
        .double('ok', error === null ? 1 : 0)
        .end()
    }
    const [first] = answers
    const extra = shards.finish()
    if (first!.error !== null) throw new CommandError(first!.error.code, first!.error.message, { extra })
    return copyReplyFields(new DocumentWriter(1024), first!.body).fields(extra)
  })
}

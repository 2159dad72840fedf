import { configAddress, type CommandRow } from '@shardlab/actor'
import { CommandError, compareDocuments, DocumentWriter, findField, noCode } from '@shardlab/bson'
import { chunksNamespace, chunksOfFile, fileMd5Spec } from '@shardlab/member'
import type { Behaviours, ShardKeyPattern } from '@shardlab/sharding'
import type { MongosInvocation } from '../host/mongos-host.js'
import { configCommand, passThrough } from '../routing/primary.js'
import { routedCommand } from '../routing/route.js'
import { withRoute } from '../routing/stale-loop.js'
import { membersOfRead, noteRead } from '../routing/target-read.js'

export const fileMd5: CommandRow<MongosInvocation> = {
  ...fileMd5Spec,
  routing: 'shard-key',
  status: 'partial',
  missing: 'partialOk, and files whose chunks are on several shards',
  summary: 'Returns the MD5 hash of a file of GridFS.',
  run(invocation) {
    const { args, body, db, host } = invocation
    const ns = chunksNamespace(args, db)
    return withRoute(invocation, ns, false, async (route) => {
      if (route.kind === 'missing') throw new CommandError('NamespaceNotFound', `database ${db} not found`)
      if (route.kind === 'config') return passThrough(invocation, configAddress, configCommand(invocation), false)
      if (route.kind === 'sharded') checkKey(route.placement.shardKey, host.behaviours)
      const filter = new DocumentWriter(160).document('filter', chunksOfFile(args).finish()).finish()
      const { members, to } = membersOfRead(invocation, ns, route, findField(filter, 'filter'), simpleCollation)
      if (members.length > 1)
        throw new CommandError('CommandNotSupported', 'filemd5 of a file on several shards is not supported')
      noteRead(invocation, to)
      return passThrough(invocation, members[0]!, routedCommand(invocation, route, members[0]!, body), false)
    })
  },
}

const simpleCollation = new DocumentWriter(32).string('locale', 'simple').finish()
const keys = [
  new DocumentWriter(32).int32('files_id', 1).finish(),
  new DocumentWriter(32).int32('files_id', 1).int32('n', 1).finish(),
]

/** @throws CommandError 20 IllegalOperation; until 4.0 without a code */
function checkKey({ document }: ShardKeyPattern, { gridFsKeyErrorHasCode }: Behaviours): void {
  if (keys.some((key) => compareDocuments(key, document) === 0)) return
  const text = 'GridFS fs.chunks collection must be sharded on either {files_id:1} or {files_id:1, n:1}'
  throw gridFsKeyErrorHasCode ? new CommandError('IllegalOperation', `The ${text}`) : new CommandError(noCode, text)
}

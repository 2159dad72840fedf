import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'
import { mapReducePrivileges } from '../access/definition-privileges.js'

/** Server: expression_context.h, getJsExecWithScope. */
export const mapReduce: CommandRow<MemberInvocation> = {
  name: 'mapReduce',
  aliases: ['mapreduce'],
  routing: 'shard-key',
  access: 'read',
  privileges: mapReducePrivileges,
  manual: 'reference/command/mapReduce',
  status: 'partial',
  deviations: ['D704'],
  missing: 'everything, as a server started with --noscripting does',
  summary: 'Map-reduce aggregation; refused.',
  run: () => {
    throw new CommandError(31264, 'Cannot run server-side javascript without the javascript engine enabled')
  },
}

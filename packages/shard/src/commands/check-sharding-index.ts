import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, isEmptyDocument, noCode } from '@shardlab/bson'
import { namespaceArgument, onNamedNamespace } from '@shardlab/member'
import { type NodeInvocation } from '@shardlab/node'
import { isIdPattern, shardingIndexProblem } from '../shard-key/shard-key-index.js'

/** Server: check_sharding_index_command.cpp. */
export const checkShardingIndex: CommandRow<NodeInvocation> = {
  name: 'checkShardingIndex',
  routing: 'local',
  access: 'admin',
  privileges: onNamedNamespace('find'),
  manual: 'reference/command/checkShardingIndex',
  status: 'full',
  summary: 'Checks that a collection has an index that supports a shard key.',
  async run(invocation) {
    const { args, host } = invocation
    const ns = namespaceArgument(args)
    const argument = args.value('keyPattern')
    const keyPattern = argument?.type === BsonType.object ? argument.slice() : null
    if (keyPattern === null || isEmptyDocument(keyPattern))
      throw new CommandError(noCode, 'no key pattern found in checkShardingindex')
    if (isIdPattern(keyPattern)) return new DocumentWriter(32).bool('idskip', true)
    await host.role.enter(ns, invocation)
    const problem = shardingIndexProblem(host.behaviours, host.collection(ns), keyPattern)
    if (problem === null) return new DocumentWriter(32)
    throw new CommandError(noCode, problem)
  },
}

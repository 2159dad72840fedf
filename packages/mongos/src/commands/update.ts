import type { CommandRow } from '@shardlab/actor'
import { checkStages, updateSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { sampleWrites } from '../query-analysis/sampled-writes.js'
import { runMovingDocuments } from '../writes/single-document/run-converted.js'
import { parseWriteCommand } from '../writes/write-command.js'

export const update: CommandRow<MongosInvocation> = {
  ...updateSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D404', 'D504', 'D896'],
  summary: 'Updates, replaces or upserts documents; moves those whose new shard key value belongs to another shard.',
  async run(invocation) {
    const command = parseWriteCommand(invocation, 'update')
    invocation.host.statistics.opcounters.update += command.statements.length
    const { executor, reply } = await runMovingDocuments(invocation, sampleWrites(invocation, command))
    if (executor.failed) checkStages(command.statements, executor.evaluation)
    return reply
  },
}

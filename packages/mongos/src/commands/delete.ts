import type { CommandRow } from '@shardlab/actor'
import { deleteSpec } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { sampleWrites } from '../query-analysis/sampled-writes.js'
import { BatchWriteExecutor } from '../writes/batch/batch-write-executor.js'
import { parseWriteCommand } from '../writes/write-command.js'

export const deleteCommand: CommandRow<MongosInvocation> = {
  ...deleteSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D404', 'D504', 'D896'],
  summary: 'Deletes documents on the shards that have them.',
  run(invocation) {
    const command = parseWriteCommand(invocation, 'delete')
    invocation.host.statistics.opcounters.delete += command.statements.length
    return new BatchWriteExecutor(invocation, sampleWrites(invocation, command)).run()
  },
}

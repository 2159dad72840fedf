import type { CommandRow } from '@shardlab/actor'
import type { MongosInvocation } from '../command/invocation.js'
import { sampleWrites } from '../query-analysis/sampled-writes.js'
import { BatchWriteExecutor } from '../writes/batch-write-executor.js'
import { parseWriteCommand } from '../writes/write-command.js'

export const deleteCommand: CommandRow<MongosInvocation> = {
  name: 'delete',
  routing: 'shard-key',
  access: 'write',
  apiVersion1: true,
  manual: 'reference/command/delete',
  status: 'full',
  summary: 'Deletes documents where they are.',
  retryable: true,
  fields: { deletes: 'array!', ordered: 'bool', let: 'object', collectionUUID: 'binary' },
  run(invocation) {
    const command = parseWriteCommand(invocation, 'delete')
    invocation.host.statistics.opcounters.delete += command.statements.length
    return new BatchWriteExecutor(invocation, sampleWrites(invocation, command)).run()
  },
}

import type { CommandRow } from '@shardlab/actor'
import type { MongosInvocation } from '../command/invocation.js'
import { sampleWrites } from '../query-analysis/sampled-writes.js'
import { BatchWriteExecutor } from '../writes/batch-write-executor.js'
import { parseWriteCommand } from '../writes/write-command.js'

export const update: CommandRow<MongosInvocation> = {
  name: 'update',
  routing: 'shard-key',
  access: 'write',
  apiVersion1: true,
  manual: 'reference/command/update',
  status: 'full',
  summary: 'Updates, replaces or upserts documents where they are, and moves those whose shard key value asks for it.',
  retryable: true,
  fields: {
    updates: 'array!',
    ordered: 'bool',
    bypassDocumentValidation: 'bool',
    bypassEmptyTsReplacement: 'bool',
    let: 'object',
    collectionUUID: 'binary',
  },
  run(invocation) {
    const command = parseWriteCommand(invocation, 'update')
    invocation.host.statistics.opcounters.update += command.statements.length
    return new BatchWriteExecutor(invocation, sampleWrites(invocation, command)).run()
  },
}

import type { CommandRow } from '@shardlab/actor'
import { insertSpec, insertsIndex } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { BatchWriteExecutor } from '../writes/batch/batch-write-executor.js'
import { insertIndex } from '../writes/insert-index.js'
import { withId } from '../writes/document-ids.js'
import { parseWriteCommand, withStatements, type WriteCommand } from '../writes/write-command.js'

export const insert: CommandRow<MongosInvocation> = {
  ...insertSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D404', 'D895', 'D896'],
  summary: 'Inserts each document on the shard that owns its shard key.',
  run(invocation) {
    if (insertsIndex(invocation)) return insertIndex(invocation)
    const command = parseWriteCommand(invocation, 'insert')
    invocation.host.statistics.opcounters.insert += command.statements.length
    return new BatchWriteExecutor(invocation, withIds(invocation, command)).run()
  },
}

function withIds({ host }: MongosInvocation, command: WriteCommand): WriteCommand {
  let statements: Uint8Array[] | null = null
  command.statements.forEach((document, index) => {
    const fixed = withId(host, document)
    if (fixed === document) return
    statements ??= [...command.statements]
    statements[index] = fixed
  })
  return statements === null ? command : withStatements(command, statements)
}

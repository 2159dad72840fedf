import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, findField } from '@shardlab/bson'
import type { MongosInvocation } from '../command/invocation.js'
import { BatchWriteExecutor } from '../writes/batch-write-executor.js'
import { parseWriteCommand, type WriteCommand } from '../writes/write-command.js'

export const insert: CommandRow<MongosInvocation> = {
  name: 'insert',
  routing: 'shard-key',
  access: 'write',
  manual: 'reference/command/insert',
  status: 'full',
  summary: 'Inserts each document on the shard that owns its shard key.',
  retryable: true,
  fields: {
    documents: 'array!',
    ordered: 'bool',
    bypassDocumentValidation: 'bool',
    bypassEmptyTsReplacement: 'bool',
    encryptionInformation: 'object',
    timeseries: 'any',
  },
  run(invocation) {
    const command = parseWriteCommand(invocation, 'insert')
    invocation.host.statistics.opcounters.insert += command.statements.length
    return new BatchWriteExecutor(invocation, withIds(invocation, command)).run()
  },
}

/** The router gives an `_id` to documents without one, so that a retry inserts the same document again. */
function withIds({ host }: MongosInvocation, command: WriteCommand): WriteCommand {
  let statements: Uint8Array[] | null = null
  command.statements.forEach((document, index) => {
    if (startsWithId(document) || findField(document, '_id') !== undefined) return
    statements ??= [...command.statements]
    statements[index] = new DocumentWriter(document.length + 32).objectId('_id', host.newObjectId()).fields(document).finish()
  })
  return statements === null ? command : { ...command, statements, untouched: false }
}

function startsWithId(document: Uint8Array): boolean {
  return document[5] === 0x5f && document[6] === 0x69 && document[7] === 0x64 && document[8] === 0
}

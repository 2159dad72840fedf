import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { readModify, type DeleteStatement, deleteSpec } from '@shardlab/member'
import { runWriteBatch } from '../write/write-batch.js'
import { prepareDelete } from '../write/write-delete.js'
import type { NodeInvocation } from '../host/node-host.js'

export const deleteCommand: CommandRow<NodeInvocation> = {
  ...deleteSpec,
  routing: 'shard-key',
  status: 'full',
  summary: 'Deletes one or all documents that match each statement.',
  async run(invocation) {
    const { host } = invocation
    let deleted = 0
    const tail = await runWriteBatch(invocation, {
      kind: 'delete',
      run(statement, _index, scope, session) {
        host.opcounters.delete++
        deleted += prepareDelete(scope, readModify('delete', statement) as DeleteStatement).run(session).deleted
      },
      repeat: () => void deleted++,
    })
    return tail(new DocumentWriter(256).int32('n', deleted))
  },
}

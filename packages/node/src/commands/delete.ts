import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import { readModify, type DeleteStatement, deleteSpec } from '@shardlab/member'
import { runWriteBatch } from '../write/write-batch.js'
import { prepareDelete, type DeleteOutcome } from '../write/write-delete.js'
import type { NodeInvocation } from '../host/node-host.js'

export const deleteCommand: CommandRow<NodeInvocation> = {
  ...deleteSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D404', 'D504', 'D896'],
  summary: 'Deletes one or all documents that match each statement.',
  async run(invocation) {
    const { host } = invocation
    let deleted = 0
    const count = (outcome: DeleteOutcome): void => {
      deleted += outcome.deleted
    }
    const tail = await runWriteBatch(invocation, {
      kind: 'delete',
      run(statement, _index, scope, session) {
        host.opcounters.delete++
        const deleting = prepareDelete(scope, readModify('delete', statement) as DeleteStatement).run(session)
        if (deleting instanceof Promise) return deleting.then(count)
        return count(deleting)
      },
      repeat: () => void deleted++,
    })
    return tail(new DocumentWriter(256).int32('n', deleted))
  },
}

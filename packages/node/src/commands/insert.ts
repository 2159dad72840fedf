import type { CommandRow } from '@shardlab/actor'
import { insertSpec } from '@shardlab/member'
import { DocumentWriter } from '@shardlab/bson'
import { fixDocumentForInsert } from '../write/fix-document.js'
import { insertRun } from '../write/insert-run.js'
import { runWriteBatch } from '../write/write-batch.js'
import { insertDocument } from '../write/write-insert.js'
import type { NodeInvocation } from '../host/node-host.js'

export const insert: CommandRow<NodeInvocation> = {
  ...insertSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D895'],
  summary: 'Inserts documents.',
  async run(invocation) {
    const { host } = invocation
    let inserted = 0
    const tail = await runWriteBatch(invocation, {
      kind: 'insert',
      run(statement, _index, scope, session) {
        host.opcounters.insert++
        insertDocument(scope, fixDocumentForInsert(host, statement, scope), session)
        inserted++
      },
      runMany(statements, from, limit, scope) {
        const done = insertRun(scope, statements, from, limit, invocation.retryable)
        host.opcounters.insert += done
        inserted += done
        return done
      },
      repeat: () => void inserted++,
    })
    return tail(new DocumentWriter(256).int32('n', inserted))
  },
}

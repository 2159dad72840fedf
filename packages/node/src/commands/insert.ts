import type { CommandRow } from '@shardlab/actor'
import { asCreateIndexes, indexesCreated, insertsIndex, insertSpec } from '@shardlab/member'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { fixDocumentForInsert } from '../write/fix-document.js'
import { insertRun } from '../write/insert-run.js'
import { failsBatch } from '../write/fails-batch.js'
import { writeWriteErrors } from '../write/write-errors.js'
import { runWriteBatch } from '../write/write-batch.js'
import { insertDocument } from '../write/write-insert.js'
import type { NodeInvocation } from '../host/node-host.js'
import { createIndexes } from './create-indexes.js'

export const insert: CommandRow<NodeInvocation> = {
  ...insertSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D404', 'D895', 'D896'],
  summary: 'Inserts documents.',
  async run(invocation) {
    if (insertsIndex(invocation)) return insertIndex(invocation)
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

async function insertIndex(invocation: NodeInvocation): Promise<DocumentWriter> {
  const { host } = invocation
  const inner = asCreateIndexes(invocation)
  host.opcounters.insert++
  try {
    const reply = await createIndexes.run(inner)
    return new DocumentWriter(128).int32('n', indexesCreated(reply.finish()))
  } catch (error) {
    if (!(error instanceof CommandError) || failsBatch(error)) throw error
    const writer = new DocumentWriter(256).int32('n', 0)
    writeWriteErrors(writer, [{ index: 0, error }], host.behaviours.writeErrorMessageFirst)
    return writer
  }
}

import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, findField } from '@shardlab/bson'
import { fixDocumentForInsert } from '../crud/fix-document.js'
import { collectionForWrite } from '../crud/namespace.js'
import { runWriteBatch } from '../crud/write-batch.js'
import type { NodeInvocation } from '../invocation.js'

export const insert: CommandRow<NodeInvocation> = {
  name: 'insert',
  routing: 'shard-key',
  access: 'write',
  manual: 'reference/command/insert',
  status: 'partial',
  missing: 'validators',
  summary: 'Inserts documents.',
  retryable: true,
  fields: {
    documents: 'array!',
    ordered: 'bool',
    bypassDocumentValidation: 'bool',
    bypassEmptyTsReplacement: 'bool',
    encryptionInformation: 'object',
    timeseries: 'any',
  },
  async run(invocation) {
    const { host } = invocation
    let inserted = 0
    const tail = await runWriteBatch(invocation, {
      kind: 'insert',
      run(statement, _index, { ns }, session) {
        host.opcounters.insert++
        const document = fixDocumentForInsert(host, statement)
        const collection = collectionForWrite(invocation, ns)
        host.apply({ op: 'i', ns, uuid: collection.uuid, object: document, id: findField(document, '_id')!, session })
        inserted++
      },
      repeat: () => void inserted++,
    })
    return tail(new DocumentWriter(256).int32('n', inserted))
  },
}

import type { CommandRow } from '@shardlab/actor'
import { documentValue, DocumentWriter, FieldIterator, findField } from '@shardlab/bson'
import { bulkWriteSpec, type BulkWriteOp } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { sampleWrites } from '../query-analysis/sampled-writes.js'
import { withId } from '../writes/document-ids.js'
import { runMovingDocuments } from '../writes/single-document/run-converted.js'
import { parseBulkWrite } from '../writes/write-command.js'

export const bulkWrite: CommandRow<MongosInvocation> = {
  ...bulkWriteSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D504'],
  summary: 'Inserts, updates and deletes in several collections, on the shards of the documents.',
  async run(invocation) {
    const { host } = invocation
    const command = parseBulkWrite(invocation, (op) => withDocumentId(host, op))
    command.statements.forEach((_, index) => host.statistics.opcounters[command.kindOf(index)]++)
    return (await runMovingDocuments(invocation, sampleWrites(invocation, command))).reply
  },
}

function withDocumentId(host: MongosInvocation['host'], op: BulkWriteOp): BulkWriteOp {
  if (op.kind !== 'insert') return op
  const document = findField(op.document, 'document')!.slice()
  const fixed = withId(host, document)
  if (fixed === document) return op
  const writer = new DocumentWriter(op.document.length + 32)
  for (const it = new FieldIterator(op.document); it.next();)
    writer.value(it.name(), it.name() === 'document' ? documentValue(fixed) : it.value())
  return { ...op, document: writer.finish() }
}

import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import { executePlan, planQuery, type LogSession } from '@shardlab/storage'
import { hintOf } from '../crud/hint.js'
import { parseStatement } from '../crud/statement.js'
import { runWriteBatch, type BatchTarget } from '../crud/write-batch.js'
import type { NodeInvocation } from '../invocation.js'

export const deleteCommand: CommandRow<NodeInvocation> = {
  name: 'delete',
  routing: 'shard-key',
  access: 'write',
  manual: 'reference/command/delete',
  status: 'partial',
  missing: 'collation',
  summary: 'Deletes one or all documents that match each statement.',
  retryable: true,
  fields: { deletes: 'array!', ordered: 'bool', let: 'object' },
  async run(invocation) {
    const { host } = invocation
    let deleted = 0
    const tail = await runWriteBatch(invocation, {
      kind: 'delete',
      run(statement, _index, target, session) {
        host.opcounters.delete++
        deleted += deleteMatching(invocation, statement, target, session)
      },
      repeat: () => void deleted++,
    })
    return tail(new DocumentWriter(256).int32('n', deleted))
  },
}

function deleteMatching(
  { host, retryable }: NodeInvocation,
  statement: Uint8Array,
  { ns, access }: BatchTarget,
  session: LogSession | null,
): number {
  const args = parseStatement('delete', statement)
  const limit = args.number('limit')!
  if (limit === 0 && retryable !== null) throw new CommandError('InvalidOptions', 'Cannot use (or request) retryable writes with limit=0')
  if (args.has('collation')) throw new CommandError('InvalidOptions', 'collation is not supported in delete')
  const collection = host.collection(ns)
  if (collection === undefined) return 0
  const filter = compileFilter(args.document('q')!, host.evaluation())
  const ownership = access.ownership
  const executor = executePlan(
    planQuery(collection, { filter, ...hintOf(args), ...(limit === 1 ? { limit: 1 } : {}) }),
    ownership === null ? {} : { rowFilter: (document) => ownership.owns(document) },
  )
  const victims: Uint8Array[] = []
  for (let record = executor.next(); record !== null; record = executor.next()) {
    victims.push(record.document)
    if (limit === 1) break
  }
  for (const document of victims) {
    const id = findField(document, '_id')!
    host.apply({
      op: 'd',
      ns,
      uuid: collection.uuid,
      object: new DocumentWriter(64).value('_id', id).finish(),
      id,
      session,
    })
  }
  return victims.length
}

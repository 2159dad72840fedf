import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, type RawValue } from '@shardlab/bson'
import { readModify, type UpdateStatement, updateSpec } from '@shardlab/member'
import { runWriteBatch } from '../write/write-batch.js'
import { prepareUpdate, type UpdateOutcome } from '../write/write-update.js'
import type { NodeInvocation } from '../host/node-host.js'

export const update: CommandRow<NodeInvocation> = {
  ...updateSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D404', 'D504', 'D896'],
  summary: 'Updates, replaces or upserts documents.',
  async run(invocation) {
    const { host } = invocation
    const upserted: { index: number; id: RawValue }[] = []
    let matched = 0
    let modified = 0
    const count = (index: number, outcome: Pick<UpdateOutcome, 'matched' | 'modified' | 'upsertedId'>) => {
      matched += outcome.matched
      modified += outcome.modified
      if (outcome.upsertedId !== null) upserted.push({ index, id: outcome.upsertedId })
    }
    const tail = await runWriteBatch(invocation, {
      kind: 'update',
      run(statement, index, scope, session) {
        host.opcounters.update++
        const updating = prepareUpdate(scope, readModify('update', statement) as UpdateStatement).run(session)
        if (updating instanceof Promise) return updating.then((outcome) => count(index, outcome))
        return count(index, updating)
      },
      repeat({ op, insertedId }, index) {
        const changed = op === 'u' ? 1 : 0
        count(index, { matched: changed, modified: changed, upsertedId: insertedId })
      },
    })
    const writer = new DocumentWriter(256).int32('n', matched + upserted.length).int32('nModified', modified)
    if (upserted.length > 0) {
      writer.startArray('upserted')
      upserted.forEach(({ index, id }, i) =>
        writer.startDocument(String(i)).int32('index', index).value('_id', id).end(),
      )
      writer.end()
    }
    return tail(writer)
  },
}

import { BsonType, decode, encode, findField, type Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

/** @param path of a field that is null in the command */
async function runWithUndefined(it: NodeUnderTest, command: Document, path: string): Promise<Document> {
  const sent = it.command(command)
  const body = encode(command)
  let document = { bytes: body, start: 0 }
  const names = path.split('.')
  for (const name of names) document = findField(document.bytes, name, document.start)!
  body[document.start - names.at(-1)!.length - 2] = BsonType.undefined
  return decode((await it.node.nodeCommand({ ...sent, body })).body)
}

t.test('undefined as the value of an argument counts as absent, like null', async (t) => {
  const it = new NodeUnderTest()
  await it.ok({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }] })
  const table: [command: Document, path: string, expected: Document][] = [
    [{ dbStats: 1, scale: null }, 'scale', { ok: 1 }],
    [{ find: 'c', limit: null }, 'limit', { cursor: { firstBatch: [{ _id: 1 }, { _id: 2 }] } }],
    [{ find: 'c', filter: null }, 'filter', { cursor: { firstBatch: [{ _id: 1 }, { _id: 2 }] } }],
    [{ aggregate: 'c', pipeline: [], cursor: { batchSize: null } }, 'cursor.batchSize', { ok: 1 }],
    [{ aggregate: 'c', pipeline: null, cursor: {} }, 'pipeline', { code: 40414 }],
    [{ update: 'c', updates: [{ q: { _id: 9 }, u: { $set: { a: 1 } }, upsert: null }] }, 'updates.0.upsert', { n: 0 }],
    [{ update: 'c', updates: [{ q: { _id: 9 }, u: { $set: { a: 1 } }, hint: null }] }, 'updates.0.hint', { n: 0 }],
    [{ delete: 'c', deletes: [{ q: { _id: 9 }, limit: null }] }, 'deletes.0.limit', { code: 40414 }],
    [{ findAndModify: 'c', query: { _id: 9 }, remove: true, sort: null }, 'sort', { ok: 1, value: null }],
    [{ collStats: 'c', scale: null }, 'scale', { ok: 1 }],
    [{ create: 'd', capped: null }, 'capped', { ok: 1 }],
  ]
  for (const [command, path, expected] of table)
    t.match(await runWithUndefined(it, command, path), expected, `${JSON.stringify(command)}, ${path}`)
})

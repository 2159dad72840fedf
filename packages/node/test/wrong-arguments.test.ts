import t from 'tap'
import { Long } from '@shardlab/bson'
import { NodeUnderTest } from './support/harness.js'

t.test('invalid cursor arguments are refused', async (t) => {
  const it = new NodeUnderTest()
  await it.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const aggregate = { aggregate: 'c', pipeline: [] }
  t.match(await it.run({ ...aggregate, cursor: 1 }), { code: 14, errmsg: 'cursor field must be missing or an object' })
  t.match(await it.run({ ...aggregate, cursor: { size: 1 } }), {
    code: 40415,
    errmsg: "BSON field 'cursor.size' is an unknown field.",
  })
  t.match(await it.run({ ...aggregate, cursor: { batchSize: 'x' } }), {
    code: 14,
    errmsg: "BSON field 'cursor.batchSize' is the wrong type 'string', expected types '[long, int, decimal, double]'",
  })
  t.match(await it.run({ ...aggregate, cursor: { batchSize: -1 } }), {
    code: 51024,
    errmsg: "BSON field 'batchSize' value must be >= 0, actual value '-1'",
  })
  t.match(await it.run({ listIndexes: 'c', cursor: { size: 1 } }), {
    code: 40415,
    errmsg: "BSON field 'listIndexes.cursor.size' is an unknown field.",
  })
  t.match(await it.run({ ...aggregate, cursor: { batchSize: 2 } }), { ok: 1 })
})

t.test('invalid namespaces of cursor commands are refused', async (t) => {
  const it = new NodeUnderTest()
  const cursors = [Long.fromNumber(7)]
  t.match(await it.run({ killCursors: 1, cursors }), { ok: 0, errmsg: 'collection name has invalid type int' })
  t.match(await it.run({ killCursors: '', cursors }), { code: 73 })
  t.match(await it.run({ getMore: cursors[0], collection: '' }), {
    code: 73,
    errmsg: 'Invalid namespace for getMore: test.',
  })
})

t.test('a command with help: true returns its help and does nothing', async (t) => {
  const it = new NodeUnderTest()
  await it.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const reply = await it.ok({ drop: 'c', help: true })
  t.match(reply, { help: /^help for: drop ./, ok: 1 })
  t.match(await it.run({ find: 1, help: 1 }), { help: /^help for: find ./, ok: 1 })
  t.equal((await it.ok({ count: 'c', help: false }))['n'], 1, 'nothing was dropped')
})

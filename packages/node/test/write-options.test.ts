import type { Document } from '@shardlab/bson'
import t from 'tap'
import type { EmulatedVersion } from '@shardlab/sharding'
import { NodeUnderTest } from './support/harness.js'

const filled = async (version: EmulatedVersion = '8.0', options: Document = {}) => {
  const node = new NodeUnderTest({ version })
  await node.ok({ create: 'c', ...options })
  await node.ok({
    insert: 'c',
    documents: [
      { _id: 1, s: 'a', n: 3 },
      { _id: 2, s: 'A', n: 1 },
      { _id: 3, s: 'b', n: 2 },
    ],
  })
  return node
}
const firstError = (reply: Document) => (reply['writeErrors'] as Document[])[0]!
const caseless = { locale: 'en', strength: 2 }

t.test('a statement uses its own collation or that of the collection', async (t) => {
  const node = await filled()
  const update = (statement: Document) => node.ok({ update: 'c', updates: [statement] })
  t.match(await update({ q: { s: 'A' }, u: { $set: { x: 1 } }, multi: true, collation: caseless }), { n: 2 })
  t.match(await update({ q: { s: 'A' }, u: { $set: { y: 1 } }, multi: true }), { n: 1 })
  t.match(await node.ok({ delete: 'c', deletes: [{ q: { s: 'B' }, limit: 1, collation: caseless }] }), { n: 1 })
  const folded = await filled('8.0', { collation: caseless })
  t.match(await folded.ok({ update: 'c', updates: [{ q: { s: 'A' }, u: { $set: { x: 1 } }, multi: true }] }), { n: 2 })
  t.match(
    await folded.ok({
      update: 'c',
      updates: [{ q: { s: 'A' }, u: { $set: { x: 2 } }, multi: true, collation: { locale: 'simple' } }],
    }),
    { n: 1 },
  )
})

t.test('updateOne sorts since 8.0', async (t) => {
  const node = await filled()
  await node.ok({ update: 'c', updates: [{ q: {}, u: { $set: { first: true } }, sort: { n: 1 } }] })
  t.match(await node.all('c'), [{ first: undefined }, { first: true }, { first: undefined }])
  t.match(await node.run({ update: 'c', updates: [{ q: {}, u: { $set: { a: 1 } }, sort: { n: 1 }, multi: true }] }), {
    ok: 0,
    code: 9,
    errmsg: 'Cannot specify sort with multi=true',
  })
  t.match(
    await (await filled('7.0')).run({ update: 'c', updates: [{ q: {}, u: { $set: { a: 1 } }, sort: { n: 1 } }] }),
    {
      code: 40415,
      errmsg: "BSON field 'update.updates.sort' is an unknown field.",
    },
  )
})

t.test('a field twice in a statement or in the options of a cursor is refused', async (t) => {
  const node = await filled()
  const update = { update: 'c', updates: [{ q: {}, u: { $set: { n: 9 } }, multi: false, multx: true }] }
  t.match(await node.renamed(update, 'multx', 'multi'), {
    code: 40413,
    errmsg: "BSON field 'update.updates.multi' is a duplicate field",
  })
  const aggregate = { aggregate: 'c', pipeline: [], cursor: { batchSize: 1, batchSizx: 2 } }
  t.match(await node.renamed(aggregate, 'batchSizx', 'batchSize'), { code: 40413 })
  t.match(await node.all('c'), [{ n: 3 }, { n: 1 }, { n: 2 }], 'nothing has changed')
})

t.test('let and constants apply to filter and update', async (t) => {
  const node = await filled()
  t.match(
    await node.ok({
      update: 'c',
      updates: [{ q: { $expr: { $eq: ['$n', '$$two'] } }, u: [{ $set: { x: '$$c' } }], c: { c: 9 } }],
      let: { two: 2 },
    }),
    { n: 1, nModified: 1 },
  )
  t.match(
    await node.ok({ delete: 'c', deletes: [{ q: { $expr: { $eq: ['$x', '$$nine'] } }, limit: 0 }], let: { nine: 9 } }),
    { n: 1 },
  )
  t.match(firstError(await node.ok({ update: 'c', updates: [{ q: {}, u: { $set: { a: 1 } }, c: { k: 1 } }] })), {
    code: 51198,
  })
  t.match(await (await filled('4.4')).run({ delete: 'c', deletes: [{ q: {}, limit: 1 }], let: { a: 1 } }), {
    code: 40415,
    errmsg: "BSON field 'delete.let' is an unknown field.",
  })
  t.match(await (await filled('4.4')).run({ findAndModify: 'c', remove: true, let: { a: 1 } }), {
    code: 40415,
    errmsg: "BSON field 'let' is an unknown field.",
  })
})

t.test('a supplied document is upserted unchanged', async (t) => {
  const node = await filled()
  const upsert = (statement: Document) =>
    node.ok({ update: 'c', updates: [{ q: { _id: 50 }, u: [{ $set: { n: 0 } }], ...statement }] })
  t.match(await upsert({ upsert: true, upsertSupplied: true, c: { new: { _id: 50, v: 1 } } }), {
    n: 1,
    upserted: [{ _id: 50 }],
  })
  t.same((await node.all('c'))[3], { _id: 50, v: 1 })
  t.match(firstError(await upsert({ upsertSupplied: true })), { code: 9, errmsg: /non-upsert operation/ })
  t.match(firstError(await upsert({ upsert: true, upsertSupplied: true })), {
    code: 9,
    errmsg: /no document was supplied/,
  })
})

t.test('a supplied document takes the _id of the filter, and must not have another one', async (t) => {
  const node = await filled()
  const upsert = (q: Document, supplied: Document) =>
    node.ok({
      update: 'c',
      updates: [{ q, u: [{ $set: { n: 0 } }], upsert: true, upsertSupplied: true, c: { new: supplied } }],
    })
  t.match(await upsert({ _id: 60, n: -1 }, { v: 1 }), { upserted: [{ _id: 60 }] })
  t.same((await node.all('c'))[3], { _id: 60, v: 1 })
  t.match(firstError(await upsert({ _id: 61 }, { v: 1, _id: 62 })), {
    code: 66,
    errmsg: "After applying the update, the (immutable) field '_id' was found to have been altered to _id: 62",
  })
  t.match(await upsert({ v: 5 }, { _id: 63, v: 6 }), { upserted: [{ _id: 63 }] }, 'other fields may differ')
})

t.test('an upsert whose filter has only a part of _id cannot replace it or set it', async (t) => {
  const node = await filled()
  const upsert = (u: unknown) => node.ok({ update: 'c', updates: [{ q: { '_id.x': 7 }, u, upsert: true }] })
  const inexact = { code: 111, errmsg: "field at '_id' must be exactly specified, field at sub-path '_id.x'found" }
  t.match(firstError(await upsert({ v: 1 })), inexact)
  t.match(firstError(await upsert({ _id: { x: 7 }, v: 1 })), inexact)
  t.match(firstError(await upsert({ $set: { _id: { x: 7, y: 1 } } })), { code: 66 })
  t.match(firstError(await upsert({ $set: { '_id.y': 1 } })), { code: 66 })
  t.match(await upsert({ $set: { v: 1 } }), { upserted: [{ _id: { x: 7 } }] })
})

t.test('validators check inserts and updates', async (t) => {
  const node = await filled('8.0', { validator: { n: { $lt: 10 } } })
  t.match(firstError(await node.ok({ insert: 'c', documents: [{ _id: 9, n: 10 }] })), {
    index: 0,
    code: 121,
    errInfo: { failingDocumentId: 9 },
  })
  t.match(firstError(await node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { n: 11 } } }] })), {
    code: 121,
  })
  t.match(
    firstError(await node.ok({ update: 'c', updates: [{ q: { _id: 8 }, u: { $set: { n: 11 } }, upsert: true }] })),
    { code: 121 },
  )
  t.match(await node.run({ findAndModify: 'c', query: { _id: 1 }, update: { $set: { n: 11 } } }), { ok: 0, code: 121 })
  t.match(await node.ok({ insert: 'c', documents: [{ _id: 9, n: 10 }], bypassDocumentValidation: true }), { n: 1 })
  t.match(
    await node.ok({
      update: 'c',
      updates: [{ q: { _id: 1 }, u: { $set: { n: 11 } } }],
      bypassDocumentValidation: true,
    }),
    {
      nModified: 1,
    },
  )
})

t.test('writes to a view are refused', async (t) => {
  const node = await filled()
  await node.ok({ create: 'v', viewOn: 'c', pipeline: [] })
  const refused = { code: 166, errmsg: 'Namespace test.v is a view, not a collection' }
  t.match(firstError(await node.ok({ insert: 'v', documents: [{}] })), refused)
  t.match(firstError(await node.ok({ update: 'v', updates: [{ q: {}, u: { $set: { a: 1 } } }] })), refused)
  t.match(firstError(await node.ok({ delete: 'v', deletes: [{ q: {}, limit: 0 }] })), refused)
  t.match(await node.run({ findAndModify: 'v', remove: true }), { ok: 0, ...refused })
})

t.test('capped collections keep their limits', async (t) => {
  const node = await filled('8.0', { capped: true, size: 4096, max: 3 })
  await node.ok({ insert: 'c', documents: [{ _id: 4 }, { _id: 5 }] })
  const ids = async (member: NodeUnderTest) => (await member.all('c')).map(({ _id }) => _id)
  t.same(await ids(node), [3, 4, 5])
  t.same(await ids(node.restarted()), [3, 4, 5])
  t.match(firstError(await node.ok({ insert: 'c', documents: [{ _id: 6, x: 'x'.repeat(5000) }] })), {
    code: 2,
    errmsg: 'object to insert exceeds cappedMaxSize',
  })
  t.match(await node.ok({ delete: 'c', deletes: [{ q: { _id: 4 }, limit: 1 }] }), { n: 1 })
  t.match(await node.ok({ update: 'c', updates: [{ q: { _id: 3 }, u: { $set: { longer: 1 } } }] }), { nModified: 1 })
  const old = await filled('4.4', { capped: true, size: 4096 })
  t.match(firstError(await old.ok({ delete: 'c', deletes: [{ q: { _id: 1 }, limit: 1 }] })), {
    code: 20,
    errmsg: 'cannot remove from a capped collection: test.c',
  })
  t.match(firstError(await old.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { longer: 1 } } }] })), {
    code: 10003,
  })
  t.match(await old.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { n: 4 } } }] }), { nModified: 1 })
})

t.test('documents that are too large are refused', async (t) => {
  const node = await filled()
  const half = 'x'.repeat(8 * 1024 * 1024)
  const grow = (text: string) => node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $push: { l: text } } }] })
  await grow(half)
  t.match(firstError(await grow('x'.repeat(8 * 1024 * 1024 + 100))), {
    code: 17419,
    errmsg: 'Resulting document after update is larger than 16777216',
  })
  t.match(firstError(await grow('x'.repeat(9 * 1024 * 1024))), {
    code: 10334,
    errmsg:
      /^BSONObj size: \d+ \(0x[0-9A-F]+\) is invalid\. Size must be between 0 and 16793600\(16MB\) First element: _id: 1$/,
  })
  const upsert = { q: { _id: 70, a: half }, u: { $set: { b: 'x'.repeat(8 * 1024 * 1024) } }, upsert: true }
  t.match(firstError(await node.ok({ update: 'c', updates: [upsert] })), {
    code: 17420,
    errmsg: 'Document to upsert is larger than 16777216',
  })
})

t.test('names with a dollar sign are refused before 5.0', async (t) => {
  const old = await filled('4.4')
  t.match(firstError(await old.ok({ insert: 'c', documents: [{ _id: 9, $a: 1 }] })), {
    code: 2,
    errmsg: "Document can't have $ prefixed field names: $a",
  })
  t.match(await old.ok({ insert: 'c', documents: [{ _id: 9, a: { $a: 1 } }] }), { n: 1 })
  t.match(firstError(await old.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { a: [{ $a: 1 }] } }] })), {
    code: 52,
    errmsg: "The dollar ($) prefixed field '$a' in 'a.0.$a' is not valid for storage.",
  })
  t.match(await old.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { a: { $ref: 'c', $id: 1 } } }] }), {
    nModified: 1,
  })
  t.match(await (await filled()).ok({ insert: 'c', documents: [{ _id: 9, $a: 1 }] }), { n: 1 })
})

t.test('empty timestamps of the top level are replaced', async (t) => {
  const { Timestamp } = await import('@shardlab/bson')
  const node = await filled()
  const empty = new Timestamp({ t: 0, i: 0 })
  await node.ok({ insert: 'c', documents: [{ _id: 20, t: empty }] })
  await node.ok({ insert: 'c', documents: [{ _id: 21, t: empty }], bypassEmptyTsReplacement: true })
  await node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { t: empty } }] })
  await node.ok({ update: 'c', updates: [{ q: { _id: 2 }, u: { t: empty } }], bypassEmptyTsReplacement: true })
  const isEmpty = new Map(
    (await node.all('c')).map(({ _id, t: time }) => [_id, (time as typeof empty | undefined)?.equals(empty)]),
  )
  t.same([isEmpty.get(20), isEmpty.get(21), isEmpty.get(1), isEmpty.get(2)], [false, true, false, true])
})

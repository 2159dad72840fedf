import t from 'tap'
import { Long, type Document } from '@shardlab/bson'
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

t.test('a write to a name that no collection may have is refused before anything is written', async (t) => {
  const writes = (name: string): Document[] => [
    { insert: name, documents: [{ _id: 1 }] },
    { update: name, updates: [{ q: {}, u: { $set: { a: 1 } } }] },
    { delete: name, deletes: [{ q: {}, limit: 0 }] },
    { findAndModify: name, remove: true },
    { findAndModify: name, update: { $set: { a: 1 } } },
  ]
  const node = new NodeUnderTest()
  const refusals: [name: string, code: number, errmsg: string][] = [
    ['system.foobar', 73, 'Invalid system namespace: test.system.foobar'],
    ['foo$bar', 73, 'Invalid collection name: foo$bar'],
    ['a.system.b', 2, 'Invalid namespace: test.a.system.b'],
    ['system.profile', 73, 'cannot write to test.system.profile'],
    ['system.views', 73, 'cannot write to test.system.views'],
    ['c'.repeat(300), 73, `Fully qualified namespace is too long. Namespace: test.${'c'.repeat(300)} Max: 255`],
  ]
  for (const [name, code, errmsg] of refusals)
    for (const write of writes(name)) t.match(await node.run(write), { ok: 0, code, errmsg }, JSON.stringify(write))
  t.match(await node.run({ delete: 'system.foobar', deletes: [{ q: {}, limit: 0 }] }, { db: 'admin' }), { code: 73 })
  t.match(await node.run({ delete: 'system.users', deletes: [{ q: {}, limit: 0 }] }), { ok: 1, n: 0 })
  t.same((await node.ok({ listCollections: 1 }))['cursor'], {
    id: Long.ZERO,
    ns: 'test.$cmd.listCollections',
    firstBatch: [],
  })
  const older = new NodeUnderTest({ version: '4.4' })
  t.match(await older.run(writes('system.views')[2]!), { ok: 1, n: 0 }, 'clients before 5.0 write definitions of views')
  const newer = new NodeUnderTest({ version: '8.0' })
  const bulkWrite = {
    bulkWrite: 1,
    ops: [
      { delete: 0, filter: {} },
      { insert: 1, document: { _id: 1 } },
    ],
    nsInfo: [{ ns: 'test.system.foobar' }, { ns: 'test.c' }],
    ordered: false,
  }
  t.match(await newer.run(bulkWrite, { db: 'admin' }), {
    ok: 1,
    nErrors: 1,
    nInserted: 1,
    cursor: { firstBatch: [{ idx: 0, code: 73 }, { ok: 1 }] },
  })
})

t.test('ignoreUnknownIndexOptions removes unknown options of an index, since 4.2', async (t) => {
  const indexes = [{ key: { a: 1 }, name: 'a_1', safe: true, unique: true }]
  const node = new NodeUnderTest()
  t.match(await node.run({ createIndexes: 'c', indexes }), { code: 197 })
  await node.ok({ createIndexes: 'c', indexes, ignoreUnknownIndexOptions: true })
  const { firstBatch } = (await node.ok({ listIndexes: 'c' }))['cursor'] as { firstBatch: Document[] }
  t.same(firstBatch[1], { v: 2, key: { a: 1 }, name: 'a_1', unique: true })
  t.match(await node.run({ createIndexes: 'c', indexes, ignoreUnknownIndexOptions: false }), { code: 197 })
  const older = new NodeUnderTest({ version: '4.0' })
  t.match(await older.run({ createIndexes: 'c', indexes, ignoreUnknownIndexOptions: true }), {
    code: 2,
    errmsg: 'Invalid field specified for createIndexes command: ignoreUnknownIndexOptions',
  })
})

t.test('validate ignores unknown arguments', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  t.match(await node.run({ validate: 'c', scandata: true, full: false }), { ok: 1, valid: true })
})

t.test('getMore and killCursors ignore the read concern of their command', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [1, 2, 3].map((_id) => ({ _id })) })
  const opened = async () => ((await node.ok({ find: 'c', batchSize: 1 }))['cursor'] as { id: Long }).id
  for (const level of ['local', 'majority', 'linearizable', 'available', 'snapshot']) {
    const more = { getMore: await opened(), collection: 'c', batchSize: 1, readConcern: { level } }
    t.match(await node.run(more), { ok: 1, cursor: { nextBatch: [{ _id: 2 }] } }, level)
    const kill = { killCursors: 'c', cursors: [more.getMore], readConcern: { level } }
    t.match(await node.run(kill), { ok: 1, cursorsKilled: [more.getMore] }, level)
  }
  const older = new NodeUnderTest({ version: '4.0' })
  t.match(await older.run({ getMore: Long.ONE, collection: 'c', readConcern: { level: 'majority' } }), { code: 72 })
})

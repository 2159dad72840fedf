import { Binary, decode, Double, encode, Int32, Long, ObjectId, Timestamp, type Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest, shape } from './support/harness.js'

t.test('replies of writes have the types of the server', async (t) => {
  const node = new NodeUnderTest()
  t.equal(shape(await node.raw({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }] })), 'n:int ok:double')
  const duplicate = await node.raw({ insert: 'c', documents: [{ _id: 1 }] })
  t.equal(shape(duplicate), 'n:int writeErrors:array ok:double')
  t.equal(shape(duplicate, 'writeErrors.0'), 'index:int code:int errmsg:string keyPattern:object keyValue:object')
  const older = new NodeUnderTest({ version: '5.0' })
  await older.ok({ insert: 'c', documents: [{ _id: 1 }] })
  t.equal(
    shape(await older.raw({ insert: 'c', documents: [{ _id: 1 }] }), 'writeErrors.0'),
    'index:int code:int keyPattern:object keyValue:object errmsg:string',
    'up to 5.0 the message comes last',
  )
  t.equal(
    shape(await node.raw({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { a: 1 } } }] })),
    'n:int nModified:int ok:double',
  )
  const upsert = await node.raw({ update: 'c', updates: [{ q: { _id: 9 }, u: { $set: { a: 1 } }, upsert: true }] })
  t.equal(shape(upsert), 'n:int nModified:int upserted:array ok:double')
  t.equal(shape(upsert, 'upserted.0'), 'index:int _id:int')
  t.equal(shape(await node.raw({ delete: 'c', deletes: [{ q: {}, limit: 0 }] })), 'n:int ok:double')
})

t.test('replies of reads have the types of the server', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }, { _id: 3 }] })
  const find = await node.raw({ find: 'c', batchSize: 2 })
  t.equal(shape(find), 'cursor:object ok:double')
  t.equal(shape(find, 'cursor'), 'firstBatch:array id:long ns:string')
  const { id } = (decode(find) as { cursor: { id: Long } }).cursor
  t.equal(shape(await node.raw({ getMore: id, collection: 'c' }), 'cursor'), 'nextBatch:array id:long ns:string')
  t.equal(
    shape(await node.raw({ aggregate: 'c', pipeline: [], cursor: {} }), 'cursor'),
    'firstBatch:array id:long ns:string',
  )
  t.equal(shape(await node.raw({ count: 'c' })), 'n:int ok:double')
  t.equal(
    shape(await node.raw({ killCursors: 'c', cursors: [Long.fromNumber(5)] })),
    'cursorsKilled:array cursorsNotFound:array cursorsAlive:array cursorsUnknown:array ok:double',
  )
})

t.test('an error reply has ok, errmsg, code and codeName', async (t) => {
  const node = new NodeUnderTest()
  const reply = await node.raw({ find: 'c', filter: { a: { $nonsense: 1 } } })
  t.equal(shape(reply), 'ok:double errmsg:string code:int codeName:string')
  t.match(decode(reply), { ok: 0, code: 2, codeName: 'BadValue' })
})

t.test('invalid arguments are refused', async (t) => {
  const node = new NodeUnderTest()
  const cases: [Document, number, string][] = [
    [{ nonsense: 1 }, 59, 'unknown command'],
    [{ INSERT: 'c', documents: [] }, 59, 'names have a case'],
    [{ find: 'c', nonsense: 1 }, 40415, 'unknown argument'],
    [{ find: 'c', filter: 'x' }, 14, 'wrong type'],
    [{ find: 1 }, 73, 'collection name of another type'],
    [{ find: '' }, 73, 'empty name'],
    [{ find: 'c', limit: -1 }, 51024, 'negative limit'],
    [{ find: 'c', skip: -1 }, 51024, 'negative skip'],
    [{ find: 'c', batchSize: -1 }, 51024, 'negative batchSize'],
    [{ insert: 'c' }, 40414, 'missing argument'],
    [{ insert: 'c', documents: [] }, 16, 'empty batch'],
    [{ insert: 'c', documents: [1] }, 14, 'no document'],
    [{ update: 'c', updates: [] }, 16, 'empty batch'],
    [{ delete: 'c', deletes: [] }, 16, 'empty batch'],
    [{ aggregate: 'c', pipeline: [] }, 9, 'no cursor argument'],
    [{ aggregate: 'c', pipeline: [], cursor: { batchSize: -1 } }, 51024, 'negative batchSize'],
    [{ aggregate: 'c', pipeline: [{ $nonsense: 1 }], cursor: {} }, 40324, 'unknown stage'],
    [{ getMore: 5, collection: 'c' }, 14, 'cursor id that is no long'],
    [{ getMore: Long.fromNumber(5), collection: 'c' }, 43, 'unknown cursor'],
    [{ getMore: Long.fromNumber(5) }, 40414, 'no collection'],
    [{ killCursors: 'c', cursors: [5] }, 14, 'cursor id that is no long'],
    [{ listIndexes: 'c' }, 26, 'no collection'],
    [{ createIndexes: 'c', indexes: [] }, 2, 'no index'],
    [{ listDatabases: 1 }, 13, 'only on admin'],
    [{ insert: 'c', documents: [{}], txnNumber: Long.fromNumber(1) }, 72, 'a transaction number without a session'],
    [{ find: 'c', lsid: { id: 5 } }, 14, 'a session that is none'],
    [{ find: 'c', lsid: {} }, 40414, 'a session without id'],
  ]
  for (const [command, code, what] of cases) {
    const reply = await node.run(command)
    t.equal(reply['code'], code, `${what}: ${JSON.stringify(command)} ${String(reply['errmsg'])}`)
    t.equal(reply['ok'], 0)
  }
  t.same(
    await node.ok({ listDatabases: 1 }, { db: 'admin' }).then((reply) => reply['databases']),
    [],
    'nothing was created',
  )
})

t.test('refused statements are reported in writeErrors', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1, a: 1 }] })
  const cases: [Document, number][] = [
    [{ insert: 'c', documents: [{ _id: [1] }] }, 53],
    [{ insert: 'c', documents: [{ _id: /x/ }] }, 53],
    [{ insert: 'c', documents: [{ _id: { $a: 1 } }] }, 52],
    [{ update: 'c', updates: [{ q: {}, u: { b: 1 }, multi: true }] }, 9],
    [{ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { _id: 2 } } }] }, 66],
    [{ update: 'c', updates: [{ q: { _id: 1 }, u: { $nonsense: { a: 1 } } }] }, 9],
  ]
  for (const [command, code] of cases) {
    const reply = await node.ok(command)
    t.equal((reply['writeErrors'] as Document[])?.[0]?.['code'], code, JSON.stringify(command))
    t.equal(reply['n'], 0)
  }
  t.same(await node.all('c'), [{ _id: 1, a: 1 }])
})

t.test('a statement that cannot be parsed prevents the whole command', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }] })
  const good = { update: { q: { _id: 1 }, u: { $set: { a: 1 } } }, delete: { q: { _id: 1 }, limit: 1 } }
  const cases: ['update' | 'delete', Document, number, RegExp][] = [
    ['update', {}, 40414, /^BSON field 'update\.updates\.q' is missing but a required field$/],
    ['update', { q: {} }, 40414, /updates\.u' is missing/],
    [
      'update',
      { q: 1, u: {} },
      14,
      /^BSON field 'update\.updates\.q' is the wrong type 'int', expected type 'object'$/,
    ],
    ['update', { q: {}, u: 1 }, 9, /^Update argument must be either an object or an array$/],
    ['update', { q: {}, u: {}, multi: 'yes' }, 14, /updates\.multi/],
    ['update', { q: {}, u: {}, hint: 1 }, 9, /^Hint must be/],
    ['update', { q: {}, u: {}, foo: 1 }, 40415, /^BSON field 'update\.updates\.foo' is an unknown field\.$/],
    ['update', { q: {}, u: {}, $db: 'x' }, 40415, /updates\.\$db/],
    ['delete', { q: {} }, 40414, /deletes\.limit' is missing/],
    ['delete', { q: 1, limit: 1 }, 14, /deletes\.q/],
    ['delete', { q: {}, limit: 2 }, 9, /^The limit field in delete objects must be 0 or 1\. Got 2$/],
  ]
  for (const [kind, statement, code, errmsg] of cases) {
    const command = { [kind]: 'c', [`${kind}s`]: [good[kind], statement] }
    t.match(await node.run(command), { ok: 0, code, errmsg }, JSON.stringify(command))
  }
  t.same(await node.all('c'), [{ _id: 1 }, { _id: 2 }])
})

t.test('an ordered batch ends at its first error, an unordered one continues', async (t) => {
  const node = new NodeUnderTest()
  const documents = [{ _id: 1 }, { _id: 1 }, { _id: 2 }, { _id: 2 }, { _id: 3 }]
  const ordered = await node.ok({ insert: 'a', documents })
  t.equal(ordered['n'], 1)
  t.same(
    (ordered['writeErrors'] as Document[]).map((error) => error['index']),
    [1],
  )
  t.same(await node.all('a'), [{ _id: 1 }])
  const unordered = await node.ok({ insert: 'b', documents, ordered: false })
  t.equal(unordered['n'], 3)
  t.same(
    (unordered['writeErrors'] as Document[]).map((error) => error['index']),
    [1, 3],
  )
  t.same(await node.all('b'), [{ _id: 1 }, { _id: 2 }, { _id: 3 }])
  const updates = [
    { q: { _id: 1 }, u: { $set: { x: 1 } } },
    { q: { _id: 1 }, u: { $inc: { x: 'a' } } },
    { q: { _id: 2 }, u: { $set: { x: 1 } } },
  ]
  t.match(await node.ok({ update: 'b', updates }), { n: 1, nModified: 1, writeErrors: [{ index: 1, code: 14 }] })
  t.match(await node.ok({ update: 'b', updates: updates.toReversed(), ordered: false }), {
    n: 2,
    nModified: 1,
    writeErrors: [{ index: 1 }],
  })
})

t.test('duplicate key errors name index, pattern and value', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1, b: 1 }, name: 'a_1_b_1', unique: true }] })
  await node.ok({
    insert: 'c',
    documents: [
      { _id: 1, a: 1, b: 'x' },
      { _id: 2, a: 2, b: 'x' },
    ],
  })
  const expected = {
    code: 11000,
    keyPattern: { a: 1, b: 1 },
    keyValue: { a: 1, b: 'x' },
    errmsg: 'E11000 duplicate key error collection: test.c index: a_1_b_1 dup key: { a: 1, b: "x" }',
  }
  t.match(await node.ok({ insert: 'c', documents: [{ _id: 3, a: 1, b: 'x' }] }), {
    n: 0,
    writeErrors: [{ index: 0, ...expected }],
  })
  t.match(await node.ok({ update: 'c', updates: [{ q: { _id: 2 }, u: { $set: { a: 1 } } }] }), {
    n: 0,
    nModified: 0,
    writeErrors: [{ index: 0, ...expected }],
  })
  t.match(await node.ok({ update: 'c', updates: [{ q: { _id: 7 }, u: { $set: { a: 1, b: 'x' } }, upsert: true }] }), {
    n: 0,
    writeErrors: [{ index: 0, ...expected }],
  })
  t.match(await node.ok({ insert: 'c', documents: [{ _id: 1 }] }), {
    writeErrors: [
      {
        code: 11000,
        keyPattern: { _id: 1 },
        keyValue: { _id: 1 },
        errmsg: 'E11000 duplicate key error collection: test.c index: _id_ dup key: { _id: 1 }',
      },
    ],
  })
  t.equal((await node.ok({ count: 'c' }))['n'], 2)
  const build = await node.run({ createIndexes: 'c', indexes: [{ key: { b: 1 }, name: 'b_1', unique: true }] })
  t.equal(build['code'], 11000)
  t.equal(
    ((await node.ok({ listIndexes: 'c' }))['cursor'] as Document)['firstBatch'].length,
    2,
    'the index that failed is not there',
  )
})

t.test('documents are stored with _id first, generated if missing, and empty timestamps replaced', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({
    insert: 'c',
    documents: [
      { a: 1, _id: 5, b: 2 },
      { a: 1 },
      { _id: 6, t: new Timestamp({ t: 0, i: 0 }), n: { t: new Timestamp({ t: 0, i: 0 }) } },
    ],
  })
  const stored = await node.all('c')
  t.same(Object.keys(stored[0]!), ['_id', 'a', 'b'])
  const made = stored.find((document) => document['_id'] instanceof ObjectId)!
  t.same(Object.keys(made), ['_id', 'a'])
  t.equal((made['_id'] as ObjectId).getTimestamp().getTime(), node.context.nowMs)
  const stamped = stored.find((document) => document['_id'] === 6)!
  t.ok((stamped['t'] as Timestamp).t > 0, 'at the top level')
  t.equal((stamped['n'] as { t: Timestamp }).t.t, 0, 'but not below it')
  const exact = { _id: 7, d: new Double(1), l: Long.fromNumber(2), i: new Int32(3), x: new Binary(Buffer.from('z'), 5) }
  await node.ok({ insert: 'c', documents: [exact] })
  t.same(
    await node
      .raw({ find: 'c', filter: { _id: 7 }, limit: 1 })
      .then((reply) => Buffer.from(reply).includes(Buffer.from(encode(exact)))),
    true,
    'bytes are kept',
  )
})

t.test('documents may come as a sequence', async (t) => {
  const node = new NodeUnderTest()
  t.equal((await node.ok({ insert: 'c' }, { sequences: [['documents', [{ _id: 1 }, { _id: 2 }]]] }))['n'], 2)
  t.equal(
    (await node.ok({ update: 'c' }, { sequences: [['updates', [{ q: { _id: 1 }, u: { $set: { a: 1 } } }]]] }))[
      'nModified'
    ],
    1,
  )
  t.equal((await node.ok({ delete: 'c' }, { sequences: [['deletes', [{ q: { a: 1 }, limit: 1 }]]] }))['n'], 1)
})

t.test('documents and batches that are too large are refused', async (t) => {
  const node = new NodeUnderTest()
  const half = 'x'.repeat(9 * 1024 * 1024)
  t.match(await node.ok({ insert: 'c', documents: [{ _id: 1, a: half, b: half }] }), {
    n: 0,
    writeErrors: [{ code: 2 }],
  })
  await node.ok({ insert: 'c', documents: [{ _id: 2, a: half }] })
  t.match(await node.ok({ update: 'c', updates: [{ q: { _id: 2 }, u: { $set: { b: half } } }] }), {
    n: 0,
    writeErrors: [{ code: 10334 }],
  })
  t.equal((await node.ok({ count: 'c', query: { b: { $exists: true } } }))['n'], 0)
})

t.test('updates match, modify and upsert', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({
    insert: 'c',
    documents: [
      { _id: 1, a: 1 },
      { _id: 2, a: 1 },
      { _id: 3, a: 2 },
    ],
  })
  t.match(
    await node.ok({ update: 'c', updates: [{ q: { a: 1 }, u: { $inc: { a: 1 } }, multi: true }] }),
    { n: 2, nModified: 2 },
    'a changed document is not met again',
  )
  t.match(await node.ok({ update: 'c', updates: [{ q: {}, u: { $set: { a: 2 } }, multi: true }] }), {
    n: 3,
    nModified: 0,
  })
  t.match(await node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { b: 1 } }] }), { n: 1, nModified: 1 })
  t.match(await node.ok({ update: 'c', updates: [{ q: { _id: 2 }, u: [{ $set: { c: '$a' } }] }] }), {
    n: 1,
    nModified: 1,
  })
  t.match(await node.ok({ update: 'missing', updates: [{ q: {}, u: { $set: { a: 1 } } }] }), { n: 0, nModified: 0 })
  t.same(await node.all('c'), [
    { _id: 1, b: 1 },
    { _id: 2, a: 2, c: 2 },
    { _id: 3, a: 2 },
  ])
  const upsert = await node.ok({ update: 'c', updates: [{ q: { x: 5 }, u: { $set: { y: 6 } }, upsert: true }] })
  t.equal(upsert['n'], 1)
  const { _id: id } = (upsert['upserted'] as { _id: ObjectId }[])[0]!
  t.ok(id instanceof ObjectId)
  t.same(((await node.ok({ find: 'c', filter: { _id: id } }))['cursor'] as Document)['firstBatch'], [
    { _id: id, x: 5, y: 6 },
  ])
})

t.test('count counts documents', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: Array.from({ length: 10 }, (_, i) => ({ _id: i, a: i % 2 })) })
  const n = async (rest: Document) => (await node.ok({ count: 'c', ...rest }))['n'] as number
  t.equal(await n({}), 10)
  t.equal(await n({ query: { a: 1 } }), 5)
  t.equal(await n({ skip: 3 }), 7)
  t.equal(await n({ skip: 30 }), 0)
  t.equal(await n({ query: { a: 1 }, limit: 3 }), 3)
  t.equal(await n({ query: { a: 1 }, limit: -3 }), 3)
  t.equal(await n({ query: { a: 1 }, skip: 4, limit: 3 }), 1)
  t.equal((await node.ok({ count: 'missing' }))['n'], 0)
})

t.test('a statement by _id alone equals the same statement with a longer filter', async (t) => {
  const [plain, spelt] = [new NodeUnderTest(), new NodeUnderTest()]
  const documents = [
    ...[
      1,
      2,
      3,
      'x',
      'X',
      null,
      new ObjectId('0'.repeat(24)),
      new Long(2n ** 53n + 1n),
      Number.NaN,
      true,
      { a: 1 },
    ].map((_id) => ({
      _id,
      n: 0,
      arr: [1, 2],
    })),
  ]
  const collation = { locale: 'en', strength: 2 }
  for (const node of [plain, spelt]) {
    await node.ok({ create: 'folded', collation })
    for (const name of ['c', 'folded'])
      await node.ok({ insert: name, documents: documents.filter(({ _id }) => name === 'c' || _id !== 'X') })
  }
  const ids = [...documents.map(({ _id }) => _id), 1.5, new Double(2), -0, 'y', false]
  const changes = [
    { $inc: { n: 1 } },
    { $set: { 'arr.$': 5 } },
    { $set: { n: 7 }, $setOnInsert: { made: true } },
    { n: 9 },
    { $set: { _id: 50 } },
    [{ $set: { n: { $add: ['$n', 1] } } }],
    { $nonsense: 1 },
  ]
  for (const name of ['c', 'folded', 'nothing']) {
    for (const _id of ids) {
      for (const u of changes) {
        for (const more of [{}, { upsert: true }, { multi: true }, { collation }, { hint: '_id_' }]) {
          const run = (node: NodeUnderTest, q: Document) => node.run({ update: name, updates: [{ q, u, ...more }] })
          const [a, b] = [await run(plain, { _id }), await run(spelt, { $and: [{ _id }] })]
          t.same(a, b, `${name} ${String(_id)} ${JSON.stringify([u, more])}`)
        }
      }
      for (const more of [{ limit: 1 }, { limit: 0, collation }]) {
        const run = (node: NodeUnderTest, q: Document) => node.run({ delete: name, deletes: [{ q, ...more }] })
        t.same(
          await run(plain, { _id }),
          await run(spelt, { $and: [{ _id }] }),
          `${name} ${String(_id)} ${JSON.stringify(more)}`,
        )
      }
    }
    const left = (node: NodeUnderTest) => node.run({ find: name, sort: { _id: 1 } })
    t.same(await left(plain), await left(spelt), name)
  }
})

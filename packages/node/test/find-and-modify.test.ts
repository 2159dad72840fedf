import type { Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { long, NodeUnderTest, session, shape } from './support/harness.js'

const filled = async (version?: EmulatedVersion) => {
  const node = new NodeUnderTest(version === undefined ? {} : { version })
  await node.ok({
    insert: 'c',
    documents: [
      { _id: 1, a: 3, s: 'b' },
      { _id: 2, a: 1, s: 'B' },
      { _id: 3, a: 2, s: 'a' },
    ],
  })
  return node
}

t.test('findAndModify updates, and returns the document before or after', async (t) => {
  const node = await filled()
  t.same(await node.ok({ findAndModify: 'c', query: { _id: 1 }, update: { $inc: { a: 1 } } }), {
    lastErrorObject: { n: 1, updatedExisting: true },
    value: { _id: 1, a: 3, s: 'b' },
    ok: 1,
  })
  const after = await node.ok({
    findandmodify: 'c',
    query: { _id: 1 },
    update: { $inc: { a: 1 } },
    new: true,
    fields: { a: 1 },
  })
  t.same(after['value'], { _id: 1, a: 5 })
  const body = await node.raw({ findAndModify: 'c', query: { _id: 1 }, update: { a: 9 }, new: true })
  t.equal(shape(body), 'lastErrorObject:object value:object ok:double')
  t.equal(shape(body, 'lastErrorObject'), 'n:int updatedExisting:bool')
})

t.test('sort selects the document, also under a collation', async (t) => {
  const node = await filled()
  t.match(await node.ok({ findAndModify: 'c', sort: { a: 1 }, update: { $set: { x: 1 } } }), { value: { _id: 2 } })
  t.match(await node.ok({ findAndModify: 'c', sort: { a: -1 }, remove: true }), { value: { _id: 1 } })
  t.match(
    await node.ok({
      findAndModify: 'c',
      query: { s: 'b' },
      collation: { locale: 'en', strength: 2 },
      update: { $set: { y: 1 } },
    }),
    {
      value: { _id: 2 },
    },
  )
})

t.test('findAndModify removes the document and returns it', async (t) => {
  const node = await filled()
  const body = await node.raw({
    findAndModify: 'c',
    query: { a: { $gt: 0 } },
    sort: { a: 1 },
    remove: true,
    fields: { _id: 0, a: 1 },
  })
  t.equal(shape(body, 'lastErrorObject'), 'n:int')
  t.same(await node.ok({ findAndModify: 'c', query: { _id: 2 }, remove: true }), {
    lastErrorObject: { n: 0 },
    value: null,
    ok: 1,
  })
  t.same(
    (await node.all('c')).map(({ _id }) => _id),
    [1, 3],
  )
})

t.test('findAndModify upserts', async (t) => {
  const node = new NodeUnderTest()
  t.same(await node.ok({ findAndModify: 'c', query: { _id: 5 }, update: { $set: { a: 1 } } }), {
    lastErrorObject: { n: 0, updatedExisting: false },
    value: null,
    ok: 1,
  })
  t.same(await node.ok({ findAndModify: 'c', query: { _id: 5 }, update: { $set: { a: 1 } }, upsert: true }), {
    lastErrorObject: { n: 1, updatedExisting: false, upserted: 5 },
    value: null,
    ok: 1,
  })
  t.same(
    await node.ok({
      findAndModify: 'c',
      query: { _id: 6 },
      update: [{ $set: { a: '$$v' } }],
      upsert: true,
      new: true,
      let: { v: 4 },
    }),
    {
      lastErrorObject: { n: 1, updatedExisting: false, upserted: 6 },
      value: { _id: 6, a: 4 },
      ok: 1,
    },
  )
})

t.test('array filters, positional projection and hint apply', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1, l: [{ k: 1 }, { k: 2 }] }] })
  await node.ok({ createIndexes: 'c', indexes: [{ key: { 'l.k': 1 }, name: 'k' }] })
  const reply = await node.ok({
    findAndModify: 'c',
    query: { 'l.k': 2 },
    update: { $set: { 'l.$[e].x': 1 } },
    arrayFilters: [{ 'e.k': 2 }],
    new: true,
    fields: { 'l.$': 1 },
    hint: 'k',
  })
  t.same(reply['value'], { _id: 1, l: [{ k: 2, x: 1 }] })
  t.match(await node.run({ findAndModify: 'c', update: { $set: { a: 1 } }, hint: 'none' }), { ok: 0, code: 2 })
})

t.test('contradictory arguments of findAndModify are refused', async (t) => {
  const node = await filled()
  const fails = async (command: Document, code: number, errmsg?: string) =>
    t.match(await node.run({ findAndModify: 'c', ...command }), {
      ok: 0,
      code,
      ...(errmsg === undefined ? {} : { errmsg }),
    })
  await fails({}, 9, 'Either an update or remove=true must be specified')
  await fails({ remove: true, update: {} }, 9, 'Cannot specify both an update and remove=true')
  await fails({ remove: true, upsert: true }, 9)
  await fails(
    { remove: true, new: true },
    9,
    "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document",
  )
  await fails({ remove: true, arrayFilters: [] }, 9, 'Cannot specify arrayFilters and remove=true')
  await fails(
    { update: [{ $set: { a: 1 } }], arrayFilters: [{ x: 1 }] },
    9,
    'Cannot specify arrayFilters and a pipeline update',
  )
  await fails({ update: 5 }, 9, 'Update argument must be either an object or an array')
  await fails({ update: {}, colour: 1 }, 40415)
  await fails({ update: { $nonsense: { a: 1 } } }, 9)
  t.same((await node.all('c')).length, 3)
})

t.test('a wrong sort or projection is refused before the document changes, also when none matches', async (t) => {
  for (const version of ['2.6', '4.0', '4.4', '8.0'] as const) {
    const node = await filled(version)
    const before = await node.all('c')
    const older = version === '2.6' || version === '4.0'
    for (const query of [{ _id: 1 }, { _id: 'none' }]) {
      for (const change of [{ update: { $set: { z: 1 } } }, { remove: true }, { update: { z: 1 }, upsert: true }]) {
        const command = { findAndModify: 'c', query, ...change }
        const mixed = {
          code: older ? 2 : 31254,
          errmsg: older ? /cannot have a mix/ : /^Cannot do exclusion on field b/,
        }
        t.match(await node.run({ ...command, fields: { a: 1, b: 0 } }), mixed, version)
        const sort = { code: older ? 2 : 15974, errmsg: older ? 'bad sort specification' : /^Illegal key in \$sort/ }
        t.match(await node.run({ ...command, sort: { a: 'x' } }), sort, version)
      }
    }
    t.same(await node.all('c'), before, version)
  }
  const missing = new NodeUnderTest()
  t.match(await missing.run({ findAndModify: 'c', remove: true, fields: { a: 1, b: 0 } }), { code: 31254 })
})

t.test('errors while documents are changed have the prefix of the server', async (t) => {
  const node = await filled()
  await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a', unique: true }] })
  const reply = await node.run({ findAndModify: 'c', query: { _id: 1 }, update: { $set: { a: 2 } } })
  t.match(reply, { ok: 0, code: 11000, keyPattern: { a: 1 }, keyValue: { a: 2 } })
  t.match(reply['errmsg'], /^Plan executor error during findAndModify :: caused by :: E11000/)
  t.match(await node.run({ findAndModify: 'c', query: { _id: 1 }, update: { _id: 9 } }), { ok: 0, code: 66 })
})

t.test('a repeated findAndModify returns the same document, before and after a restart', async (t) => {
  for (const checkpointAfterBytes of [1, undefined]) {
    const node = new NodeUnderTest(checkpointAfterBytes === undefined ? {} : { checkpointAfterBytes })
    await node.ok({ insert: 'c', documents: [1, 2, 3, 4].map((_id) => ({ _id, a: 0 })) })
    const commands: Document[] = [
      { findAndModify: 'c', query: { _id: 1 }, update: { $inc: { a: 1 } }, lsid: session(1), txnNumber: long(1) },
      {
        findAndModify: 'c',
        query: { _id: 2 },
        update: { $inc: { a: 1 } },
        new: true,
        lsid: session(2),
        txnNumber: long(1),
      },
      {
        findAndModify: 'c',
        query: { a: 0 },
        sort: { _id: 1 },
        remove: true,
        fields: { a: 1, _id: 0 },
        lsid: session(3),
        txnNumber: long(1),
      },
      {
        findAndModify: 'c',
        query: { _id: 9 },
        update: { $set: { b: 1 } },
        upsert: true,
        new: true,
        lsid: session(4),
        txnNumber: long(1),
      },
      {
        findAndModify: 'c',
        query: { _id: 10 },
        update: { $set: { b: 1 } },
        upsert: true,
        lsid: session(5),
        txnNumber: long(1),
      },
    ]
    const before: Document[] = []
    for (const command of commands) before.push(await node.ok(command))
    // Repeated commands must return the earlier documents, not these.
    await node.ok({ update: 'c', updates: [{ q: {}, u: { $set: { a: 'later' } }, multi: true }] })
    for (const member of [node, node.restarted()]) {
      for (const [i, command] of commands.entries())
        t.same(await member.ok(command), { ...before[i], retriedStmtId: 0 })
      t.match(await member.run({ ...commands[0], remove: true, update: undefined }), { code: 40609 })
      t.match(await member.run({ ...commands[0], new: true }), { code: 40611 })
      t.match(await member.run({ ...commands[1], new: false }), { code: 40612 })
      t.match(await member.run({ ...commands[2], remove: false, update: {} }), { code: 40606 })
      t.match(await member.run({ ...commands[3], upsert: false }), { code: 40608 })
      t.equal((await member.all('c')).length, 5)
    }
  }
})

t.test('D503 a repetition with other arguments is refused', async (t) => {
  const node = await filled()
  const retryable = { lsid: session(1), txnNumber: long(1) }
  await node.ok({ findAndModify: 'c', query: { _id: 1 }, remove: true, ...retryable })
  const { errmsg } = await node.run({ findAndModify: 'c', query: { _id: 1 }, update: { a: 1 }, ...retryable })
  t.match(
    errmsg,
    /^findAndModify retry request: \{ findAndModify: "c", .* is not compatible with previous write in the transaction of type: d$/,
  )
})

import { decode, findField, type Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'
import { validated } from './support/validated.js'

t.test('an invalid document is refused with errInfo', async (t) => {
  const node = await validated({ a: { $gt: 1 } })
  const raw = await node.raw({ insert: 'c', documents: [{ _id: 7, a: 1 }] })
  const error = decode(findField(raw, 'writeErrors')!.slice())['0'] as Document
  t.same(error, {
    index: 0,
    code: 121,
    errInfo: {
      failingDocumentId: 7,
      details: { operatorName: '$gt', specifiedAs: { a: { $gt: 1 } }, reason: 'comparison failed', consideredValue: 1 },
    },
    errmsg: 'Document failed validation',
  })
  t.same(Object.keys(error), ['index', 'code', 'errmsg', 'errInfo'])
  t.same((await node.ok({ insert: 'c', documents: [{ _id: 8, a: 2 }] }))['n'], 1)
  t.same((await node.ok({ insert: 'c', documents: [{ _id: 9 }], bypassDocumentValidation: true }))['n'], 1)
  t.match(await node.run({ update: 'c', updates: [{ q: { _id: 8 }, u: { $set: { a: 0 } } }] }), {
    writeErrors: [{ code: 121 }],
  })
  t.match(await node.run({ update: 'c', updates: [{ q: { _id: 10 }, u: { a: 0 }, upsert: true }] }), {
    writeErrors: [{ code: 121 }],
  })
})

t.test('in 4.4 errors of validators have no details, and those of their expressions reach the client', async (t) => {
  const node = new NodeUnderTest({ version: '4.4' })
  await node.ok({ create: 'c', validator: { a: 1 } })
  const reply = await node.run({ insert: 'c', documents: [{ _id: 1 }] })
  t.same(reply['writeErrors'], [{ index: 0, code: 121, errmsg: 'Document failed validation' }])
  await node.ok({ collMod: 'c', validator: { $expr: { $add: ['$a', 1] } } })
  t.match(await node.run({ insert: 'c', documents: [{ _id: 1, a: 'text' }] }), { writeErrors: [{ code: 14 }] })
})

t.test('a validator whose expression cannot be evaluated refuses each document', async (t) => {
  const cases = [
    [{ $add: ['text', 1] }, 14, /^\$add only supports/],
    [{ $lte: ['$from', '$$NOW'] }, 51144, "Builtin variable '$$NOW' is not available"],
    [{ $gt: ['$$CLUSTER_TIME', 1] }, 51144, "Builtin variable '$$CLUSTER_TIME' is not available"],
  ] as const
  for (const [$expr, code, errmsg] of cases) {
    const node = await validated({ $expr })
    const reply = await node.run({ insert: 'c', documents: [{ _id: 1, from: new Date(0) }] })
    const reason = 'failed to evaluate aggregation expression'
    t.match(reply, { writeErrors: [{ code: 121, errInfo: { details: { reason, details: { code, errmsg } } } }] })
  }
})

t.test('level and action decide which documents are checked and refused', async (t) => {
  const moderate = await validated({ a: 1 }, { validationLevel: 'moderate' })
  await moderate.ok({ insert: 'c', documents: [{ _id: 1, b: 1 }], bypassDocumentValidation: true })
  await moderate.ok({ insert: 'c', documents: [{ _id: 2, a: 1 }] })
  t.equal(
    (await moderate.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { b: 2 } } }] }))['nModified'],
    1,
    'bad stays bad',
  )
  t.match(await moderate.run({ update: 'c', updates: [{ q: { _id: 2 }, u: { $set: { a: 2 } } }] }), {
    writeErrors: [{ code: 121 }],
  })
  t.match(await moderate.run({ insert: 'c', documents: [{ _id: 3 }] }), { writeErrors: [{ code: 121 }] })

  const warn = await validated({ a: 1 }, { validationAction: 'warn' })
  t.equal((await warn.ok({ insert: 'c', documents: [{ _id: 1 }] }))['n'], 1)
  const off = await validated({ a: 1 }, { validationLevel: 'off' })
  t.equal((await off.ok({ insert: 'c', documents: [{ _id: 1 }] }))['n'], 1)

  const node = new NodeUnderTest()
  t.match(await node.run({ create: 'c', validationLevel: 'some' }), {
    code: 2,
    errmsg: "Enumeration value 'some' for field 'create.validationLevel' is not a valid value.",
  })
  t.match(await node.run({ create: 'system.js', validator: { a: 1 } }), { code: 72 })
  t.match(await node.run({ create: 'c', validator: { a: { $nope: 1 } } }), {
    code: 2,
    errmsg: 'unknown operator: $nope',
  })
  t.match(await node.run({ create: 'c', validator: { $where: 'true' } }), {
    code: 2,
    errmsg: '$where is not allowed in this context',
  })
  t.match(await node.run({ create: 'c', validator: { a: { $near: [1, 2] } } }), { code: 5626500 })
})

t.test('collMod refuses a validator that cannot be parsed', async (t) => {
  for (const [version, context] of [
    ['4.0', ''],
    ['4.4', 'Parsing of collection validator failed :: caused by :: '],
  ] as const) {
    const node = new NodeUnderTest({ version })
    const validator = { $nonsense: 1 }
    const errmsg = 'unknown top level operator: $nonsense'
    t.match(await node.run({ create: 'c', validator }), { code: 2, errmsg })
    await node.ok({ create: 'c' })
    t.match(await node.run({ collMod: 'c', validator }), { code: 2, errmsg: `${context}${errmsg}` })
  }
})

t.test('collMod changes the validator, and a restart keeps it', async (t) => {
  const node = await validated({ a: 1 })
  t.same(await node.ok({ collMod: 'c', validator: { b: 1 } }), { ok: 1 })
  t.match(await node.run({ insert: 'c', documents: [{ a: 1 }] }), { writeErrors: [{ code: 121 }] })
  const again = node.restarted()
  t.match(await again.run({ insert: 'c', documents: [{ a: 1 }] }), { writeErrors: [{ code: 121 }] })
  t.equal((await again.ok({ insert: 'c', documents: [{ b: 1 }] }))['n'], 1)
  const [listed] = ((await again.ok({ listCollections: 1 }))['cursor'] as { firstBatch: Document[] }).firstBatch
  t.same(listed!['options'], { validator: { b: 1 }, validationLevel: 'strict', validationAction: 'error' })
  await again.ok({ collMod: 'c', validator: {} })
  t.equal((await again.ok({ insert: 'c', documents: [{ a: 1 }] }))['n'], 1)
})

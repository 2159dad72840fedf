import type { Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

const writeError = (reply: Document) => (reply['writeErrors'] as Document[] | undefined)?.[0]

t.test('an _id of a type that is not allowed is InvalidIdField since 5.0', async (t) => {
  const current = new NodeUnderTest()
  const old = new NodeUnderTest({ version: '4.4' })
  const values: [id: unknown, type: string, article: string][] = [
    [[1], 'array', 'an'],
    [/x/, 'regex', 'a'],
  ]
  for (const [_id, type, article] of values) {
    const writes: Document[] = [
      { insert: 'c', documents: [{ _id }] },
      { update: 'c', updates: [{ q: { a: 1 }, u: { _id, a: 1 }, upsert: true }] },
      { update: 'c', updates: [{ q: { a: 1 }, u: { $set: { _id } }, upsert: true }] },
    ]
    for (const write of writes) {
      const message = `The '_id' value cannot be of type ${type}`
      t.match(writeError(await current.run(write)), { code: 53, errmsg: message }, JSON.stringify(write))
      t.match(writeError(await old.run(write)), { code: 2, errmsg: `can't use ${article} ${type} for _id` })
    }
    t.match(await current.run({ findAndModify: 'c', query: { a: 1 }, update: { $set: { _id } }, upsert: true }), {
      code: 53,
    })
  }
})

t.test('names in _id may not start with a dollar at any depth, except those of a DBRef', async (t) => {
  const it = new NodeUnderTest()
  for (const _id of [{ $a: 1 }, { a: { $b: 1 } }, { a: [{ $b: 1 }] }])
    t.match(writeError(await it.run({ insert: 'c', documents: [{ _id }] })), { code: 52 }, JSON.stringify(_id))
  await it.ok({ insert: 'c', documents: [{ _id: { $ref: 'c', $id: 1 } }] })
  t.match(
    writeError(await new NodeUnderTest({ version: '4.4' }).run({ insert: 'c', documents: [{ _id: { $a: 1 } }] })),
    {
      code: 52,
      errmsg: '$a is not valid for storage.',
    },
  )
})

t.test('dollar names: nested ones are stored, an upsert inserts top-level ones', async (t) => {
  const it = new NodeUnderTest()
  await it.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const set = (q: Document, fields: Document, upsert = false) =>
    it.run({ update: 'c', updates: [{ q, u: { $set: fields }, upsert }] })
  t.match(await set({ _id: 1 }, { 'address.$street': 'x' }), { nModified: 1 })
  t.match(await set({ _id: 7 }, { $a: 1 }), { n: 0, writeErrors: undefined }, 'no document')
  t.match(writeError(await set({ _id: 1 }, { $a: 1 })), { code: 52 })
  t.match(await set({ _id: 2 }, { $a: 1 }, true), { n: 1 })
  t.same(await it.all('c'), [
    { _id: 1, address: { $street: 'x' } },
    { _id: 2, $a: 1 },
  ])
})

t.test('an unknown stage fails the whole update command, after its statements have run', async (t) => {
  const it = new NodeUnderTest()
  await it.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const updates = [
    { q: { _id: 1 }, u: [{ $set: { a: 1 } }] },
    { q: { _id: 1 }, u: [{ $nonsense: 1 }] },
  ]
  t.match(await it.run({ update: 'c', updates }), {
    ok: 0,
    code: 40324,
    errmsg: "Unrecognized pipeline stage name: '$nonsense'",
  })
  t.same(await it.all('c'), [{ _id: 1, a: 1 }])
  t.match(writeError(await it.run({ update: 'c', updates: [{ q: {}, u: [{ $match: {} }] }] })), { code: 72 })
})

t.test('a failing constant of an update pipeline matters only when a document matches', async (t) => {
  const it = new NodeUnderTest()
  await it.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const u = [{ $set: { a: { $add: ['age', 1] } } }]
  t.match(await it.run({ update: 'c', updates: [{ q: { _id: 9 }, u }] }), { ok: 1, n: 0, writeErrors: undefined })
  t.match(writeError(await it.run({ update: 'c', updates: [{ q: { _id: 1 }, u }] })), { code: 14 })
  t.match(await it.run({ aggregate: 'none', pipeline: u, cursor: {} }), {
    code: 14,
    errmsg: 'Failed to optimize pipeline :: caused by :: $add only supports numeric or date types, not string',
  })
})

t.test('a pipeline that is not an array of documents is refused', async (t) => {
  const it = new NodeUnderTest()
  const notArray = { code: 14, errmsg: "'pipeline' option must be specified as an array" }
  const notDocument = { code: 14, errmsg: "Each element of the 'pipeline' array must be an object" }
  t.match(await it.run({ aggregate: 'c', pipeline: 1, cursor: {} }), notArray)
  t.match(await it.run({ aggregate: 'c', pipeline: [1], cursor: {} }), notDocument)
  t.match(await it.run({ create: 'v', viewOn: 'c', pipeline: 1 }), notArray)
  t.match(await it.run({ create: 'v', viewOn: 'c', pipeline: [1] }), notDocument)
  t.match(await it.run({ update: 'c', updates: [{ q: {}, u: [1] }] }), { ok: 0, ...notDocument })
  t.match(await it.run({ findAndModify: 'c', update: [1] }), notDocument)
})

t.test('$out and renameCollection refuse a target whose name has a dollar', async (t) => {
  const it = new NodeUnderTest()
  await it.ok({ insert: 'c', documents: [{ _id: 1 }] })
  t.match(await it.run({ renameCollection: 'test.c', to: 'test.a$b' }, { db: 'admin' }), {
    code: 20,
    errmsg: 'error with target namespace: Invalid collection name: a$b',
  })
  t.match(await it.run({ aggregate: 'c', pipeline: [{ $out: 'a$b' }], cursor: {} }), {
    code: 20,
    errmsg: /error with target namespace: Invalid collection name: a\$b$/,
  })
})

t.test('a replacement without _id counts as a modification even if the document is equal', async (t) => {
  const it = new NodeUnderTest()
  await it.ok({ insert: 'c', documents: [{ _id: 1, a: 1 }] })
  t.match(await it.run({ update: 'c', updates: [{ q: { _id: 1 }, u: { a: 1 } }] }), { n: 1, nModified: 1 })
  t.match(await it.run({ update: 'c', updates: [{ q: { _id: 1 }, u: { _id: 1, a: 1 } }] }), { n: 1, nModified: 0 })
})

/** Arguments that came with a version, and the errors of the parsers that versions had. */
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

const comment = { why: 'test' }

t.test('2.6 and 4.0 have no comment of every command, and their reads take a string', async (t) => {
  const node = new NodeUnderTest({ version: '4.0' })
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const cases = [
    [{ insert: 'c', documents: [{ _id: 2 }], comment }, 40415, "BSON field 'insert.comment' is an unknown field."],
    [{ delete: 'c', deletes: [{ q: {}, limit: 0 }], comment: 'x' }, 40415, /delete\.comment/],
    [{ update: 'c', updates: [{ q: {}, u: { $set: { a: 1 } } }], comment: 'x' }, 40415, /update\.comment/],
    [
      { find: 'c', comment },
      9,
      `Failed to parse: comment: { why: "test" }. 'comment' field must be of BSON type string.`,
    ],
    [{ aggregate: 'c', pipeline: [], cursor: {}, comment }, 14, 'comment must be a string, not a object'],
    [{ distinct: 'c', key: '_id', comment }, 14, '"comment" had the wrong type. Expected string, found object'],
  ] as const
  for (const [command, code, errmsg] of cases) t.match(await node.run(command), { ok: 0, code, errmsg })
  t.match(await node.ok({ count: 'c' }), { n: 1 }, 'a refused command changes nothing')
  for (const command of [
    { find: 'c', comment: 'text' },
    { aggregate: 'c', pipeline: [], cursor: {}, comment: 'text' },
    { distinct: 'c', key: '_id', comment: 'text' },
    { count: 'c', comment },
    { findAndModify: 'c', remove: true, comment },
  ])
    await node.ok(command)
  const old = new NodeUnderTest({ version: '2.6' })
  await old.ok({ insert: 'c', documents: [{ _id: 1 }], comment })
  t.match(await old.run({ aggregate: 'c', pipeline: [], comment: 'text' }), {
    code: 9,
    errmsg: "unrecognized field 'comment'",
  })
})

t.test('options that came with 4.4 are refused before, or ignored by commands that ignored all', async (t) => {
  const node = new NodeUnderTest({ version: '4.0' })
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  t.match(await node.run({ find: 'c', allowDiskUse: true }), {
    code: 9,
    errmsg: /^Failed to parse: \{ find: "c", allowDiskUse: true.*\. Unrecognized field 'allowDiskUse'\.$/,
  })
  const removal = { findAndModify: 'c', remove: true, hint: 'no such index' }
  t.match(await node.ok(removal), { value: { _id: 1 } }, 'the hint is not used')
  await node.ok({ distinct: 'c', key: '_id', hint: 'no such index', wings: 2 })
  await node.ok({ count: 'c', wings: 2 })
  const newer = new NodeUnderTest({ version: '4.4' })
  await newer.ok({ find: 'c', allowDiskUse: true, comment })
  t.match(await newer.run({ ...removal, wings: 2 }), { code: 40415, errmsg: "BSON field 'wings' is an unknown field." })
  t.match(await newer.run({ count: 'c', wings: 2 }), { code: 40415, errmsg: /count\.wings/ })
})

t.test('find and aggregate have types and texts of their own until 4.4', async (t) => {
  const cases = [
    [{ find: 'c', filter: 1 }, 9, "Failed to parse: filter: 1. 'filter' field must be of BSON type object."],
    [{ find: 'c', filter: null }, 9, "Failed to parse: filter: null. 'filter' field must be of BSON type object."],
    [{ find: 'c', skip: 'a' }, 9, /^Failed to parse: \{ find: "c", skip: "a".*\. 'skip' field must be numeric\.$/],
    [{ find: 'c', singleBatch: 1 }, 9, /must be of BSON type bool\.$/],
    [{ aggregate: 'c', pipeline: [], cursor: {}, allowDiskUse: 1 }, 14, 'allowDiskUse must be a boolean, not a int'],
    [{ aggregate: 'c', pipeline: [], cursor: {}, collation: 'de' }, 14, 'collation must be an object, not a string'],
    [
      { distinct: 'c', key: '_id', query: 'a' },
      14,
      '"query" had the wrong type. Expected object or null, found string',
    ],
  ] as const
  const node = new NodeUnderTest({ version: '4.0' })
  for (const [command, code, errmsg] of cases) t.match(await node.run(command), { ok: 0, code, errmsg })
  const newer = new NodeUnderTest({ version: '5.0' })
  await newer.ok({ find: 'c', filter: null, singleBatch: 1 })
  t.match(await newer.run({ find: 'c', skip: 'a' }), { code: 14, errmsg: /'find\.skip' is the wrong type 'string'/ })
})

t.test('an explained command has the arguments of its version', async (t) => {
  const node = new NodeUnderTest({ version: '4.0' })
  const reply = await node.run({ explain: { find: 'c', allowDiskUse: true }, verbosity: 'queryPlanner' })
  t.match(reply, { code: 9, errmsg: /Unrecognized field 'allowDiskUse'/ })
})

t.test('2.6 ignores the fields of statements that came later', async (t) => {
  const node = new NodeUnderTest({ version: '2.6' })
  await node.ok({ insert: 'c', documents: [{ _id: 'a', list: [1] }] })
  const later = { collation: { locale: 'en', strength: 1 }, hint: 'no such index', wings: 2 }
  const update = { q: { _id: 'A' }, u: { $set: { x: 1 } }, arrayFilters: [{ i: 1 }], ...later }
  t.match(await node.ok({ update: 'c', updates: [update] }), { n: 0 }, 'strings differ by case')
  t.match(await node.ok({ update: 'c', updates: [{ ...update, q: { _id: 'a' } }] }), { n: 1, nModified: 1 })
  t.match(await node.ok({ delete: 'c', deletes: [{ q: { _id: 'A' }, limit: 1, ...later }] }), { n: 0 })
  const newer = new NodeUnderTest({ version: '4.0' })
  for (const [name, value] of Object.entries({ ...later, c: {}, upsertSupplied: true }).slice(1)) {
    const reply = await newer.run({ update: 'c', updates: [{ q: {}, u: { $set: { x: 1 } }, [name]: value }] })
    t.match(reply, { code: 40415, errmsg: `BSON field 'update.updates.${name}' is an unknown field.` })
  }
})

t.test('2.6 stores no names with dots in updates and _id', async (t) => {
  const node = new NodeUnderTest({ version: '2.6' })
  await node.ok({ insert: 'c', documents: [{ _id: 1, 'a.b': 1, c: { 'd.e': 1 } }] })
  const refusals = [
    [{ 'a.b': 1 }, "The dotted field 'a.b' in 'a.b' is not valid for storage."],
    [{ a: { 'b.c': 1 } }, "The dotted field 'b.c' in 'a.b.c' is not valid for storage."],
    [{ $set: { a: [{ 'b.c': 1 }] } }, "The dotted field 'b.c' in 'a.0.b.c' is not valid for storage."],
  ] as const
  for (const [u, errmsg] of refusals) {
    t.match(await node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u }] }), { writeErrors: [{ code: 57, errmsg }] })
    t.match(await node.run({ findAndModify: 'c', query: { _id: 1 }, update: u }), { code: 57, errmsg })
  }
  t.match(await node.ok({ insert: 'c', documents: [{ _id: { 'a.b': 1 } }] }), {
    writeErrors: [{ code: 57, errmsg: 'a.b is not valid for storage.' }],
  })
  const newer = new NodeUnderTest({ version: '4.0' })
  await newer.ok({ insert: 'c', documents: [{ _id: { 'a.b': 1 } }] })
  t.match(await newer.ok({ update: 'c', updates: [{ q: {}, u: { $set: { a: { 'b.c': 1 } } } }] }), { nModified: 1 })
})

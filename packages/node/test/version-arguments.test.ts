/** Arguments that came with a version, and the errors of the parsers that versions had. */
import type { Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { long, NodeUnderTest } from './support/harness.js'

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

t.test('min and max find their index until 4.0, and need a hint since 4.2', async (t) => {
  const found = async (version: EmulatedVersion, options: Document) => {
    const node = new NodeUnderTest({ version })
    await node.ok({ insert: 'c', documents: [1, 2, 3].map((_id) => ({ _id, a: _id })) })
    await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
    const reply = await node.run({ find: 'c', ...options })
    const { firstBatch } = (reply['cursor'] ?? {}) as { firstBatch?: Document[] }
    return firstBatch?.map((document) => document['_id'] as number) ?? [reply['code'], reply['errmsg']]
  }
  for (const version of ['2.6', '4.0'] as const) {
    t.same(await found(version, { min: { a: 2 } }), [2, 3])
    t.same(await found(version, { max: { a: 2 }, filter: { _id: { $gt: 0 } } }), [1])
    t.match(await found(version, { min: { b: 2 } }), [2, /: unable to find relevant index for max\/min query$/])
    t.match(await found(version, { min: { b: 2 }, hint: 'a_1' }), [2, /hint provided does not work with min query$/])
    t.match(await found(version, { max: { b: 2 }, hint: 'a_1' }), [2, /hint provided does not work with max query$/])
  }
  const empty = { min: { a: 3 }, max: { a: 1 } }
  t.same(await found('2.6', empty), [])
  t.same(await found('2.6', { ...empty, hint: 'a_1' }), [])
  t.match(await found('4.0', empty), [2, /: unable to find relevant index for max\/min query$/])
  t.match(await found('4.0', { ...empty, hint: 'a_1' }), [2, /hint provided does not work with min\/max query$/])
  t.same(await found('4.0', { min: { a: 2 }, max: { a: 2 } }), [])
  for (const version of ['4.4', '8.0'] as const)
    t.match(await found(version, { min: { a: 2 } }), [51173, /a hint of which index to use must be provided$/])
})

t.test('until 4.4 find names the number that is negative, and cursors have their own parser', async (t) => {
  const cases = [
    [{ find: 'c', limit: -1 }, 2, 'Limit value must be non-negative, but received: -1'],
    [{ find: 'c', skip: -2.5 }, 2, 'Skip value must be non-negative, but received: -2'],
    [{ find: 'c', batchSize: -1 }, 2, 'BatchSize value must be non-negative, but received: -1'],
    [{ listIndexes: 'c', cursor: { batchSize: -1 } }, 2, 'cursor.batchSize must not be negative'],
    [{ aggregate: 'c', pipeline: [], cursor: { batchSize: 'a' } }, 14, 'cursor.batchSize must be a number'],
    [{ aggregate: 'c', pipeline: [], cursor: 1 }, 14, 'cursor field must be missing or an object'],
    [{ listCollections: 1, cursor: { a: 1 } }, 2, "cursor object can't contain fields other than batchSize"],
  ] as const
  for (const version of ['4.0', '4.4'] as const) {
    const node = new NodeUnderTest({ version })
    await node.ok({ create: 'c' })
    for (const [command, code, errmsg] of cases) t.match(await node.run(command), { ok: 0, code, errmsg })
  }
  const newer = new NodeUnderTest({ version: '5.0' })
  t.match(await newer.run({ find: 'c', limit: -1 }), { code: 51024 })
  t.match(await newer.run({ aggregate: 'c', pipeline: [], cursor: { batchSize: -1 } }), { code: 51024 })
})

t.test('until 4.4 getMore and killCursors show the command in their errors', async (t) => {
  const cases = [
    [{ getMore: 1, collection: 'c' }, 14, 'Field \'getMore\' must be of type long in: { getMore: 1, collection: "c" }'],
    [{ getMore: long(1), collection: 1 }, 14, /^Field 'collection' must be of type string in: \{ getMore: 1,/],
    [{ getMore: long(1), collection: 'c', batchSize: 'a' }, 14, /^Field 'batchSize' must be a number in: \{/],
    [{ getMore: long(1) }, 9, "Field 'collection' missing in: { getMore: 1 }"],
    [{ getMore: long(1), collection: '' }, 2, 'Invalid namespace for getMore: test.'],
    [{ getMore: long(0), collection: 'c' }, 2, 'Cursor id for getMore must be non-zero'],
    [{ killCursors: 1, cursors: [] }, 9, 'First parameter must be a string in: { killCursors: 1, cursors: [] }'],
    [{ killCursors: 'c' }, 9, 'Field \'cursors\' must be of type array in: { killCursors: "c" }'],
    [{ killCursors: 'c', cursors: 1 }, 9, /^Field 'cursors' must be of type array in: \{/],
    [
      { killCursors: 'c', cursors: [long(1), 5] },
      9,
      "Field 'cursors' contains an element that is not of type long: 1: 5",
    ],
    [{ killCursors: 'c', cursors: [] }, 2, 'Must specify at least one cursor id in: { killCursors: "c", cursors: [] }'],
  ] as const
  for (const version of ['4.0', '4.4'] as const) {
    const node = new NodeUnderTest({ version })
    for (const [command, code, errmsg] of cases) t.match(await node.run(command), { ok: 0, code, errmsg })
  }
  const newer = new NodeUnderTest({ version: '5.0' })
  await newer.ok({ killCursors: 'c', cursors: [] })
  t.match(await newer.run({ getMore: long(1) }), { code: 40414 })
})

t.test('until 4.0 find and findAndModify do not say what is wrong with a sort', async (t) => {
  const errmsg = 'bad sort specification'
  const node = new NodeUnderTest({ version: '4.0' })
  const old = new NodeUnderTest({ version: '2.6' })
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  for (const sort of [{ a: 'x' }, { a: 2 }, { a: 0 }, { '': 1 }]) {
    t.match(await node.run({ find: 'c', sort }), { code: 2, errmsg }, JSON.stringify(sort))
    t.match(await node.run({ findAndModify: 'c', sort, remove: true }), { code: 2, errmsg })
    t.match(await old.run({ find: 'c', sort }), { code: 17287, errmsg: `Can't canonicalize query: BadValue ${errmsg}` })
  }
  t.match(await node.run({ aggregate: 'c', pipeline: [{ $sort: { a: 2 } }], cursor: {} }), { code: 15975 })
  const newer = new NodeUnderTest({ version: '4.4' })
  t.match(await newer.run({ find: 'c', sort: { a: 'x' } }), { code: 15974 })
})

t.test('2.6 finds conflicting paths when it applies them, with other codes for upserts', async (t) => {
  const node = new NodeUnderTest({ version: '2.6' })
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const u = { $set: { 'a.b': 1 }, $inc: { a: 1 } }
  const errmsg = "Cannot update 'a.b' and 'a' at the same time"
  const run = (q: Document, upsert: boolean) => node.ok({ update: 'c', updates: [{ q, u, upsert }] })
  t.match(await run({ _id: 1 }, false), { n: 0, writeErrors: [{ code: 16837, errmsg }] })
  t.match(await run({ _id: 2 }, true), { n: 0, writeErrors: [{ code: 16836, errmsg }] })
  t.match(await run({ _id: 2 }, false), { n: 0, writeErrors: undefined })
  const newer = new NodeUnderTest({ version: '4.0' })
  t.match(await newer.ok({ update: 'c', updates: [{ q: {}, u }] }), {
    writeErrors: [{ code: 40, errmsg: "Updating the path 'a' would create a conflict at 'a'" }],
  })
})

t.test('recordPreImages is an option until 6.1, and shards refuse to set it', async (t) => {
  for (const version of ['4.4', '5.0', '6.0.2', '6.0'] as const) {
    const node = new NodeUnderTest({ version })
    await node.ok({ create: 'c', recordPreImages: false })
    await node.ok({ collMod: 'c', recordPreImages: false })
    const refused = { code: 72, errmsg: 'recordPreImages is not supported on a sharded cluster' }
    t.match(await node.run({ create: 'd', recordPreImages: true }), refused, version)
    t.match(await node.run({ collMod: 'c', recordPreImages: true }), refused, version)
  }
  for (const version of ['7.0', '8.0'] as const) {
    const node = new NodeUnderTest({ version })
    t.match(await node.run({ create: 'c', recordPreImages: false }), { code: 40415 }, version)
  }
})

t.test('regular expressions in expressions may have the option u since 5.0', async (t) => {
  const found = async (version: EmulatedVersion) => {
    const node = new NodeUnderTest({ version })
    await node.ok({ insert: 'c', documents: [{ _id: 1, a: 'x' }] })
    const found = { $regexMatch: { input: '$a', regex: 'x', options: 'iu' } }
    return node.run({ aggregate: 'c', pipeline: [{ $project: { found } }], cursor: {} })
  }
  t.match(await found('4.4'), { code: 51108, errmsg: /\$regexMatch invalid flag in regex options: u$/ })
  t.match(await found('5.0'), { cursor: { firstBatch: [{ _id: 1, found: true }] } })
})

import type { Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

async function filled(version: EmulatedVersion, ...documents: Document[]): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version })
  await node.ok({ insert: 'c', documents })
  return node
}

const aggregate = (...pipeline: Document[]): Document => ({ aggregate: 'c', pipeline })

t.test('an aggregate of 2.6 without a cursor replies with all results in one document', async (t) => {
  const node = await filled('2.6', { _id: 1, a: 1 }, { _id: 2, a: 2 })
  const reply = await node.ok(aggregate({ $match: {} }, { $sort: { _id: -1 } }))
  t.same(reply['result'], [
    { _id: 2, a: 2 },
    { _id: 1, a: 1 },
  ])
  t.equal(reply['cursor'], undefined)
  t.equal(node.node.cursors.size, 0)
  t.match(await node.ok({ ...aggregate(), cursor: { batchSize: 1 } }), { cursor: { firstBatch: [{ _id: 1, a: 1 }] } })
  t.match(await (await filled('4.0', { _id: 1 })).run(aggregate()), { code: 9, errmsg: /^The 'cursor' option/ })
})

t.test('results of 2.6 that do not fit into one document are refused, and no cursor stays open', async (t) => {
  const node = new NodeUnderTest({ version: '2.6' })
  for (let i = 0; i < 5; i++) await node.ok({ insert: 'c', documents: [{ _id: i, pad: 'x'.repeat(4 * 1024 * 1024) }] })
  t.match(await node.run(aggregate()), {
    code: 16389,
    errmsg: 'aggregation result exceeds maximum document size (16MB)',
  })
  t.equal(node.node.cursors.size, 0)
})

t.test('$unwind of 2.6 refuses values other than arrays', async (t) => {
  const unwind = { ...aggregate({ $unwind: '$a' }), cursor: {} }
  t.match(await (await filled('2.6', { _id: 1, a: 1.5 })).run(unwind), {
    code: 15978,
    errmsg: /Value at end of \$unwind field path '\$a' must be an Array, but is a NumberDouble$/,
  })
  t.match(await (await filled('2.6', { _id: 1, a: null }, { _id: 2, a: [] })).ok(unwind), {
    cursor: { firstBatch: [] },
  })
  t.match(await (await filled('4.0', { _id: 1, a: 1.5 })).ok(unwind), { cursor: { firstBatch: [{ _id: 1, a: 1.5 }] } })
})

t.test('updates of 2.6 add fields as written, later ones by name, since 5.0 with numbers in order', async (t) => {
  const names = async (version: EmulatedVersion): Promise<string> => {
    const node = await filled(version, { _id: 1, d: {} })
    await node.ok({ update: 'c', updates: [{ q: {}, u: { $set: { 'd.b': 1, 'd.10': 1, 'd.9': 1, 'd.a': 1 } } }] })
    const [document] = await node.all('c')
    return Object.keys(
      Object.fromEntries(Object.entries(document!['d'] as Document).map(([k, v]) => [`_${k}`, v])),
    ).join(' ')
  }
  // A JavaScript object moves numbers to its front, so only the other names show the order.
  t.equal((await names('2.6')).replaceAll(/_\d+ /g, ''), '_b _a')
  t.equal((await names('4.0')).replaceAll(/_\d+ /g, ''), '_a _b')
})

t.test('errors of update operators of 2.6 have one code', async (t) => {
  const failing = { update: 'c', updates: [{ q: {}, u: { $inc: { a: 1 } } }] }
  const codeIn = async (version: EmulatedVersion) =>
    ((await (await filled(version, { _id: 1, a: 'x' })).run(failing))['writeErrors'] as Document[])[0]!['code']
  t.equal(await codeIn('2.6'), 16837)
  t.equal(await codeIn('4.0'), 14)
})

t.test('$pushAll and $isolated exist in 2.6 only', async (t) => {
  const push = { update: 'c', updates: [{ q: { $isolated: 1 }, u: { $pushAll: { a: [1, 2] } } }] }
  const node = await filled('2.6', { _id: 1 })
  await node.ok(push)
  t.same(await node.all('c'), [{ _id: 1, a: [1, 2] }])
  t.match(await (await filled('4.0', { _id: 1 })).run(push), { writeErrors: [{ code: /2|9/ }] })
})

t.test('options of later servers have no effect in 2.6', async (t) => {
  const node = await filled('2.6', { _id: 1, a: 'x' })
  await node.ok({ create: 'v', viewOn: 'c', pipeline: [] })
  t.same(await node.all('v'), [], 'a collection, not a view')
  await node.ok({ create: 'w', validator: { a: 1 }, collation: { locale: 'en' } })
  await node.ok({ insert: 'w', documents: [{ _id: 1 }] })
  const collated = { find: 'c', filter: { a: 'X' }, collation: { locale: 'en', strength: 1 } }
  t.match(await node.ok(collated), { cursor: { firstBatch: [] } })
  const update = { q: {}, u: { $set: { b: 1 } }, multi: true, arrayFilters: [{ x: 1 }], hint: 'none' }
  t.match(await node.ok({ update: 'c', updates: [update] }), { n: 1, nModified: 1 })
  await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a', partialFilterExpression: { a: 'none' } }] })
  t.match(await node.ok({ find: 'c', filter: { a: 'x' }, hint: 'a' }), { cursor: { firstBatch: [{ _id: 1 }] } })
})

t.test('projections of find are flat until 4.2', async (t) => {
  const node = await filled('4.0', { _id: 1, a: 1, b: [1, 2, 3] })
  const find = (projection: Document) => node.run({ find: 'c', projection })
  t.match(await find({ a: 'any string includes', _id: 0 }), { cursor: { firstBatch: [{ a: 1 }] } })
  t.match(await find({ b: { $slice: 1 } }), { cursor: { firstBatch: [{ _id: 1, a: 1, b: [1] }] } })
  for (const skip of ['a', null])
    t.match(await find({ b: { $slice: [skip, 2] } }), { cursor: { firstBatch: [{ b: [1, 2] }] } }, 'begins at 0')
  for (const [projection, errmsg] of [
    [{ a: { $add: [1, 2] } }, 'Unsupported projection option: a: { $add: [ 1, 2 ] }'],
    [{ a: { b: 1 } }, 'Unsupported projection option: a: { b: 1 }'],
    [{ a: 1, b: 0 }, 'Projection cannot have a mix of inclusion and exclusion.'],
    [{ _id: 1, a: 0 }, 'Projection cannot have a mix of inclusion and exclusion.'],
    [{ 'b.$': 1 }, "Positional projection 'b.$' does not match the query document."],
    [{ b: { $slice: [1, 0] } }, '$slice limit must be positive'],
    [{ a: { x: 1, y: 1 } }, '>1 field in obj: { x: 1, y: 1 }'],
  ] as const)
    t.match(await find(projection), { code: 2, errmsg }, JSON.stringify(projection))
  t.match(await (await filled('2.6', { _id: 1 })).run({ find: 'c', projection: { a: 1, b: 0 } }), {
    code: 17287,
    errmsg: "Can't canonicalize query: BadValue Projection cannot have a mix of inclusion and exclusion.",
  })
})

t.test('colliding paths of $project in 2.6', async (t) => {
  const node = await filled('2.6', { _id: 1, a: { b: 1, c: 2 } })
  const project = (fields: Document) => node.run({ aggregate: 'c', pipeline: [{ $project: fields }], cursor: {} })
  const ofSubfield = { code: 16401, errmsg: /^can't add an expression for a subfield of a because .* the whole field$/ }
  t.match(await project({ a: 1, 'a.b': 1 }), ofSubfield)
  t.match(await project({ a: { $add: [1, 1] }, 'a.b': 1 }), ofSubfield)
  const ofField = { code: 16400, errmsg: /^can't add an expression for field b because .* one of its sub-fields\.$/ }
  t.match(await project({ 'a.b.c': 1, 'a.b': 1 }), ofField)
  t.match(await project({ 'a.b': 1, a: { b: 1 } }), ofField)
  t.match(await project({ 'a.b': 1, a: { c: 1 } }), { cursor: { firstBatch: [{ a: { b: 1, c: 2 } }] } })
})

t.test('until 4.2 find takes colliding paths, of which the later one counts', async (t) => {
  const document = { _id: 1, a: { b: 1, c: 2, d: { e: 3, f: 4 } }, l: [{ x: 1, y: 2 }, { x: 3, y: 4 }, 5] }
  const cases: [projection: Document, found: Document][] = [
    [{ _id: 0, a: 1, 'a.b': 1 }, { a: { b: 1 } }],
    [{ _id: 0, 'a.b': 1, a: 1 }, { a: document.a }],
    [{ _id: 0, 'a.d.e': 1, a: 1 }, { a: { b: 1, c: 2, d: { e: 3 } } }],
    [{ _id: 0, l: 0, a: 0, 'a.d': 0 }, { a: { b: 1, c: 2 } }],
    [{ _id: 0, l: 0, 'a.d': 0, a: 0 }, { a: {} }],
    [{ _id: 0, l: { $slice: 1 }, 'l.x': 1 }, { l: [{ x: 1 }] }],
    [{ _id: 0, 'l.x': 1, l: { $slice: -2 } }, { l: [{ x: 3 }] }],
  ]
  for (const version of ['2.6', '4.0'] as const) {
    const node = await filled(version, document)
    for (const [projection, found] of cases) {
      const { cursor } = await node.ok({ find: 'c', projection })
      t.same((cursor as Document)['firstBatch'], [found], `${version} ${JSON.stringify(projection)}`)
    }
  }
  const newer = await filled('4.4', document)
  for (const [projection] of cases) t.match(await newer.run({ find: 'c', projection }), { code: /31249|31250/ })
})

t.test(
  'in 2.6 errors about a changed _id name the document, and those of upserts have a code of their own',
  async (t) => {
    const update = async (version: EmulatedVersion, statement: Document) => {
      const reply = await (await filled(version, { _id: 1 })).run({ update: 'c', updates: [statement] })
      const [{ code, errmsg }] = reply['writeErrors'] as [Document]
      return [code, errmsg]
    }
    const altered = (document: string, text: string) =>
      `After applying the update to the document {${document} , ...}, the (immutable) field '_id' was found to have been altered to ${text}`
    const [set, replacement] = [{ $set: { _id: 2 } }, { _id: 2, a: 1 }]
    t.same(await update('2.6', { q: { _id: 1 }, u: set }), [66, altered('_id: 1', '_id: 2')])
    t.same(await update('2.6', { q: { _id: 7 }, u: set, upsert: true }), [66, altered('_id: 7', '_id: 2')])
    const changed = (id: number) => `The _id field cannot be changed from {_id: ${id}} to {_id: 2}.`
    t.same(await update('2.6', { q: { _id: 1 }, u: replacement }), [16837, changed(1)])
    t.same(await update('2.6', { q: { _id: 7 }, u: replacement, upsert: true }), [16836, changed(7)])
    const onText = { q: { _id: 7, a: 'x' }, u: { $inc: { a: 1 } }, upsert: true }
    t.same((await update('2.6', onText))[0], 16836)
    t.same((await update('4.0', onText))[0], 14)
    t.match(await update('4.0', { q: { _id: 1 }, u: set }), [66, /^Performing an update on the path '_id'/])
    t.match(await update('4.0', { q: { _id: 1 }, u: replacement }), [
      66,
      /^After applying the update, the \(immutable\)/,
    ])
  },
)

t.test('until 4.0 errors of expressions and of writes have no prefix', async (t) => {
  const divide = { $divide: [1, '$a'] }
  const commands: [command: Document, message: RegExp, prefix: RegExp][] = [
    [{ find: 'c', filter: { $expr: divide } }, /can't \$divide by zero$/, /^Executor error during find command/],
    [{ aggregate: 'c', pipeline: [{ $project: { v: divide } }], cursor: {} }, /can't/, /^PlanExecutor error during/],
    [
      { findAndModify: 'c', query: { _id: 1 }, update: { $set: { u: 2 } } },
      /E11000/,
      /^Plan executor error during findAndModify/,
    ],
  ]
  for (const version of ['4.0', '4.4'] as const) {
    const node = await filled(version, { _id: 1, a: 0, u: 1 }, { _id: 2, a: 0, u: 2 })
    await node.ok({ createIndexes: 'c', indexes: [{ key: { u: 1 }, name: 'u', unique: true }] })
    for (const [command, message, prefix] of commands) {
      const reply = await node.run(command)
      t.match(reply, { ok: 0, errmsg: message })
      t.equal(prefix.test(reply['errmsg'] as string), version === '4.4', `${version}: ${String(reply['errmsg'])}`)
    }
  }
})

t.test('$project of 4.0 has the errors of its validator, since 4.4 those of the parser of projections', async (t) => {
  const bad = 'Bad projection specification, cannot'
  const cases: [project: Document, code: number, message: string, since44: number | null][] = [
    [
      { 'a.b': 1, 'a.b.c': 1 },
      40176,
      "specification contains two conflicting paths. Cannot specify both 'a.b.c' and 'a.b': { a.b: 1, a.b.c: 1 }",
      31249,
    ],
    [
      { a: { b: 1 }, 'a.b': 1 },
      40176,
      "specification contains two conflicting paths. Cannot specify both 'a.b' and 'a.b': { a: { b: 1 }, a.b: 1 }",
      31250,
    ],
    [{}, 40177, 'specification must have at least one field', 51272],
    [{ a: 1, b: 0 }, 40178, `${bad} exclude fields other than '_id' in an inclusion projection: { a: 1, b: 0 }`, 31254],
    [
      { a: 0, b: 1 },
      40179,
      `${bad} include fields or add computed fields during an exclusion projection: { a: 0, b: 1 }`,
      31253,
    ],
    [{ a: { b: {} } }, 40180, 'an empty object is not a valid value. Found empty object at path a.b', 51270],
    [
      { a: 0, b: { $add: [1, 1] } },
      40182,
      `${bad} include fields or add computed fields during an exclusion projection: { a: 0, b: { $add: [ 1, 1 ] } }`,
      31252,
    ],
    [{ a: { 'b.c': 1 } }, 40183, "cannot use dotted field name 'b.c' in a sub object: { a: { b.c: 1 } }", null],
  ]
  const [older, newer] = [await filled('4.0', { _id: 1 }), await filled('4.4', { _id: 1 })]
  for (const [$project, code, message, since44] of cases) {
    const command = { ...aggregate({ $project }), cursor: {} }
    t.match(await older.run(command), { code, errmsg: `Invalid $project :: caused by :: ${message}` })
    t.match(await newer.run(command), since44 === null ? { ok: 1 } : { code: since44 })
  }
  for (const $project of [
    { _id: 0 },
    { _id: 0, a: 1 },
    { _id: 1, a: 0 },
    { _id: 0, 'a.b': 0 },
    { a: { b: 1, c: '$_id' } },
  ])
    t.match(await older.run({ ...aggregate({ $project }), cursor: {} }), { ok: 1 }, JSON.stringify($project))
})

t.test('$substr of 2.6 has its own name, cuts characters and is empty below 0', async (t) => {
  const substr = (...operands: unknown[]) => aggregate({ $project: { v: { $substr: operands } } })
  const node = await filled('2.6', { _id: 1, s: 'añb' })
  t.match(await node.run(substr('$s')), {
    code: 16020,
    errmsg: 'Expression $substr takes exactly 3 arguments. 1 were passed in.',
  })
  t.match(await node.run(substr('$s', 'x', 1)), {
    code: 16034,
    errmsg: /\$substr: {2}starting index must be a numeric type \(is BSON type/,
  })
  t.match(await node.ok(substr('$s', -1, 2)), { result: [{ v: '' }] })
  t.match(await node.ok(substr('$s', 0, 1)), { result: [{ v: 'a' }] })
  t.ok(Buffer.from(await node.raw(substr('$s', 0, 2))).includes(Buffer.from([0x61, 0xc3, 0])))
  const newer = await filled('4.0', { _id: 1, s: 'añb' })
  t.match(await newer.run({ ...substr('$s', -1, 2), cursor: {} }), { code: 50752 })
  t.match(await newer.run({ ...substr('$s', 0, 2), cursor: {} }), { code: 28657 })
})

t.test('unknown expressions of $project have a code of their own since 4.4', async (t) => {
  const project = { ...aggregate({ $project: { v: { $nope: 1 } } }), cursor: {} }
  const answers: [EmulatedVersion, number, string][] = [
    ['2.6', 15999, "invalid operator '$nope'"],
    ['4.0', 168, "Invalid $project :: caused by :: Unrecognized expression '$nope'"],
    ['4.4', 31325, 'Invalid $project :: caused by :: Unknown expression $nope'],
  ]
  for (const [version, code, errmsg] of answers)
    t.match(await (await filled(version, {})).run(project), { code, errmsg })
})

t.test('a replacement of many documents is refused in the words of each version', async (t) => {
  const replace = { update: 'c', updates: [{ q: {}, u: { a: 1 }, multi: true }] }
  const textIn = async (version: EmulatedVersion) =>
    ((await (await filled(version, {})).run(replace))['writeErrors'] as Document[])[0]!['errmsg']
  t.equal(await textIn('4.0'), 'multi update only works with $ operators')
  t.equal(await textIn('4.4'), 'multi update is not supported for replacement-style update')
})

t.test('D110 profile 2.6 has the commands of drivers, and names types in arguments as later servers', async (t) => {
  const node = await filled('2.6', { _id: 1 }, { _id: 2 })
  const { id } = (await node.ok({ find: 'c', batchSize: 1 }))['cursor'] as { id: unknown }
  t.match(await node.ok({ getMore: id, collection: 'c' }), { cursor: { nextBatch: [{ _id: 2 }] } })
  t.match(await node.ok({ listIndexes: 'c' }), { ok: 1 })
  t.match(await node.ok({ getParameter: 1, orphanCleanupDelaySecs: 1 }, { db: 'admin' }), {
    orphanCleanupDelaySecs: 900,
  })
  t.match(await node.run({ update: 'c', updates: [{ q: {}, u: [] }] }), {
    code: 14,
    errmsg: "BSON field 'update.updates.u' is the wrong type 'array', expected type 'object'",
  })
  await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a', hidden: true }] })
  t.strictSame(
    ((await node.ok({ listIndexes: 'c' }))['cursor'] as { firstBatch: Document[] }).firstBatch[1]!['hidden'],
    undefined,
  )
})

import type { NodeCommand } from '@shardlab/actor'
import { decode, type Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

const batch = (reply: Document) => (reply['cursor'] as { firstBatch: Document[] }).firstBatch

async function withView(
  pipeline: Document[] = [{ $match: { a: { $gt: 1 } } }],
  options: Document = {},
): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version: '8.0' })
  await node.ok({ insert: 'c', documents: [1, 2, 3].map((a) => ({ _id: a, a, tags: ['x', `t${a}`] })) })
  await node.ok({ create: 'v', viewOn: 'c', pipeline, ...options })
  return node
}

async function direct(node: NodeUnderTest, command: Document, db = 'test'): Promise<Document> {
  const { body } = await node.node.clientCommand({
    connectionId: 1,
    body: node.command({ ...command, $db: db }).body,
    sequences: [],
    legacy: false,
    remote: '127.0.0.1:1',
  })
  return decode(body)
}

t.test('a client of the node reads a view', async (t) => {
  const node = await withView()
  const found = await direct(node, { find: 'v', filter: { a: { $lt: 3 } }, projection: { _id: 0, a: 1 } })
  t.same(batch(found), [{ a: 2 }])
  t.equal((found['cursor'] as Document)['ns'], 'test.v')
  t.match(await direct(node, { count: 'v' }), { n: 2, ok: 1 })
  t.match(await direct(node, { count: 'v', query: { a: 9 } }), { n: 0, ok: 1 })
  t.match(await direct(node, { count: 'v', skip: 1, limit: 5 }), { n: 1, ok: 1 })
  t.same(((await direct(node, { distinct: 'v', key: 'tags' }))['values'] as string[]).sort(), ['t2', 't3', 'x'])
  t.same((await direct(node, { distinct: 'v', key: 'tags', query: { a: 9 } }))['values'], [])
  t.same(
    batch(
      await direct(node, { aggregate: 'v', pipeline: [{ $group: { _id: null, sum: { $sum: '$a' } } }], cursor: {} }),
    ),
    [{ _id: null, sum: 5 }],
  )
  const first = await direct(node, { find: 'v', sort: { a: 1 }, batchSize: 1 })
  const { id, ns } = first['cursor'] as { id: unknown; ns: string }
  t.equal(ns, 'test.v')
  const more = await direct(node, { getMore: id, collection: 'v' })
  t.match((more['cursor'] as Document)['nextBatch'], [{ a: 3 }])
  t.match(await direct(node, { find: 'v', returnKey: true }), {
    code: 168,
    errmsg: 'Option returnKey not supported in aggregation.',
  })
})

t.test('a router gets the resolved view', async (t) => {
  const node = await withView()
  await node.ok({ create: 'w', viewOn: 'v', pipeline: [{ $project: { a: 1 } }] })
  const routed: NodeCommand = { ...node.command({ find: 'w' }), shardVersion: 'UNSHARDED' }
  const reply = decode((await node.node.nodeCommand(routed)).body)
  t.match(reply, { ok: 0, code: 169, codeName: 'CommandOnShardedViewNotSupportedOnMongod' })
  t.same(reply['resolvedView'], {
    ns: 'test.c',
    pipeline: [{ $match: { a: { $gt: 1 } } }, { $project: { a: 1 } }],
    collation: { locale: 'simple' },
  })
})

t.test('view definitions are listed, changed, dropped and recovered', async (t) => {
  const node = await withView()
  const list = async (of: NodeUnderTest) => batch(await of.ok({ listCollections: 1 }))
  t.same(
    (await list(node)).map((each) => [each['name'], each['type']]),
    [
      ['c', 'collection'],
      ['system.views', 'collection'],
      ['v', 'view'],
    ],
  )
  const view = (await list(node))[2]!
  t.same(view['options'], { viewOn: 'c', pipeline: [{ $match: { a: { $gt: 1 } } }] })
  t.same(view['info'], { readOnly: true })
  t.same(
    await node.ok({ create: 'v', viewOn: 'c', pipeline: [{ $match: { a: { $gt: 1 } } }] }),
    { ok: 1 },
    'the same again',
  )
  t.match(await node.run({ create: 'v', viewOn: 'c', pipeline: [] }), { code: 48 })
  t.match(await node.run({ create: 'v' }), { code: 48 })
  t.match(await node.run({ create: 'c', viewOn: 'd' }), { code: 48 })
  await node.ok({ collMod: 'v', viewOn: 'c', pipeline: [{ $match: { a: 1 } }] })
  const again = node.restarted()
  t.equal((await direct(again, { count: 'v' }))['n'], 1)
  t.same(await again.ok({ drop: 'v' }), { ns: 'test.v', ok: 1 })
  t.equal((await direct(again, { count: 'v' }))['n'], 0)
  t.equal((await list(again)).length, 2)
})

t.test('invalid view definitions are refused', async (t) => {
  const node = await withView()
  const create = (name: string, viewOn: string, pipeline: Document[] = [], more: Document = {}) =>
    node.run({ create: name, viewOn, pipeline, ...more })
  t.match(await create('x', 'c', [{ $out: 'o' }]), {
    code: 167,
    errmsg: /^Invalid pipeline for view test.x :: caused by :: /,
  })
  t.match(await create('x', 'c', [{ $nope: 1 }]), { code: 40324 })
  t.match(await create('x', ''), { code: 2 })
  t.match(await node.run({ create: 'x', pipeline: [] }), {
    code: 72,
    errmsg: "'pipeline' requires 'viewOn' to also be specified",
  })
  t.match(await create('self', 'self'), { code: 5, errmsg: 'View cycle detected: test.self => test.self => test.self' })
  await node.ok({ create: 'b', viewOn: 'a' })
  t.match(await create('a', 'b'), { code: 5, errmsg: 'View cycle detected: test.a => test.a => test.b => test.a' })
  t.match(await create('x', 'c', [{ $lookup: { from: 'x', localField: 'a', foreignField: 'a', as: 'j' } }]), {
    code: 5,
  })
  for (let depth = 1; depth <= 20; depth++)
    await node.ok({ create: `d${depth}`, viewOn: depth === 1 ? 'c' : `d${depth - 1}` })
  t.match(await create('d21', 'd20'), { code: 165, errmsg: 'View depth limit exceeded; maximum depth is 20' })
  t.match(await create('fr', 'v', [], { collation: { locale: 'fr' } }), {
    code: 167,
    errmsg: 'View test.fr has conflicting collation with view test.v',
  })
})

t.test('a constant that fails is found when the view is read', async (t) => {
  for (const pipeline of [[{ $set: { a: { $add: ['text', 1] } } }], [{ $match: { $expr: { $add: ['text', 1] } } }]]) {
    const node = await withView(pipeline)
    t.match(await direct(node, { find: 'v' }), { code: 14, errmsg: /^Failed to optimize pipeline :: caused by :: / })
    await node.ok({ create: 'above', viewOn: 'v', pipeline: [] })
  }
})

t.test('views cannot be written, indexed or renamed', async (t) => {
  const node = await withView()
  const refused = { code: 166, errmsg: 'Namespace test.v is a view, not a collection' }
  t.match(await node.run({ insert: 'v', documents: [{}] }), { n: 0, writeErrors: [refused] })
  t.match(await node.run({ update: 'v', updates: [{ q: {}, u: { $set: { a: 1 } } }] }), {
    n: 0,
    writeErrors: [refused],
  })
  t.match(await node.run({ delete: 'v', deletes: [{ q: {}, limit: 1 }] }), { n: 0, writeErrors: [refused] })
  t.match(await node.run({ findAndModify: 'v', query: {}, remove: true }), refused)
  t.match(await node.run({ createIndexes: 'v', indexes: [{ key: { a: 1 }, name: 'a_1' }] }), {
    code: 166,
    errmsg: 'Cannot create indexes on a view',
  })
  t.match(await node.run({ dropIndexes: 'v', index: '*' }), { code: 166, errmsg: 'Cannot drop indexes on view test.v' })
  t.match(await node.run({ listIndexes: 'v' }), refused)
  t.match(await node.run({ renameCollection: 'test.v', to: 'test.w' }, { db: 'admin' }), {
    code: 166,
    errmsg: 'cannot rename view: test.v',
  })
  t.match(await node.run({ collMod: 'v', validator: {} }), {
    code: 72,
    errmsg: 'option not supported on a view: validator',
  })
  t.match(await node.run({ collMod: 'c', viewOn: 'd' }), {
    code: 72,
    errmsg: "'viewOn' option only supported on a view",
  })
})

t.test("a view's collation is that of all operations on it", async (t) => {
  const node = await withView([], { collation: { locale: 'en', strength: 2 } })
  await node.ok({ insert: 'c', documents: [{ _id: 9, s: 'ABC' }] })
  t.equal((await direct(node, { count: 'v', query: { s: 'abc' } }))['n'], 1)
  t.match(await direct(node, { find: 'v', collation: { locale: 'fr' } }), {
    code: 167,
    errmsg: /^Cannot override a view's default collation/,
  })
  t.equal((await direct(node, { count: 'v', query: { s: 'abc' }, collation: { locale: 'en', strength: 2 } }))['n'], 1)
})

t.test('a broken view definition is refused where it is used', async (t) => {
  const node = new NodeUnderTest({ version: '4.4' })
  await node.ok({ insert: 'system.views', documents: [{ _id: 'test.bad', viewOn: 7 }] })
  t.match(await direct(node, { find: 'bad' }), { code: 182 })
})

import type { Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

async function filled(version: EmulatedVersion): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version })
  await node.ok({ insert: 'a', documents: [{ _id: 1 }] })
  await node.ok({ create: 'b', capped: true, size: 4096 })
  return node
}

const found = async (node: NodeUnderTest, command: Document): Promise<Document[]> =>
  ((await node.ok(command))['cursor'] as { firstBatch: Document[] }).firstBatch

const insert = (...documents: Document[]): Document => ({ insert: 'system.indexes', documents })
const byX = { key: { x: 1 }, name: 'x_1', ns: 'test.a' }

t.test('system.indexes of 2.6 lists the indexes of all collections of a database', async (t) => {
  const node = await filled('2.6')
  await node.ok({ createIndexes: 'a', indexes: [{ key: { x: 1 }, name: 'x_1', unique: true }] })
  t.same(await found(node, { find: 'system.indexes' }), [
    { v: 1, key: { _id: 1 }, name: '_id_', ns: 'test.a' },
    { v: 1, unique: true, key: { x: 1 }, name: 'x_1', ns: 'test.a' },
    { v: 1, key: { _id: 1 }, name: '_id_', ns: 'test.b' },
  ])
  t.same(await found(node, { find: 'system.indexes', filter: { ns: 'test.a' }, sort: { name: -1 }, limit: 1 }), [
    { v: 1, unique: true, key: { x: 1 }, name: 'x_1', ns: 'test.a' },
  ])
  t.match(await node.ok({ count: 'system.indexes', query: { ns: 'test.a' } }), { n: 2 })
  t.match(await node.ok({ distinct: 'system.indexes', key: 'ns' }), { values: ['test.a', 'test.b'] })
  const group = { $group: { _id: '$ns', n: { $sum: 1 } } }
  t.same((await node.ok({ aggregate: 'system.indexes', pipeline: [group, { $sort: { _id: 1 } }] }))['result'], [
    { _id: 'test.a', n: 2 },
    { _id: 'test.b', n: 1 },
  ])
  t.same(await found(node, { find: 'system.indexes', filter: { _id: 1 } }), [])
  t.equal((await found(node, { find: 'system.indexes', filter: { _id: null } })).length, 3)
  t.match(await node.ok({ explain: { find: 'system.indexes', filter: { _id: 1 } } }), {
    queryPlanner: { winningPlan: { stage: 'COLLSCAN' } },
  })
  const { cursor } = (await node.ok({ find: 'system.indexes', batchSize: 1 })) as { cursor: Document }
  const { cursor: more } = (await node.ok({ getMore: cursor['id'], collection: 'system.indexes' })) as {
    cursor: Document
  }
  t.equal((more['nextBatch'] as Document[]).length, 2)
})

t.test('system.namespaces of 2.6 lists collections with their options, and their indexes', async (t) => {
  const node = await filled('2.6')
  t.same(await found(node, { find: 'system.namespaces' }), [
    { name: 'test.system.indexes' },
    { name: 'test.a' },
    { name: 'test.a.$_id_' },
    { name: 'test.b', options: { create: 'b', capped: true, size: 4096 } },
    { name: 'test.b.$_id_' },
  ])
})

t.test('there are no catalog collections in a database without collections, and none since 4.0', async (t) => {
  const node = await filled('2.6')
  t.same((await node.ok({ count: 'system.namespaces' }, { db: 'other' }))['n'], 0)
  for (const version of ['4.0', '4.4'] as const) {
    const later = await filled(version)
    t.same(await found(later, { find: 'system.indexes' }), [])
    t.same(await found(later, { find: 'system.namespaces' }), [])
  }
})

t.test('until 4.0 an insert into system.indexes creates an index, once', async (t) => {
  for (const version of ['2.6', '4.0'] as const) {
    const node = await filled(version)
    t.match(await node.ok(insert(byX)), { n: 1, writeErrors: undefined })
    t.match(await node.ok(insert({ _id: 7, ...byX })), { n: 0, writeErrors: undefined })
    t.match(await node.ok(insert({ ...byX, ns: 'test.new.name' })), { n: 1 })
    const names = async (name: string) => (await found(node, { listIndexes: name })).map((index) => index['name'])
    t.same(await names('a'), ['_id_', 'x_1'])
    t.same(await names('new.name'), ['_id_', 'x_1'])
    t.match(await node.ok(insert({ ...byX, key: { x: 1, y: 0 }, name: 'other' })), {
      n: 0,
      writeErrors: [{ index: 0, code: 67, errmsg: String }],
    })
  }
  const node = await filled('4.4')
  t.match(await node.run(insert(byX)), { ok: 0, code: 73, errmsg: 'Invalid system namespace: test.system.indexes' })
})

t.test('an insert into system.indexes names a collection of the database, and is alone', async (t) => {
  const old = await filled('2.6')
  t.match(await old.run(insert(byX, byX)), { code: 72, errmsg: 'invalid batch request for index creation' })
  t.match(await old.run(insert({ key: { x: 1 } })), { code: 72, errmsg: ' is not a valid namespace to index' })
  t.match(await old.run(insert({ ...byX, ns: 'other.a' })), {
    code: 72,
    errmsg: 'other.a namespace is not in the request database test',
  })
  const node = await filled('4.0')
  t.match(await node.run(insert(byX, byX)), {
    code: 16,
    errmsg: 'Insert commands to system.indexes are limited to a single insert',
  })
  t.match(await node.run(insert({ ...byX, ns: 'a' })), { code: 73, errmsg: 'a is not a valid namespace to index' })
  t.match(await node.run(insert({ ...byX, ns: 'other.a' })), {
    code: 20,
    errmsg: 'other.a is not in the target database test',
  })
})

t.test('clients cannot change the catalog collections in another way', async (t) => {
  const node = await filled('2.6')
  const update = (q: Document, u: Document, rest: Document = {}): Document => ({
    update: 'system.indexes',
    updates: [{ q, u, ...rest }],
  })
  t.match(await node.ok(update({ ns: 'test.a' }, { $set: { x: 1 } }, { upsert: true })), {
    n: 0,
    writeErrors: [
      {
        code: 10156,
        errmsg: 'cannot update system collection: test.system.indexes q: { ns: "test.a" } u: { $set: { x: 1 } }',
      },
    ],
  })
  const removal = { delete: 'system.indexes', deletes: [{ q: {}, limit: 0 }] }
  t.match(await node.ok(removal), {
    n: 0,
    writeErrors: [{ code: 12050, errmsg: 'cannot delete from system namespace' }],
  })
  t.match(await node.run({ findAndModify: 'system.indexes', remove: true }), { code: 12050 })
  t.match(await node.run({ createIndexes: 'system.indexes', indexes: [byX] }), {
    code: 67,
    errmsg: 'cannot create indexes on the system.indexes collection',
  })
  t.match(await node.run({ drop: 'system.indexes' }), { code: 20, errmsg: "can't drop system ns" })
  t.match(await node.run({ insert: 'system.namespaces', documents: [{}] }), {
    ok: 0,
    code: 2,
    errmsg: "cannot write to 'test.system.namespaces'",
  })
  const later = await filled('4.0')
  t.match(await later.ok(update({}, { $set: { x: 1 } })), {
    writeErrors: [{ code: 10156, errmsg: 'cannot update a system namespace: test.system.indexes' }],
  })
  t.match(await later.ok(removal), { writeErrors: [{ code: 12050 }] })
  t.match(await later.run({ create: 'system.indexes' }), { code: 73 })
  t.match(await later.run({ insert: 'system.namespaces', documents: [{}] }), {
    code: 73,
    errmsg: "cannot write to 'test.system.namespaces'",
  })
})

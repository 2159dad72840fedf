/** Manual: reference/command/planCacheSetFilter. Server: jstests/core/index_filter_commands.js. */
import t from 'tap'
import type { Document } from '@shardlab/bson'
import { NodeUnderTest } from './support/harness.js'

async function filled(version?: '2.6'): Promise<NodeUnderTest> {
  const node = new NodeUnderTest(version === undefined ? {} : { version })
  await node.ok({ insert: 'c', documents: Array.from({ length: 20 }, (_, _id) => ({ _id, a: _id, b: _id % 2 })) })
  for (const key of [{ a: 1 }, { b: 1 }, { a: 1, b: 1 }])
    await node.ok({ createIndexes: 'c', indexes: [{ key, name: Object.keys(key).join('_') }] })
  return node
}

/** The index that the winning plan scans; null: it scans the collection. */
async function indexOf(node: NodeUnderTest, command: Document): Promise<{ index: string | null; isFiltered: boolean }> {
  const { queryPlanner } = await node.ok({ explain: command, verbosity: 'queryPlanner' })
  let stage = queryPlanner.winningPlan
  while (stage.inputStage !== undefined) stage = stage.inputStage
  return { index: stage.indexName ?? null, isFiltered: queryPlanner.indexFilterSet }
}

const query = { a: 5, b: 1 }

t.test('the planner considers only the indexes of a filter, whatever the values and the hint are', async (t) => {
  const node = await filled()
  t.match(await indexOf(node, { find: 'c', filter: query }), { isFiltered: false })
  await node.ok({ planCacheSetFilter: 'c', query: { b: 0, a: 0 }, indexes: [{ b: 1 }] })
  for (const command of [
    { find: 'c', filter: query },
    { find: 'c', filter: query, hint: 'a_b' },
    { count: 'c', query },
    { distinct: 'c', key: 'a', query },
    { update: 'c', updates: [{ q: query, u: { $set: { x: 1 } } }] },
    { delete: 'c', deletes: [{ q: query, limit: 1 }] },
  ])
    t.same(await indexOf(node, command), { index: 'b', isFiltered: true }, Object.keys(command)[0]!)
  t.match((await node.ok({ find: 'c', filter: query }))['cursor'].firstBatch, [{ _id: 5 }])
  t.match(await indexOf(node, { find: 'c', filter: query, sort: { a: 1 } }), { isFiltered: false }, 'another shape')
  t.match(await indexOf(node, { find: 'c', filter: query, hint: { $natural: 1 } }), { index: null, isFiltered: false })
  await node.ok({ planCacheSetFilter: 'c', query: { b: 0, a: 0 }, indexes: ['gone'] })
  t.same(await indexOf(node, { find: 'c', filter: query }), { index: null, isFiltered: true })
})

t.test('filters do not apply to lookups by _id', async (t) => {
  const node = await filled()
  await node.ok({ planCacheSetFilter: 'c', query: { _id: 0 }, indexes: ['b'] })
  t.match(await indexOf(node, { find: 'c', filter: { _id: 3 } }), { isFiltered: false })
})

t.test('filters are listed, replaced, removed by shape and together, and dropped with the collection', async (t) => {
  const node = await filled()
  const list = async () => (await node.ok({ planCacheListFilters: 'c' }))['filters']
  const collation = { locale: 'de' }
  await node.ok({ planCacheSetFilter: 'c', query, sort: { a: 1 }, projection: { a: 1 }, indexes: [{ a: 1 }, 'b'] })
  await node.ok({ planCacheSetFilter: 'c', query, collation, indexes: ['b'] })
  await node.ok({ planCacheSetFilter: 'c', query, indexes: ['a'] })
  await node.ok({ planCacheSetFilter: 'c', query: { a: 9, b: 9 }, indexes: ['b'] })
  t.same(await list(), [
    { query, sort: { a: 1 }, projection: { a: 1 }, indexes: [{ a: 1 }, 'b'] },
    { query, sort: {}, projection: {}, collation, indexes: ['b'] },
    { query: { a: 9, b: 9 }, sort: {}, projection: {}, indexes: ['b'] },
  ])
  await node.ok({ planCacheClearFilters: 'c', query })
  t.equal((await list()).length, 2)
  t.match(await node.run({ planCacheClearFilters: 'c', sort: {} }), { code: 2 })
  await node.ok({ planCacheClearFilters: 'c' })
  t.same(await list(), [])
  await node.ok({ planCacheSetFilter: 'c', query, indexes: ['a'] })
  await node.ok({ drop: 'c' })
  await node.ok({ create: 'c' })
  t.same(await list(), [])
})

t.test('planCacheSetFilter refuses missing collections and wrong indexes', async (t) => {
  const node = await filled()
  const refusal = (command: Document) => node.run({ planCacheSetFilter: 'c', query, ...command })
  t.match(await node.run({ planCacheSetFilter: 'none', query, indexes: ['a'] }), {
    code: 2,
    errmsg: 'no such collection',
  })
  t.match(await refusal({}), { code: 2, errmsg: 'required field indexes missing' })
  t.match(await refusal({ indexes: 1 }), { code: 2, errmsg: 'required field indexes must be an array' })
  t.match(await refusal({ indexes: [] }), { errmsg: 'required field indexes must contain at least one index' })
  t.match(await refusal({ indexes: [1] }), { errmsg: 'each item in indexes must be an object or string' })
  t.match(await refusal({ indexes: [{}] }), { errmsg: 'index specification cannot be empty' })
  t.match(await node.run({ planCacheSetFilter: 'c', indexes: ['a'] }), { errmsg: 'required field query missing' })
  const old = await filled('2.6')
  t.match(await old.run({ planCacheSetFilter: 'c', query, indexes: ['a'] }), {
    errmsg: 'each item in indexes must be an object',
  })
})

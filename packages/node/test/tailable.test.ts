import type { Document, Long } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

interface Cursor {
  id: Long
  firstBatch: Document[]
  nextBatch: Document[]
}
const cursorOf = (reply: Document) => reply['cursor'] as Cursor
const ids = (documents: Document[]) => documents.map((document) => document['_id'])

async function capped(count: number, max = 100): Promise<NodeUnderTest> {
  const node = new NodeUnderTest()
  await node.ok({ create: 'c', capped: true, size: 100_000, max })
  if (count > 0) await node.ok({ insert: 'c', documents: Array.from({ length: count }, (_, i) => ({ _id: i })) })
  return node
}

t.test('a tailable cursor stays open at the end and returns documents that are added later', async (t) => {
  const node = await capped(2)
  const first = cursorOf(await node.ok({ find: 'c', tailable: true }))
  t.same(ids(first.firstBatch), [0, 1])
  t.not(first.id.toNumber(), 0)
  t.same(cursorOf(await node.ok({ getMore: first.id, collection: 'c' })).nextBatch, [])
  await node.ok({ insert: 'c', documents: [{ _id: 'a' }, { _id: 'b' }] })
  const more = cursorOf(await node.ok({ getMore: first.id, collection: 'c', batchSize: 1 }))
  t.same([ids(more.nextBatch), more.id.equals(first.id)], [['a'], true])
  t.same(ids(cursorOf(await node.ok({ getMore: first.id, collection: 'c' })).nextBatch), ['b'])
  t.match(await node.run({ getMore: first.id, collection: 'c', maxTimeMS: 5 }), { code: 2 }, 'it does not wait')
})

t.test('filters, projections, skip and limit apply to a tailable cursor', async (t) => {
  const node = await capped(4)
  const first = cursorOf(
    await node.ok({
      find: 'c',
      filter: { _id: { $ne: 1 } },
      projection: { double: { $add: ['$_id', '$_id'] } },
      skip: 1,
      tailable: true,
    }),
  )
  t.same(first.firstBatch, [
    { _id: 2, double: 4 },
    { _id: 3, double: 6 },
  ])
  await node.ok({ insert: 'c', documents: [{ _id: 7 }] })
  t.same(cursorOf(await node.ok({ getMore: first.id, collection: 'c' })).nextBatch, [{ _id: 7, double: 14 }])
})

t.test('a tailable find on an empty or missing collection keeps no cursor open', async (t) => {
  const node = await capped(0)
  t.equal(cursorOf(await node.ok({ find: 'c', tailable: true, awaitData: true })).id.toNumber(), 0)
  t.equal(cursorOf(await node.ok({ find: 'missing', tailable: true })).id.toNumber(), 0)
})

t.test('awaitData waits for maxTimeMS of the getMore, by default a second', async (t) => {
  const node = await capped(1)
  const { id } = cursorOf(await node.ok({ find: 'c', tailable: true, awaitData: true }))
  t.same(cursorOf(await node.ok({ getMore: id, collection: 'c' })).nextBatch, [])
  t.same(cursorOf(await node.ok({ getMore: id, collection: 'c', maxTimeMS: 250 })).nextBatch, [])
  t.same(node.context.sleeps, [1000, 250])
})

t.test('an insert ends the wait, one that does not match does not', async (t) => {
  const node = await capped(1)
  const { id } = cursorOf(
    await node.ok({ find: 'c', filter: { wanted: { $ne: false } }, tailable: true, awaitData: true }),
  )
  node.context.holdSleeps = true
  const waiting = node.run({ getMore: id, collection: 'c', maxTimeMS: 5000 })
  await node.ok({ insert: 'c', documents: [{ _id: 'no', wanted: false }] })
  t.match(
    await node.run({ getMore: id, collection: 'c' }),
    { code: 143, codeName: 'CursorInUse' },
    'one getMore at a time',
  )
  await node.ok({ insert: 'c', documents: [{ _id: 'yes' }] })
  t.same(ids(cursorOf(await waiting).nextBatch), ['yes'])
})

t.test('killing the cursor ends the wait', async (t) => {
  const node = await capped(1)
  const { id } = cursorOf(await node.ok({ find: 'c', tailable: true, awaitData: true }))
  node.context.holdSleeps = true
  const waiting = node.run({ getMore: id, collection: 'c' })
  t.match(await node.ok({ killCursors: 'c', cursors: [id] }), { cursorsKilled: [id] })
  t.match(await waiting, { ok: 0, code: 237, codeName: 'CursorKilled' })
  t.match(await node.run({ getMore: id, collection: 'c' }), { code: 43 })
})

t.test('a shutdown ends the wait with an empty batch', async (t) => {
  const node = await capped(1)
  const { id } = cursorOf(await node.ok({ find: 'c', tailable: true, awaitData: true }))
  node.context.holdSleeps = true
  const waiting = node.run({ getMore: id, collection: 'c' })
  node.node.stop()
  t.same(cursorOf(await waiting).nextBatch, [])
})

t.test('a cursor whose position was overwritten fails', async (t) => {
  const node = await capped(3, 3)
  const { id } = cursorOf(await node.ok({ find: 'c', tailable: true }))
  await node.ok({ insert: 'c', documents: ['a', 'b', 'c'].map((_id) => ({ _id })) })
  const reply = await node.run({ getMore: id, collection: 'c' })
  t.match(reply, { ok: 0, code: 136, codeName: 'CappedPositionLost' })
  t.match(
    reply['errmsg'],
    /^Executor error during getMore :: caused by :: CollectionScan died due to failure to restore tailable cursor position/,
  )
  t.match(await node.run({ getMore: id, collection: 'c' }), { code: 43 })
})

t.test('D606: a tailable cursor requires a capped collection; messages show the query as a tree', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'plain', documents: [{ a: 1 }] })
  const message = async (filter: Document) =>
    (await node.run({ find: 'plain', filter, tailable: true }))['errmsg'] as string
  const end = ' tailable cursor requested on non capped collection'
  t.equal(await message({}), `error processing query: ns=test.plainTree: $and\nSort: {}\nProj: {}\n${end}`)
  t.equal(await message({ a: 1 }), `error processing query: ns=test.plainTree: a $eq 1\nSort: {}\nProj: {}\n${end}`)
  t.equal(await message({ a: /x/ }), `error processing query: ns=test.plain${end}`)
})

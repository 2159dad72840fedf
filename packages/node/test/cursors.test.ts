import { decode, type Document, type Long } from '@shardlab/bson'
import t from 'tap'
import { long, NodeUnderTest, session } from './support/harness.js'

interface Cursor {
  id: Long
  ns: string
  firstBatch: Document[]
  nextBatch: Document[]
}
const cursorOf = (reply: Document) => reply['cursor'] as Cursor
const ids = (documents: Document[]) => documents.map((document) => document['_id'] as number)

async function filled(count: number, size = 0): Promise<NodeUnderTest> {
  const node = new NodeUnderTest()
  const documents = Array.from({ length: count }, (_, i) => ({ _id: i, ...(size > 0 ? { x: 'x'.repeat(size) } : {}) }))
  for (let at = 0; at < count; at += size > 0 ? 10 : count)
    await node.ok({ insert: 'c', documents: documents.slice(at, size > 0 ? at + 10 : count) })
  return node
}

t.test('find and getMore return batches of the requested sizes', async (t) => {
  const node = await filled(250)
  const first = cursorOf(await node.ok({ find: 'c' }))
  t.equal(first.firstBatch.length, 101, 'the default')
  t.equal(first.ns, 'test.c')
  const rest = cursorOf(await node.ok({ getMore: first.id, collection: 'c' }))
  t.equal(rest.nextBatch.length, 149, 'later ones are limited by bytes only')
  t.equal(rest.id.toNumber(), 0)
  t.equal(node.node.cursors.size, 0)
  const small = cursorOf(await node.ok({ find: 'c', batchSize: 100 }))
  const second = cursorOf(await node.ok({ getMore: small.id, collection: 'c', batchSize: 50 }))
  t.same([second.nextBatch.length, second.id.equals(small.id)], [50, true])
  const third = cursorOf(await node.ok({ getMore: small.id, collection: 'c' }))
  t.equal(third.nextBatch.length, 100, 'a getMore without a batch size has no limit, even if the find had one')
  t.equal(third.id.toNumber(), 0)
})

t.test(
  'a batch that ends exactly with the last document leaves the cursor open unless the plan knows its end',
  async (t) => {
    const node = await filled(4)
    for (const command of [
      { find: 'c', batchSize: 4 },
      { find: 'c', filter: { _id: { $gte: 0 } }, batchSize: 4 },
      { find: 'c', sort: { x: 1 }, limit: 4, batchSize: 4 },
      { aggregate: 'c', pipeline: [{ $match: {} }], cursor: { batchSize: 4 } },
    ]) {
      const first = cursorOf(await node.ok(command))
      t.equal(first.firstBatch.length, 4)
      t.not(first.id.toNumber(), 0, `${JSON.stringify(command)} reads on to find out`)
      const last = cursorOf(await node.ok({ getMore: first.id, collection: 'c', batchSize: 4 }))
      t.same([last.nextBatch.length, last.id.toNumber()], [0, 0])
    }
    for (const command of [
      { find: 'c', limit: 4, batchSize: 4 },
      { find: 'c', limit: 2, skip: 1, batchSize: 2 },
      { find: 'c', filter: { _id: 1 }, batchSize: 1 },
      { find: 'c', sort: { _id: -1 }, limit: 3, batchSize: 3 },
    ]) {
      t.equal(cursorOf(await node.ok(command)).id.toNumber(), 0, `${JSON.stringify(command)} knows`)
    }
    const two = cursorOf(await node.ok({ find: 'c', limit: 3, batchSize: 2 }))
    const one = cursorOf(await node.ok({ getMore: two.id, collection: 'c', batchSize: 1 }))
    t.same([one.nextBatch.length, one.id.toNumber()], [1, 0], 'getMore respects the limit of the find')
    t.equal(node.node.cursors.size, 0)
  },
)

t.test('a cursor whose end is known is not kept open', async (t) => {
  const node = await filled(5)
  for (const command of [
    { find: 'c' },
    { find: 'c', batchSize: 6 },
    { find: 'c', limit: 3 },
    { find: 'c', batchSize: 2, singleBatch: true },
    { find: 'c', limit: 1, batchSize: 1 },
    { find: 'missing', batchSize: 1 },
    { find: 'c', filter: { _id: 1 }, batchSize: 1 },
  ]) {
    t.equal(cursorOf(await node.ok(command)).id.toNumber(), 0, JSON.stringify(command))
  }
  t.equal(node.node.cursors.size, 0)
  const empty = cursorOf(await node.ok({ find: 'c', batchSize: 0 }))
  t.same(empty.firstBatch, [])
  t.not(empty.id.toNumber(), 0, 'an empty first batch opens a cursor')
  t.same(ids(cursorOf(await node.ok({ getMore: empty.id, collection: 'c' })).nextBatch), [0, 1, 2, 3, 4])
})

t.test('skip and limit span batches', async (t) => {
  const node = await filled(20)
  const first = cursorOf(await node.ok({ find: 'c', sort: { _id: -1 }, skip: 5, limit: 7, batchSize: 3 }))
  t.same(ids(first.firstBatch), [14, 13, 12])
  const second = cursorOf(await node.ok({ getMore: first.id, collection: 'c', batchSize: 3 }))
  t.same(ids(second.nextBatch), [11, 10, 9])
  t.same(ids(cursorOf(await node.ok({ getMore: first.id, collection: 'c', batchSize: 3 })).nextBatch), [8])
})

t.test('an open cursor reads its snapshot while writes continue', async (t) => {
  for (const command of [
    { find: 'c', batchSize: 10 },
    { find: 'c', sort: { a: 1, _id: 1 }, batchSize: 10 },
    { find: 'c', filter: { a: { $gte: 0 } }, limit: 60, batchSize: 50 },
    { aggregate: 'c', pipeline: [{ $match: {} }], cursor: { batchSize: 10 } },
  ]) {
    const node = new NodeUnderTest()
    await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
    await node.ok({ insert: 'c', documents: Array.from({ length: 100 }, (_, i) => ({ _id: i, a: 0 })) })
    const first = cursorOf(await node.ok(command))
    await node.ok({ update: 'c', updates: [{ q: {}, u: { $set: { a: 1 } }, multi: true }] })
    await node.ok({ delete: 'c', deletes: [{ q: { _id: { $gte: 50 } }, limit: 0 }] })
    await node.ok({ insert: 'c', documents: Array.from({ length: 100 }, (_, i) => ({ _id: 1000 + i, a: 0 })) })
    const all = [...first.firstBatch]
    for (let id = first.id; !id.isZero();) {
      const next = cursorOf(await node.ok({ getMore: id, collection: 'c' }))
      all.push(...next.nextBatch)
      id = next.id
    }
    const count = 'limit' in command ? 60 : 100
    t.same(
      ids(all),
      Array.from({ length: count }, (_, i) => i),
      JSON.stringify(command),
    )
    t.ok(all.every((document) => document['a'] === 0))
  }
})

t.test('a limit that exceeds 16 MB leaves a cursor on its snapshot', async (t) => {
  const node = await filled(30, 1024 * 1024)
  const first = cursorOf(await node.ok({ find: 'c', limit: 25 }))
  t.equal(first.firstBatch.length, 15)
  await node.ok({ delete: 'c', deletes: [{ q: {}, limit: 0 }] })
  t.same(
    ids(cursorOf(await node.ok({ getMore: first.id, collection: 'c' })).nextBatch),
    [15, 16, 17, 18, 19, 20, 21, 22, 23, 24],
  )
})

t.test('a router that merges gets batches of the size that it asks for', async (t) => {
  const node = await filled(30, 100 * 1024)
  const batchBytesMax = 1024 * 1024
  const read = async (command: Document): Promise<Document> =>
    cursorOf(decode((await node.node.nodeCommand({ ...node.command(command), batchBytesMax })).body))
  const first = await read({ find: 'c', batchSize: 1000 })
  t.same(ids(first['firstBatch']), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  const second = await read({ getMore: first['id'], collection: 'c', batchSize: 1000 })
  t.same(ids(second['nextBatch']), [10, 11, 12, 13, 14, 15, 16, 17, 18, 19])
})

t.test('one document always fits', async (t) => {
  const node = new NodeUnderTest()
  const huge = 'x'.repeat(16 * 1024 * 1024 - 100)
  await node.ok({ insert: 'c', documents: [{ _id: 1, huge }] })
  await node.ok({ insert: 'c', documents: [{ _id: 2, huge }] })
  const first = cursorOf(await node.ok({ find: 'c' }))
  t.same(ids(first.firstBatch), [1])
  t.same(ids(cursorOf(await node.ok({ getMore: first.id, collection: 'c' })).nextBatch), [2])
})

t.test('killCursors closes cursors', async (t) => {
  const node = await filled(5)
  const { id } = cursorOf(await node.ok({ find: 'c', batchSize: 1 }))
  const reply = await node.ok({ killCursors: 'c', cursors: [id, long(12345)] })
  t.match(reply, { cursorsKilled: [id], cursorsNotFound: [long(12345)], cursorsAlive: [], cursorsUnknown: [] })
  const open = cursorOf(await node.ok({ find: 'c', batchSize: 1 }))
  t.match(await node.run({ killCursors: 'c', cursors: [open.id, 1] }), { code: 14 })
  t.match(
    await node.run({ getMore: open.id, collection: 'c' }),
    { ok: 1 },
    'nothing is closed by a command that is refused',
  )
  t.equal((await node.run({ getMore: id, collection: 'c' }))['code'], 43)
})

t.test('a cursor belongs to its namespace and its session', async (t) => {
  const node = await filled(5)
  const { id } = cursorOf(await node.ok({ find: 'c', batchSize: 1, lsid: session(1) }))
  t.equal((await node.run({ getMore: id, collection: 'other', lsid: session(1) }))['code'], 13)
  t.equal((await node.run({ getMore: id, collection: 'c' }))['code'], 50737)
  t.equal((await node.run({ getMore: id, collection: 'c', lsid: session(2) }))['code'], 50738)
  const free = cursorOf(await node.ok({ find: 'c', batchSize: 1 })).id
  t.equal((await node.run({ getMore: free, collection: 'c', lsid: session(1) }))['code'], 50736)
  t.equal(
    (await node.run({ getMore: id, collection: 'c', lsid: session(1) }))['ok'],
    1,
    'the refused ones did it no harm',
  )
})

t.test('an idle cursor and one whose session ends are closed; noCursorTimeout keeps an idle one', async (t) => {
  const node = await filled(5)
  const open = async (rest: Document = {}) => cursorOf(await node.ok({ find: 'c', batchSize: 1, ...rest })).id
  const lost = async (id: Long, rest: Document = {}) =>
    (await node.run({ getMore: id, collection: 'c', batchSize: 1, ...rest }))['code'] === 43
  const idle = await open()
  const kept = await open({ noCursorTimeout: true })
  node.context.nowMs += 10 * 60_000 + 1
  t.equal(node.node.wake('housekeeping'), true)
  t.ok(await lost(idle))
  t.notOk(await lost(kept))
  t.equal(node.node.wake('another'), false)
  const ended = await open({ lsid: session(1) })
  await node.ok({ endSessions: [session(1)] })
  t.ok(await lost(ended, { lsid: session(1) }))
})

t.test('a cursor does not survive an error', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({
    insert: 'c',
    documents: [
      { _id: 1, a: 1 },
      { _id: 2, a: 1 },
      { _id: 3, a: 1 },
      { _id: 4, a: 'x' },
      { _id: 5, a: 1 },
    ],
  })
  const first = cursorOf(
    await node.ok({ aggregate: 'c', pipeline: [{ $addFields: { b: { $add: ['$a', 1] } } }], cursor: { batchSize: 1 } }),
  )
  t.match(await node.run({ getMore: first.id, collection: 'c', batchSize: 100 }), { ok: 0, code: 14 })
  t.equal((await node.run({ getMore: first.id, collection: 'c' }))['code'], 43)
})

t.test('the cursor table has a limit', async (t) => {
  const { CursorManager } = await import('../src/cursors/cursor-manager.js')
  const limits: unknown[] = []
  const table = new CursorManager(
    () => 1n,
    (limit, value) => limits.push([limit, value]),
    { cursorsMax: 1, droppedCursorsMax: 1, droppedBytesMax: 1 },
  )
  const options = { ns: 'a.b', source: { next: () => null }, session: null, noTimeout: false }
  table.open(options, 0)
  t.throws(() => table.open(options, 0), { code: 365 })
  t.same(limits, [['cursorsMax', 1]])
})

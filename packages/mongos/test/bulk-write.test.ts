import { CommandError, decode, Long, UUID, type Document } from '@shardlab/bson'
import t from 'tap'
import { FakeCluster, errorReply, statementsOf } from './support/fake-cluster.js'
import { RealCluster } from './support/real-cluster.js'

const nsInfo = [{ ns: 'test.c' }, { ns: 'other.d' }]
const bulk = (ops: Document[], more: Document = {}) => ({ bulkWrite: 1, ops, nsInfo, ...more, $db: 'admin' })
const itemsOf = (reply: Document) => (reply['cursor'] as Document)['firstBatch'] as Document[]
const session = (byte: number) => ({ id: new UUID(Buffer.alloc(16, byte)) })

t.test('ops of a bulkWrite go to the shards of their collections', async (t) => {
  for (const ordered of [true, false]) {
    const cluster = await RealCluster.create()
    const reply = await cluster.run(
      bulk(
        [
          { insert: 0, document: { _id: 1, x: -5 } },
          { insert: 0, document: { _id: 2, x: 50 } },
          { insert: 1, document: { _id: 'a' } },
          { insert: 0, document: { _id: 3, x: 150 } },
          { insert: 1, document: { _id: 'b' } },
        ],
        { ordered },
      ),
    )
    t.match(reply, { ok: 1, nInserted: 5, nErrors: 0, cursor: { ns: 'admin.$cmd.bulkWrite' } })
    t.same(
      itemsOf(reply),
      [0, 1, 2, 3, 4].map((idx) => ({ ok: 1, idx, n: 1 })),
    )
    t.equal(cluster.countOf('bulkWrite'), ordered ? 5 : 4, 'in order each change of place is a message of its own')
    t.equal((await cluster.all()).length, 3)
    t.equal((await cluster.all('d', 'other')).length, 2)
  }
})

t.test('updates and deletes reach one shard, several, or the shard that has the document', async (t) => {
  const cluster = await RealCluster.create()
  await cluster.run({ insert: 'c', documents: [-5, 50, 150].map((x, i) => ({ _id: i, x, v: i })) })
  const reply = await cluster.run(
    bulk([
      { update: 0, filter: { x: 50 }, updateMods: { $set: { a: 1 } } },
      { update: 0, filter: {}, updateMods: { $set: { b: 1 } }, multi: true },
      { update: 0, filter: { v: 2 }, updateMods: { $set: { c: 1 } } },
      { update: 0, filter: { v: 9 }, updateMods: { $set: { c: 1 } } },
      { update: 0, filter: { x: 70, k: 1 }, updateMods: { $set: { c: 1 } }, upsert: true },
      { update: 0, filter: {}, updateMods: { $set: { last: 1 } }, sort: { v: -1 } },
      { delete: 0, filter: { v: 0 } },
      { delete: 0, filter: { b: 1 }, multi: true },
    ]),
  )
  t.match(reply, { nMatched: 6, nModified: 6, nUpserted: 1, nDeleted: 3, nErrors: 0 })
  const upsertedId = (itemsOf(reply)[4]!['upserted'] as Document)['_id']
  t.same(itemsOf(reply), [
    { ok: 1, idx: 0, n: 1, nModified: 1 },
    { ok: 1, idx: 1, n: 3, nModified: 3 },
    { ok: 1, idx: 2, n: 1, nModified: 1 },
    { ok: 1, idx: 3, n: 0, nModified: 0 },
    { ok: 1, idx: 4, n: 1, nModified: 0, upserted: { _id: upsertedId } },
    { ok: 1, idx: 5, n: 1, nModified: 1 },
    { ok: 1, idx: 6, n: 1 },
    { ok: 1, idx: 7, n: 2 },
  ])
  t.match(await cluster.all(), [{ x: 70, k: 1, c: 1 }])
})

t.test('errors have the positions of the ops in the client command', async (t) => {
  const ops = [
    { insert: 0, document: { _id: 1, x: 1 } },
    { insert: 1, document: { _id: 1 } },
    { insert: 1, document: { _id: 1 } },
    { insert: 0, document: { _id: 1, x: [1] } },
    { insert: 0, document: { _id: 2, x: 500 } },
  ]
  const cluster = await RealCluster.create()
  const ordered = await cluster.run(bulk(ops))
  t.match(ordered, { nErrors: 1, nInserted: 2 })
  t.match(itemsOf(ordered), [{ idx: 0 }, { idx: 1 }, { ok: 0, idx: 2, code: 11000, keyValue: { _id: 1 }, n: 0 }])
  const unordered = await (await RealCluster.create()).run(bulk(ops, { ordered: false, errorsOnly: true }))
  t.match(unordered, { nErrors: 2, nInserted: 3 })
  t.match(itemsOf(unordered), [
    { idx: 2, code: 11000 },
    { idx: 3, code: 61 },
  ])
})

t.test('results beyond the first batch are read through a cursor', async (t) => {
  const cluster = await RealCluster.create()
  const ops = Array.from({ length: 7 }, (_, _id) => ({ insert: 0, document: { _id, x: _id } }))
  let { cursor } = await cluster.run(bulk(ops, { cursor: { batchSize: 3 } }))
  const indexes = cursor.firstBatch.map(({ idx }: Document) => idx)
  while (!cursor.id.isZero()) {
    cursor = (await cluster.run({ getMore: cursor.id, collection: '$cmd.bulkWrite', batchSize: 3, $db: 'admin' }))[
      'cursor'
    ]
    indexes.push(...cursor.nextBatch.map(({ idx }: Document) => idx))
  }
  t.same(indexes, [0, 1, 2, 3, 4, 5, 6])
})

t.test('a repeated bulkWrite is answered from the history and not executed', async (t) => {
  const cluster = await RealCluster.create()
  await cluster.run({ insert: 'c', documents: [-5, 50, 150].map((x, i) => ({ _id: i, x, v: 0 })) })
  const command = bulk(
    [
      { insert: 1, document: { _id: 1 } },
      { update: 0, filter: { v: 0 }, updateMods: { $inc: { v: 1 } } },
      { update: 0, filter: { x: 150 }, updateMods: { $inc: { w: 1 } } },
      { update: 0, filter: { x: 20 }, updateMods: { $inc: { w: 1 } }, upsert: true },
      { delete: 0, filter: { v: 0 } },
    ],
    { lsid: session(1), txnNumber: Long.fromNumber(1) },
  )
  const first = await cluster.run(command)
  const before = await cluster.all()
  const again = await cluster.run(command)
  t.same(again['retriedStmtIds'], [0, 1, 2, 3, 4])
  t.same(itemsOf(again), itemsOf(first))
  t.same(await cluster.all(), before)
})

t.test('the router gives an _id to a document without one', async (t) => {
  const cluster = await RealCluster.create()
  await cluster.run(bulk([{ insert: 0, document: { x: 1 } }]))
  t.ok((await cluster.all())[0]!['_id'])
  const { command } = cluster.commandsTo('shard02').find(({ name }) => name === 'bulkWrite')!
  t.ok((decode(command.sequences.find(([id]) => id === 'ops')![1][0]!)['document'] as Document)['_id'])
})

t.test('the failure of a shard fails the ops that were sent to it', async (t) => {
  const cluster = new FakeCluster({ emulate: '8.0' })
  cluster.shardByRange('test.c', 'x', [0, 100], ['shard01', 'shard02', 'shard03'])
  cluster.script((shard) =>
    shard === 'shard01'
      ? errorReply(new CommandError('OutOfDiskSpace', 'full'))
      : {
          cursor: { id: Long.ZERO, firstBatch: [{ ok: 1, idx: 0, n: 1 }], ns: 'admin.$cmd.bulkWrite' },
          nErrors: 0,
          nInserted: 1,
          nMatched: 0,
          nModified: 0,
          nUpserted: 0,
          nDeleted: 0,
          ok: 1,
        },
  )
  const ops = [-1, 50, -2].map((x) => ({ insert: 0, document: { _id: x, x } }))
  const reply = await cluster.run(bulk(ops, { ordered: false }))
  t.match(reply, { nErrors: 2, nInserted: 1 })
  t.match(itemsOf(reply), [
    { ok: 0, idx: 0, code: 14031 },
    { ok: 1, idx: 1 },
    { ok: 0, idx: 2, code: 14031 },
  ])
})

t.test('versions without bulkWrite refuse it', async (t) => {
  t.match(await new FakeCluster({ emulate: '7.0' }).run(bulk([])), { ok: 0, code: 59 })
})

t.test('an op that a shard refuses as stale goes to another shard with its statement id', async (t) => {
  const cluster = new FakeCluster({ emulate: '8.0' })
  cluster.shardByRange('test.c', 'x', [0, 100], ['shard01', 'shard02', 'shard03'])
  const reply = (items: Document[], nInserted: number) => ({
    cursor: { id: Long.ZERO, firstBatch: items, ns: 'admin.$cmd.bulkWrite' },
    nErrors: items.length - nInserted,
    nInserted,
    nMatched: 0,
    nModified: 0,
    nUpserted: 0,
    nDeleted: 0,
    ok: 1,
  })
  cluster.script((shard, command) => {
    const count = statementsOf(command, 'ops').length
    if (shard === 'shard01') {
      cluster.move('test.c', 0, 'shard02')
      const stale = { ok: 0, idx: 1, code: 13388, errmsg: 'stale', ns: 'test.c', n: 0 }
      return reply([{ ok: 1, idx: 0, n: 1 }, stale], 1)
    }
    return reply(
      Array.from({ length: count }, (_, idx) => ({ ok: 1, idx, n: 1 })),
      count,
    )
  })
  const ops = [-1, -2, -3].map((x) => ({ insert: 0, document: { _id: x, x } }))
  const answer = await cluster.run(bulk(ops, { lsid: session(1), txnNumber: Long.fromNumber(1) }))
  t.match(answer, { nErrors: 0, nInserted: 3 })
  t.same(
    itemsOf(answer),
    [0, 1, 2].map((idx) => ({ ok: 1, idx, n: 1 })),
  )
  const [second] = cluster.commandsTo('shard02').filter(({ name }) => name === 'bulkWrite')
  t.same(second!.command.stmtIds, [1, 2])
})

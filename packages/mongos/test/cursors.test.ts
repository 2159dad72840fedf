import t from 'tap'
import { Long, UUID, type Document } from '@shardlab/bson'
import { cursorReply, FakeCluster } from './support/fake-cluster.js'

const lsid = { id: new UUID('00000000-0000-4000-8000-000000000001') }
const otherLsid = { id: new UUID('00000000-0000-4000-8000-000000000002') }

function withOpenCursors(options = {}): FakeCluster {
  const cluster = new FakeCluster(options)
  cluster.shardByRange('test.c', 'x', [0], ['shard01', 'shard02'])
  cluster.script((_shard, _command, name) => {
    if (name === 'killCursors') return { ok: 1 }
    return cursorReply([{ _id: 1 }, { _id: 2 }], {
      id: 5n,
      ...(name === 'getMore' ? { batch: 'nextBatch' as const } : {}),
    })
  })
  return cluster
}

async function open(cluster: FakeCluster, extra: Document = {}): Promise<Long> {
  return (await cluster.run({ find: 'c', batchSize: 1, ...extra }))['cursor'].id
}

t.test('cursor ids are random and positive', async (t) => {
  const cluster = withOpenCursors()
  const ids = [await open(cluster), await open(cluster)]
  t.ok(ids.every((id) => id.greaterThan(0)))
  t.notOk(ids[0]!.equals(ids[1]!))
  t.match((await cluster.run({ serverStatus: 1 }))['metrics'].cursor.open, {
    total: Long.fromNumber(2),
    multiTarget: Long.fromNumber(2),
    pinned: Long.ZERO,
  })
})

t.test('cursors belong to a namespace and a session', async (t) => {
  const cluster = withOpenCursors()
  const id = await open(cluster, { lsid })
  t.match(await cluster.run({ getMore: id, collection: 'other', batchSize: 1, lsid }), { code: 13 })
  t.match(await cluster.run({ getMore: id, collection: 'c', batchSize: 1 }), { code: 50800 })
  t.match(await cluster.run({ getMore: id, collection: 'c', batchSize: 1, lsid: otherLsid }), { code: 50801 })
  t.match(await cluster.run({ getMore: id, collection: 'c', batchSize: 1, lsid }), { ok: 1 })
  t.same(cluster.commandsTo('shard01').findLast(({ name }) => name === 'find')!.body['lsid'], lsid)
  t.match(await cluster.run({ getMore: await open(cluster), collection: 'c', batchSize: 1, lsid }), { code: 50799 })
  t.match(await cluster.run({ getMore: 5, collection: 'c' }), { code: 14 })
})

t.test('killCursors closes the cursors on the shards, once', async (t) => {
  const cluster = withOpenCursors()
  const id = await open(cluster)
  const missing = Long.fromNumber(123)
  t.match(await cluster.run({ killCursors: 'c', cursors: [id, missing] }), {
    cursorsKilled: [id],
    cursorsNotFound: [missing],
    cursorsAlive: [],
    cursorsUnknown: [],
    ok: 1,
  })
  await cluster.world.drain()
  t.equal(cluster.commandsTo('shard01').filter(({ name }) => name === 'killCursors').length, 1)
  t.match(await cluster.run({ killCursors: 'c', cursors: [id] }), { cursorsKilled: [], cursorsNotFound: [id] })
})

t.test('ending a session closes its cursors', async (t) => {
  const cluster = withOpenCursors()
  const id = await open(cluster, { lsid })
  await cluster.run({ endSessions: [lsid] })
  t.match(await cluster.run({ getMore: id, collection: 'c', batchSize: 1, lsid }), { code: 43 })
})

t.test('idle cursors are closed after ten minutes, except those with noCursorTimeout', async (t) => {
  const cluster = withOpenCursors()
  const idle = await open(cluster)
  const kept = await open(cluster, { noCursorTimeout: true })
  await cluster.mongos.start!()
  cluster.world.nowMs += 9 * 60_000
  await cluster.world.fire(cluster.mongos, 'housekeeping')
  t.match(await cluster.run({ getMore: idle, collection: 'c', batchSize: 1 }), { ok: 1 })
  cluster.world.nowMs += 11 * 60_000
  await cluster.world.fire(cluster.mongos, 'housekeeping')
  t.match(await cluster.run({ getMore: idle, collection: 'c', batchSize: 1 }), { code: 43 })
  t.match(await cluster.run({ getMore: kept, collection: 'c', batchSize: 1 }), { ok: 1 })
})

t.test('D613 a full cursor table refuses cursors and emits a limit event', async (t) => {
  const cluster = withOpenCursors({ limits: { cursorsMax: 1 } })
  await open(cluster)
  t.match(await cluster.run({ find: 'c', batchSize: 1 }), { ok: 0, code: 365 })
  t.match(
    cluster.world.events.filter((event) => event.type === 'limit'),
    [{ limit: 'cursorsMax', value: 1, member: 'mongos01' }],
  )
})

t.test('D610: the cursors of collections that were dropped first are closed beyond a limit', async (t) => {
  const cluster = withOpenCursors({ limits: { droppedCursorsMax: 1 } })
  const oldest = await open(cluster)
  cluster.onShardExchange = () => ({ existed: true, indexCount: 1, error: null })
  t.match(await cluster.run({ drop: 'c' }), { ok: 1 })
  const newest = await open(cluster)
  t.match(await cluster.run({ drop: 'c' }), { ok: 1 })
  const live = await open(cluster)
  t.match(await cluster.run({ getMore: oldest, collection: 'c' }), { code: 43 })
  t.ok(
    cluster.commandsTo('shard02').some(({ name }) => name === 'killCursors'),
    'also on shards',
  )
  t.match(await cluster.run({ getMore: newest, collection: 'c', batchSize: 1 }), { ok: 1 }, 'has unread documents')
  t.match(await cluster.run({ getMore: live, collection: 'c', batchSize: 1 }), { ok: 1 })
  t.match(
    cluster.world.events.filter((event) => event.type === 'limit'),
    [{ limit: 'droppedCursorsMax', value: 1, member: 'mongos01' }],
  )
})

t.test('a second concurrent getMore is refused, and a kill takes effect after the first', async (t) => {
  const cluster = withOpenCursors()
  const id = await open(cluster)
  let release!: () => void
  const gate = new Promise<void>((resolve) => (release = resolve))
  cluster.script(async (_shard, _command, name) => {
    if (name === 'getMore') await gate
    return name === 'killCursors' ? { ok: 1 } : cursorReply([{ _id: 3 }], { id: 5n, batch: 'nextBatch' })
  })
  const first = cluster.start({ getMore: id, collection: 'c', batchSize: 5 })
  await cluster.world.drain()
  t.match(await cluster.run({ getMore: id, collection: 'c', batchSize: 1 }), { code: 143, codeName: 'CursorInUse' })
  t.match(await cluster.run({ killCursors: 'c', cursors: [id] }), { cursorsKilled: [id] })
  release()
  t.equal((await cluster.world.settle(first)).length > 0, true)
  t.match(await cluster.run({ getMore: id, collection: 'c', batchSize: 1 }), { code: 43 })
})

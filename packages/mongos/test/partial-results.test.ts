/** Server: async_results_merger.cpp. */
import { Long, type Document } from '@shardlab/bson'
import t from 'tap'
import { cursorReply } from './support/fake-cluster.js'
import { Gone } from './support/fake-world.js'
import { threeShards } from './support/three-shards.js'

t.test('an unreachable only shard gives an empty partial result', async (t) => {
  const cluster = threeShards()
  cluster.script(() => cursorReply([]))
  cluster.kill('shard02')
  t.match(await cluster.run({ find: 'c', filter: { x: 5 }, allowPartialResults: true }), {
    cursor: { firstBatch: [], partialResultsReturned: true, id: Long.ZERO, ns: 'test.c' },
    ok: 1,
  })
  t.match(await cluster.run({ find: 'c', filter: { x: 5 } }), { ok: 0, code: 133 })
})

t.test('a shard that crashes between two batches is left out', async (t) => {
  const cluster = threeShards()
  let isGone = false
  cluster.script((shard, _command, name) => {
    if (name === 'find') return cursorReply([{ _id: `${shard} first` }], { id: 7n })
    if (shard === 'shard02' && isGone) throw new Gone()
    return cursorReply([{ _id: `${shard} second` }], { batch: 'nextBatch' })
  })
  const open = async (allowPartialResults: boolean) =>
    (await cluster.run({ find: 'c', batchSize: 3, allowPartialResults }))['cursor']
  const first = await open(true)
  t.equal(first.firstBatch.length, 3)
  t.notOk('partialResultsReturned' in first)
  isGone = true
  const { cursor } = await cluster.run({ getMore: first.id, collection: 'c' })
  t.same(cursor.nextBatch.map(({ _id }: { _id: string }) => _id).sort(), ['shard01 second', 'shard03 second'])
  t.same(Object.keys(cursor), ['nextBatch', 'partialResultsReturned', 'id', 'ns'])
  t.equal(cursor.partialResultsReturned, true)
  t.ok(cursor.id.isZero())
  isGone = false
  const strict = await open(false)
  isGone = true
  t.match(await cluster.run({ getMore: strict.id, collection: 'c' }), { ok: 0, code: 6 })
})

t.test('an error that a shard returns fails the find', async (t) => {
  const cluster = threeShards()
  cluster.script((shard) =>
    shard === 'shard02' ? { ok: 0, code: 96, codeName: 'OperationFailed', errmsg: 'no' } : cursorReply([]),
  )
  t.match(await cluster.run({ find: 'c', allowPartialResults: true }), { ok: 0, code: 96 })
})

t.test('a late shard is left out since 6.2, an error before', async (t) => {
  for (const emulate of ['4.4', '6.0', '7.0', '8.0'] as const) {
    const cluster = threeShards({ emulate })
    cluster.script((shard) => (shard === 'shard02' ? new Promise<Document>(() => {}) : cursorReply([{ _id: shard }])))
    const before = cluster.world.nowMs
    const reply = await cluster.run({ find: 'c', allowPartialResults: true, maxTimeMS: 200 })
    if (emulate === '4.4' || emulate === '6.0') {
      t.match(reply, { ok: 0, code: 50 }, emulate)
      t.equal(cluster.world.nowMs - before, 200)
    } else {
      t.match(
        reply,
        { cursor: { firstBatch: [{ _id: 'shard01' }, { _id: 'shard03' }], partialResultsReturned: true }, ok: 1 },
        emulate,
      )
      t.equal(cluster.world.nowMs - before, 150)
    }
    t.match(await cluster.run({ find: 'c', maxTimeMS: 200 }), { ok: 0, code: 50 }, `${emulate} without the option`)
  }
})

t.test('since 4.4 replies report left-out shards', async (t) => {
  for (const emulate of ['4.0', '4.4'] as const) {
    const cluster = threeShards({ emulate })
    cluster.script((shard) => cursorReply([{ _id: shard }]))
    cluster.kill('shard01')
    const { cursor } = await cluster.run({ find: 'c', allowPartialResults: true })
    t.equal(cursor.firstBatch.length, 2)
    t.equal('partialResultsReturned' in cursor, emulate === '4.4', emulate)
  }
})

t.test('skip and limit apply to the documents of the reachable shards', async (t) => {
  const cluster = threeShards()
  cluster.script((shard) => cursorReply([{ _id: shard }]))
  cluster.kill('shard01')
  t.match(await cluster.run({ find: 'c', allowPartialResults: true, skip: 1, limit: 5 }), {
    cursor: { firstBatch: [{ _id: 'shard03' }], partialResultsReturned: true },
  })
})

t.test('shards without a match do not make a result partial, and open cursors are read on', async (t) => {
  const cluster = threeShards()
  cluster.script(() => cursorReply([]))
  for (const allowPartialResults of [true, false]) {
    const { cursor } = await cluster.run({ find: 'c', allowPartialResults })
    t.same(cursor, { firstBatch: [], id: Long.ZERO, ns: 'test.c' })
  }
  for (const sort of [null, { _id: 1 }]) {
    const late = sort === null ? { _id: 'late' } : { _id: 'late', $sortKey: ['late'] }
    cluster.script((shard, _command, name) => {
      if (shard !== 'shard03') return cursorReply([])
      return name === 'find' ? cursorReply([], { id: 7n }) : cursorReply([late], { batch: 'nextBatch' })
    })
    const { cursor } = await cluster.run({ find: 'c', ...(sort === null ? {} : { sort }) })
    t.same(cursor, { firstBatch: [{ _id: 'late' }], id: Long.ZERO, ns: 'test.c' })
  }
})

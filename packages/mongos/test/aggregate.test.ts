import t from 'tap'
import { Long, type Document } from '@shardlab/bson'
import { cursorReply, FakeCluster } from './support/fake-cluster.js'

function twoShards(): FakeCluster {
  const cluster = new FakeCluster()
  cluster.shardByRange('test.c', 'x', [0], ['shard01', 'shard02'])
  return cluster
}

t.test('a leading $match that targets one shard sends the whole pipeline there', async (t) => {
  const cluster = twoShards()
  cluster.script(() => cursorReply([{ _id: null, n: 3 }]))
  const pipeline = [{ $match: { x: 7 } }, { $group: { _id: null, n: { $sum: 1 } } }]
  t.match(await cluster.run({ aggregate: 'c', pipeline, cursor: {} }), {
    cursor: { firstBatch: [{ _id: null, n: 3 }] },
    ok: 1,
  })
  t.same(cluster.commandsTo('shard02')[0]!.body, { aggregate: 'c', pipeline, cursor: {}, $db: 'test' })
  t.equal(cluster.commandsTo('shard01').length, 0)
})

t.test('shards group partially and the router completes the groups if it needs no disk', async (t) => {
  const cluster = twoShards()
  cluster.script((shard, _command, name) => {
    if (name === 'killCursors') return { ok: 1 }
    return cursorReply(
      shard === 'shard01'
        ? [
            { _id: 'a', n: 2 },
            { _id: 'b', n: 1 },
          ]
        : [{ _id: 'a', n: 5 }],
    )
  })
  const reply = await cluster.run({
    aggregate: 'c',
    pipeline: [{ $match: { y: 1 } }, { $group: { _id: '$k', n: { $sum: '$v' } } }, { $sort: { _id: 1 } }],
    cursor: { batchSize: 1 },
    allowDiskUse: false,
  })
  t.same(reply['cursor'].firstBatch, [{ _id: 'a', n: 7 }])
  const { body } = cluster.commandsTo('shard01')[0]!
  t.equal(body['needsMerge'], true)
  t.equal(body['fromMongos'], true)
  t.same(body['cursor'], {})
  t.same(body['pipeline'][0], { $match: { y: 1 } })
  t.match(await cluster.run({ getMore: reply['cursor'].id, collection: 'c' }), {
    cursor: { nextBatch: [{ _id: 'b', n: 1 }], id: Long.ZERO },
  })
})

t.test('sorted streams are merged, and a limit ends them early and closes the cursors on shards', async (t) => {
  const cluster = twoShards()
  cluster.script((shard, _command, name) => {
    if (name === 'killCursors') return { ok: 1 }
    const values = shard === 'shard01' ? [1, 4, 6] : [2, 3, 9]
    return cursorReply(
      values.map((v) => ({ v })),
      { id: 3n },
    )
  })
  const reply = await cluster.run({ aggregate: 'c', pipeline: [{ $sort: { v: 1 } }, { $limit: 4 }], cursor: {} })
  t.same(
    reply['cursor'].firstBatch,
    [1, 2, 3, 4].map((v) => ({ v })),
  )
  t.same(reply['cursor'].id, Long.ZERO)
  await cluster.world.drain()
  t.same(
    cluster.commandsTo('shard01').map(({ name }) => name),
    ['aggregate', 'killCursors'],
  )
  t.match(cluster.commandsTo('shard02')[0]!.body['pipeline'], [{ $sort: { v: 1 } }, { $limit: Long.fromNumber(4) }])
})

t.test('without a merging part the client batch size goes to the shards', async (t) => {
  const cluster = twoShards()
  cluster.script((shard) => cursorReply([{ shard }]))
  const reply = await cluster.run({ aggregate: 'c', pipeline: [{ $match: { y: 1 } }], cursor: { batchSize: 7 } })
  t.same(
    reply['cursor'].firstBatch.map(({ shard }: Document) => shard),
    ['shard01', 'shard02'],
  )
  t.same(cluster.commandsTo('shard01')[0]!.body['cursor'], { batchSize: 7 })
})

t.test('an invalid aggregate is refused, and a missing database reads as empty', async (t) => {
  const cluster = twoShards()
  t.match(await cluster.run({ aggregate: 'c', pipeline: [{ $nonsense: 1 }], cursor: {} }), { code: 40324 })
  t.match(await cluster.run({ aggregate: 1, pipeline: [{ $match: {} }], cursor: {} }), { code: 73 })
  t.match(await cluster.run({ aggregate: 'c', pipeline: [], cursor: { batchSize: -1 } }), { code: 51024 })
  t.match(await cluster.run({ aggregate: 'c', pipeline: [], cursor: {}, $db: 'nowhere' }), {
    cursor: { firstBatch: [], id: Long.ZERO },
    ok: 1,
  })
})

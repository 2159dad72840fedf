import t from 'tap'
import { createDeferred, type OperationsEvent } from '@shardlab/actor'
import { decode, encode } from '@shardlab/bson'
import { cursorReply, staleReply, type FakeCluster } from './support/fake-cluster.js'
import { Gone } from './support/fake-world.js'
import { inserted, threeShards } from './support/three-shards.js'

function watchedCluster(options = {}): FakeCluster {
  const cluster = threeShards(options)
  cluster.world.wantsRouted = false
  cluster.world.wantsOperations = true
  cluster.script((_, command, name) => (name === 'insert' ? inserted(command) : cursorReply([])))
  return cluster
}

const sums = ({ world }: FakeCluster): OperationsEvent[] =>
  world.events.flatMap((event) => (event.type === 'operations' ? [event] : []))

t.test('the first operation is reported at once, and sums of the others later', async (t) => {
  const cluster = watchedCluster()
  await cluster.run({ find: 'c', filter: { x: 5 } })
  const sample = {
    ...{ mongos: 'mongos01', ns: 'test.c', command: 'find', kind: 'targeted', shards: ['shard02'], chunks: 1 },
    ...{ shardKey: '{"x":1}', bounds: [['{"x":5}', '{"x":5}']], shape: '{"x":{"$eq":"?number"}}' },
    ...{ staleReplies: 0, error: null },
  }
  t.match(sums(cluster), [{ shards: [['shard02', 1]], samples: [sample] }])
  t.match(sums(cluster)[0]!.shapes, [{ ...{ ns: 'test.c', operations: 1, failed: 0 }, slowest: sample }])
  for (let x = 0; x < 30; x++) await cluster.run({ find: 'c', filter: { x } })
  await cluster.run({ find: 'c', filter: { x: { $gte: 50 } } })
  await cluster.run({ find: 'c' })
  t.equal(sums(cluster).length, 1, 'the others are summed up')
  await cluster.world.fire(cluster.mongos, 'operations')
  const [, second] = sums(cluster)
  t.same(
    second!.shapes.map(({ shape, kind, operations }) => [shape, kind, operations]),
    [
      ['{"x":{"$eq":"?number"}}', 'targeted', 30],
      ['{"x":{"$gte":"?number"}}', 'multi', 1],
      ['', 'broadcast', 1],
    ],
  )
  t.same(
    new Map(second!.shards),
    new Map([
      ['shard02', 32],
      ['shard03', 2],
      ['shard01', 1],
    ]),
  )
  t.equal(second!.samples.length, 10)
  t.same([second!.fromMs, second!.atMs], [cluster.world.nowMs - 500, cluster.world.nowMs - 500])
  await cluster.world.fire(cluster.mongos, 'operations')
  t.equal(sums(cluster).length, 2, 'without operations there is no event')
})

t.test('the slowest operation of a shape is kept', async (t) => {
  const cluster = watchedCluster()
  await cluster.run({ find: 'c', filter: { x: 1 } })
  for (let i = 0; i < 12; i++) await cluster.run({ find: 'c', filter: { x: 2 } })
  cluster.script(() => {
    cluster.world.nowMs += 40
    return cursorReply([])
  })
  await cluster.run({ find: 'c', filter: { x: 7 } })
  await cluster.world.fire(cluster.mongos, 'operations')
  const [shape] = sums(cluster)[1]!.shapes
  t.match(shape, { operations: 13, durationMs: 40, slowest: { durationMs: 40, bounds: [['{"x":7}', '{"x":7}']] } })
})

t.test('stale replies and failures are counted', async (t) => {
  const cluster = watchedCluster({ findReplicaSetHostTimeoutMs: 100 })
  cluster.script((shard, command) => (cluster.isCurrent('test.c', shard, command) ? cursorReply([]) : staleReply()))
  await cluster.run({ find: 'c', filter: { x: 5 } })
  cluster.move('test.c', 1, 'shard03')
  await cluster.run({ find: 'c', filter: { x: 5 } })
  cluster.script(() => {
    throw new Gone()
  })
  t.match(await cluster.run({ find: 'c', filter: { x: 5 } }), { ok: 0 })
  await cluster.world.fire(cluster.mongos, 'operations')
  t.match(
    sums(cluster)
      .flatMap(({ samples }) => samples)
      .slice(1),
    [
      { shards: ['shard03'], staleReplies: 1, error: null },
      { ns: 'test.c', kind: null, shards: [], error: /./, shape: '{"x":{"$eq":"?number"}}' },
    ],
  )
  t.match(sums(cluster).at(-1)!.shapes.at(-1), { kind: null, operations: 1, failed: 1 })
  await cluster.run({ ping: 1 })
  t.match(await cluster.run({ unknown: 1 }), { ok: 0 })
  t.notOk(cluster.world.timers.has('operations'), 'other commands are not counted')
})

t.test('errors in the replies of writes are failures', async (t) => {
  const cluster = watchedCluster()
  const failing = (error: object) => cluster.script(() => encode({ n: 0, ...error, ok: 1 }))
  const insert = { insert: 'c', documents: [{ x: 5 }] }
  failing({ writeErrors: [{ index: 0, code: 11000, errmsg: 'duplicate' }] })
  t.match(await cluster.run(insert), { ok: 1, writeErrors: [{ code: 11000 }] })
  failing({ n: 1, writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' } })
  await cluster.run(insert)
  cluster.script((_, command) => inserted(command))
  await cluster.run(insert)
  await cluster.world.fire(cluster.mongos, 'operations')
  const samples = sums(cluster).flatMap(({ samples }) => samples)
  t.same(
    samples.map(({ error, kind }) => [error, kind]),
    [
      ['DuplicateKey', 'targeted'],
      ['WriteConcernTimeout', 'targeted'],
      [null, 'targeted'],
    ],
  )
  t.same(
    sums(cluster).flatMap(({ shapes }) => shapes.map(({ operations, failed }) => [operations, failed])),
    [
      [1, 1],
      [2, 1],
    ],
  )
})

t.test('a long operation does not stretch the time of the sums', async (t) => {
  const cluster = watchedCluster()
  const gate = createDeferred<void>()
  cluster.script(async (_, { body }) => {
    if (decode(body)['filter'].x === 1) await gate.promise
    return cursorReply([])
  })
  const long = cluster.start({ find: 'c', filter: { x: 1 } })
  await cluster.world.drain()
  cluster.world.nowMs += 1000
  await cluster.run({ find: 'c', filter: { x: 2 } })
  gate.resolve()
  await cluster.world.settle(long)
  await cluster.world.fire(cluster.mongos, 'operations')
  const [first, second] = sums(cluster)
  t.match(second!.shapes, [{ operations: 1, durationMs: 1000 }])
  t.equal(second!.fromMs, first!.atMs, 'they begin after those before')
})

t.test('operations count when they end', async (t) => {
  const cluster = watchedCluster()
  cluster.script(() => {
    cluster.world.nowMs += 15_000
    return cursorReply([])
  })
  await cluster.run({ find: 'c', filter: { x: 1 } })
  const [only] = sums(cluster)
  t.match(only!.shapes, [{ durationMs: 15_000 }])
  t.equal(only!.fromMs, only!.atMs)
})

t.test('operations are counted by chunk, whatever their number', async (t) => {
  const cluster = watchedCluster()
  await cluster.run({ find: 'c', filter: { x: 5 } })
  for (let i = 0; i < 300; i++) await cluster.run({ find: 'c', filter: { x: i % 3 === 0 ? 5 : 150 } })
  await cluster.run({ insert: 'c', documents: [{ x: 5 }, { x: 6 }, { x: 150 }, { x: 61 }] })
  await cluster.run({ find: 'c', filter: { x: { $gte: 5, $lte: 150 } } })
  await cluster.run({ find: 'c' })
  await cluster.world.fire(cluster.mongos, 'operations')
  const [first, second] = sums(cluster)
  const [[, low]] = first!.chunks as [[string, string, string, number]]
  t.strictSame(first!.chunks, [['test.c', low, low, 1]])
  const high = second!.chunks.map(([, from]) => from).find((from) => from > low)!
  t.strictSame(second!.chunks.toSorted(), [
    ['test.c', low, low, 100.75],
    ['test.c', low, high, 1],
    ['test.c', high, high, 200.25],
  ])
})

t.test('each operation has the same chance to be a sample', async (t) => {
  const cluster = watchedCluster()
  await cluster.run({ find: 'c', filter: { x: 0 } })
  const operations = 400
  for (let x = 1; x <= operations; x++) await cluster.run({ find: 'c', filter: { x } })
  await cluster.world.fire(cluster.mongos, 'operations')
  const sampled = sums(cluster)[1]!.samples.map(({ bounds }) => JSON.parse(bounds[0]![0]).x as number)
  t.equal(new Set(sampled).size, 10)
  t.ok(sampled.some((x) => x > operations / 2) && sampled.some((x) => x <= operations / 2), sampled.join())
})

t.test('filters of other types have no shape', async (t) => {
  const cluster = watchedCluster()
  t.match(await cluster.run({ aggregate: 'c', pipeline: [{ $match: 'abcdefgh' }], cursor: {} }), { ok: 0 })
  t.match(await cluster.run({ find: 'c', filter: 'abcdefgh' }), { ok: 0 })
  t.match(await cluster.run({ update: 'c', updates: [{ q: 'abcdefgh', u: {} }] }), { ok: 0 })
  t.match(await cluster.run({ find: 'c', filter: { x: 1 } }), { ok: 1 }, 'the router goes on')
})

t.test('writes, pipelines and many shapes', async (t) => {
  const cluster = watchedCluster()
  await cluster.run({ insert: 'c', documents: Array.from({ length: 50 }, (_, x) => ({ x })) })
  const pipeline = [{ $match: { x: 5 } }, { $group: { _id: '$y' } }]
  await cluster.run({ aggregate: 'c', pipeline, cursor: {} })
  for (let i = 0; i < 120; i++) await cluster.run({ find: 'c', filter: { x: 5, [`f${i}`]: 1 } })
  await cluster.world.fire(cluster.mongos, 'operations')
  const [first, second] = sums(cluster)
  t.match(first!.samples, [{ command: 'insert', kind: 'targeted', shape: '', bounds: { length: 17 } }])
  t.match(first!.samples[0]!.bounds, [['{"x":0}'], ['{"x":3}'], ['{"x":6}']], 'one of each three documents')
  t.equal(second!.shapes[0]!.shape, '{"pipeline":[{"$match":{"x":{"$eq":"?number"}}},"$group"]}')
  t.equal(second!.shapes.length, 101)
  t.match(second!.shapes.at(-1), { ns: '', shape: '', kind: 'targeted', operations: 21, slowest: { ns: 'test.c' } })
})

t.test('without a watcher nothing is built', async (t) => {
  const cluster = watchedCluster()
  cluster.world.wantsOperations = false
  await cluster.run({ find: 'c', filter: { x: 5 } })
  t.same(cluster.world.events, [])
  t.notOk(cluster.world.timers.has('operations'))
})

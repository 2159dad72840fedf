import { decode, encode, type Document, type Long } from '@shardlab/bson'
import t from 'tap'
import { cursorReply, FakeCluster } from './support/fake-cluster.js'
import { RealCluster, type RealClusterOptions } from './support/real-cluster.js'

interface Cursor {
  id: Long
  ns: string
  firstBatch: Document[]
  nextBatch: Document[]
}
const cursorOf = (reply: Document) => {
  if (reply['ok'] !== 1) throw new Error(JSON.stringify(reply))
  return reply['cursor'] as Cursor
}
const idsOf = (documents: Document[]) => documents.map((document) => document['_id'])

async function filled(documents: Document[], options: RealClusterOptions = {}, collection = 'c'): Promise<RealCluster> {
  const cluster = await RealCluster.create(options)
  const reply = await cluster.run({ insert: collection, documents })
  if (reply['n'] !== documents.length) throw new Error(JSON.stringify(reply))
  return cluster
}

const words = [
  { _id: 1, x: -5, w: 'b' },
  { _id: 2, x: 5, w: 'A' },
  { _id: 3, x: 500, w: 'a' },
  { _id: 4, x: -9, w: 'C' },
  { _id: 5, x: 50, w: 'c' },
]

t.test('streams are merged under the collation of the command or of the collection', async (t) => {
  const sorted = async (cluster: RealCluster, rest: Document = {}) =>
    idsOf(cursorOf(await cluster.run({ find: 'c', sort: { w: 1, _id: 1 }, ...rest })).firstBatch)
  const plain = await filled(words)
  t.same(await sorted(plain), [2, 4, 3, 1, 5], 'by bytes')
  t.same(await sorted(plain, { collation: { locale: 'en', strength: 2 } }), [2, 3, 1, 4, 5])
  t.same(
    await sorted(plain, { collation: { locale: 'en', strength: 2 }, sort: { w: -1, _id: -1 }, skip: 1, limit: 3 }),
    [4, 1, 3],
  )
  t.same(await sorted(plain, { collation: { locale: 'en', strength: 2 }, batchSize: 2 }), [2, 3])
})

t.test('let is used for targeting and sent to shards', async (t) => {
  const cluster = await filled(words)
  const filter = { $expr: { $eq: ['$w', '$$wanted'] } }
  t.same(idsOf(cursorOf(await cluster.run({ find: 'c', filter, let: { wanted: 'a' } })).firstBatch), [3])
  t.match(await cluster.run({ find: 'c', filter }), { ok: 0, code: 17276 }, 'an unknown variable')
})

t.test('a batch that ends with the last document leaves the cursor open', async (t) => {
  const cluster = await filled(words)
  for (const command of [
    { find: 'c', limit: 2, batchSize: 2 },
    { find: 'c', filter: { x: 5 }, batchSize: 1 },
    { find: 'c', filter: { x: 5 }, limit: 1, batchSize: 1 },
    { find: 'c', sort: { _id: 1 }, batchSize: 5 },
  ]) {
    const first = cursorOf(await cluster.run(command))
    t.equal(first.firstBatch.length, command.batchSize)
    t.not(first.id.toNumber(), 0, `${JSON.stringify(command)} stays open`)
    const last = cursorOf(await cluster.run({ getMore: first.id, collection: 'c' }))
    t.same([last.nextBatch.length, last.id.toNumber()], [0, 0])
  }
  for (const command of [
    { find: 'c' },
    { find: 'c', batchSize: 6 },
    { find: 'c', limit: 2, batchSize: 3 },
    { find: 'c', limit: 2, batchSize: 2, singleBatch: true },
    { find: 'c', filter: { x: 5 }, limit: 1, batchSize: 1, singleBatch: true },
  ])
    t.equal(cursorOf(await cluster.run(command)).id.toNumber(), 0, JSON.stringify(command))
  const open = cursorOf(await cluster.run({ find: 'c', filter: { x: { $lt: 0 } }, batchSize: 1 }))
  const next = cursorOf(await cluster.run({ getMore: open.id, collection: 'c', batchSize: 1 }))
  t.same([next.nextBatch.length, next.id.equals(open.id)], [1, true], 'a full batch of getMore leaves it open, too')
  t.equal((await cluster.run({ serverStatus: 1 }))['metrics'].cursor.open.total.toNumber(), 1)
})

t.test('options of find are sent to shards or applied on the router', async (t) => {
  const cluster = await filled(words)
  t.match(await cluster.run({ find: 'c', projection: { $sortKey: { $meta: 'sortKey' } }, sort: { w: 1 } }), { code: 2 })
  t.match(await cluster.run({ find: 'c', awaitData: true }), { code: 9 })
  t.match(await cluster.run({ find: 'c', tailable: true }), { ok: 0, code: 2 }, 'no sharded collection is capped')
  t.match(await cluster.run({ find: 'c', hint: 'nope' }), { ok: 0, code: 2 })
  const shown = cursorOf(await cluster.run({ find: 'c', showRecordId: true, sort: { _id: 1 }, limit: 1 }))
    .firstBatch[0]!
  t.same(Object.keys(shown), ['_id', 'x', 'w', '$recordId'])
  t.same(
    cursorOf(await cluster.run({ find: 'c', sort: { w: 1 }, projection: { _id: 0, w: 1, k: { $meta: 'sortKey' } } }))
      .firstBatch[0],
    {
      w: 'A',
      k: ['A'],
    },
  )
  t.match(
    await cluster.run({ find: 'c', filter: { $nope: 1 }, $db: 'missing' }),
    { code: 2 },
    'checked where there is no database',
  )
})

t.test('a getMore on a tailable cursor waits on the shard', async (t) => {
  const cluster = await RealCluster.create()
  await cluster.nodes.get('shard01')!.nodeCommand({
    db: 'test',
    body: encode({ create: 'log', capped: true, size: 100_000 }),
    sequences: [],
    shardVersion: null,
    databaseVersion: null,
    stmtIds: null,
    clusterTime: [1, 1],
    operationKey: 0,
    batchBytesMax: 0,
  })
  await cluster.run({ insert: 'log', documents: [{ _id: 1 }] })
  const { id, firstBatch } = cursorOf(await cluster.run({ find: 'log', tailable: true, awaitData: true }))
  t.same(idsOf(firstBatch), [1])
  await cluster.run({ insert: 'log', documents: [{ _id: 2 }] })
  t.same(idsOf(cursorOf(await cluster.run({ getMore: id, collection: 'log', maxTimeMS: 100 })).nextBatch), [2])
  const waiting = cluster.start({ getMore: id, collection: 'log', maxTimeMS: 60_000 })
  await cluster.world.drain()
  await cluster.run({ insert: 'log', documents: [{ _id: 3 }] })
  t.same(idsOf(cursorOf(decode(await cluster.world.settle(waiting))).nextBatch), [3])
  const plain = cursorOf(await cluster.run({ find: 'log', batchSize: 1 }))
  t.match(await cluster.run({ getMore: plain.id, collection: 'log', maxTimeMS: 5 }), { code: 2 })
})

t.test('a cursor inherits the rest of maxTimeMS', async (t) => {
  const cluster = new FakeCluster()
  cluster.shardByRange('test.c', 'x', [], ['shard01'])
  cluster.script((_shard, _command, name) => {
    if (name === 'find') cluster.world.nowMs += 30
    return cursorReply([{ _id: 1 }, { _id: 2 }], {
      id: 5n,
      ...(name === 'getMore' ? { batch: 'nextBatch' as const } : {}),
    })
  })
  const { id } = cursorOf(await cluster.run({ find: 'c', maxTimeMS: 100, batchSize: 2 }))
  cluster.script(() => new Promise(() => {}))
  const startedMs = cluster.world.nowMs
  t.match(await cluster.run({ getMore: id, collection: 'c' }), { code: 50 })
  t.equal(cluster.world.nowMs - startedMs, 70)
})

t.test('distinct returns the values of all shards once and in order', async (t) => {
  const cluster = await filled([...words, { _id: 6, x: 7, w: 'b' }, { _id: 7, x: -7, w: ['A', 'z'] }])
  const values = async (rest: Document = {}) => (await cluster.run({ distinct: 'c', key: 'w', ...rest }))['values']
  t.same(await values(), ['A', 'C', 'a', 'b', 'c', 'z'])
  t.same(
    ((await values({ collation: { locale: 'en', strength: 2 } })) as string[]).map((each) => each.toLowerCase()),
    ['a', 'b', 'c', 'z'],
  )
  t.same(await values({ query: { x: 5 } }), ['A'])
  t.same(await values({ $db: 'missing' }), [])
  t.match(await cluster.run({ distinct: 'c' }), { code: 40414 })
  t.match(await cluster.run({ distinct: 'c', key: 'w', hint: 'nope' }), { ok: 0, code: 2 })
  const old = await filled(words, { emulate: '7.0' })
  t.match(await old.run({ distinct: 'c', key: 'w', hint: '_id_' }), { code: 40415 })
})

t.test('count adds up the shards, then applies skip and limit', async (t) => {
  const cluster = await filled(words)
  const counted = async (rest: Document = {}) => (await cluster.run({ count: 'c', ...rest }))['n']
  t.equal(await counted(), 5)
  t.equal(await counted({ query: { w: 'a' }, collation: { locale: 'en', strength: 2 } }), 2)
  t.equal(await counted({ query: { x: { $gt: 0 } }, skip: 1 }), 2)
  t.equal(await counted({ limit: -3 }), 3)
  t.equal(await counted({ skip: 4, limit: 5 }), 1)
  t.equal(await counted({ $db: 'missing' }), 0)
  t.match(await cluster.run({ count: 'c', skip: -1 }), { code: 9 })
  t.match(await cluster.run({ count: 'c', limit: 'x' }), { code: 2 })
  const old = await filled(words, { emulate: '4.0' })
  t.match(await old.run({ count: 'c', limit: 'x' }), { n: 5 }, 'no limit')
  t.match(await old.run({ count: 'c', limit: 'x', skip: 2 }), { n: 3 })
})

t.test('a getMore needs the API parameters of the command that opened the cursor, or none', async (t) => {
  const cluster = await filled(words)
  const { id } = cursorOf(await cluster.run({ find: 'c', batchSize: 1, apiVersion: '1' }))
  t.match(await cluster.run({ getMore: id, collection: 'c', batchSize: 1, apiVersion: '1', apiStrict: true }), {
    code: 347,
  })
  t.match(await cluster.run({ getMore: id, collection: 'c', batchSize: 1, apiVersion: '1' }), { ok: 1 })
  t.match(await cluster.run({ getMore: id, collection: 'c', batchSize: 1 }), { ok: 1 })
})

import t from 'tap'
import { BsonType, CommandError, decode, findField, Long, type Document } from '@shardlab/bson'
import { cursorReply, errorReply, FakeCluster } from './support/fake-cluster.js'

/** `x` below 0 is on shard01, 0 to 100 on shard02, the rest on shard03. */
function threeShards(options = {}): FakeCluster {
  const cluster = new FakeCluster(options)
  cluster.shardByRange('test.c', 'x', [0, 100], ['shard01', 'shard02', 'shard03'])
  return cluster
}

function documents(...values: number[]): Document[] {
  return values.map((x) => ({ _id: x, x }))
}

t.test('a find with the shard key goes to one shard with the body unchanged', async (t) => {
  const cluster = threeShards()
  cluster.scripts.set('shard02', () => cursorReply(documents(5)))
  const command = { find: 'c', filter: { x: 5 }, limit: 1, singleBatch: true, skip: 0, comment: 'mine' }
  const reply = await cluster.runRaw(command)
  t.same(decode(reply)['cursor'], { firstBatch: documents(5), id: Long.ZERO, ns: 'test.c' })
  t.equal(findField(findField(reply, 'cursor')!.slice(), 'id')!.type, BsonType.int64)
  t.equal(cluster.commandsTo('shard01').length + cluster.commandsTo('shard03').length, 0)
  const [sent] = cluster.commandsTo('shard02')
  t.same(sent!.body, { ...command, $db: 'test' })
  t.equal(sent!.command.db, 'test')
  t.same(sent!.command.shardVersion!.slice(3), [1, 1])
  t.equal(sent!.command.databaseVersion, null)
})

t.test('the routed event shows shards, chunks and bounds', async (t) => {
  const cluster = threeShards()
  cluster.script(() => cursorReply([]))
  await cluster.run({ find: 'c', filter: { x: 5 } })
  await cluster.run({ find: 'c', filter: { x: { $gte: 50 } } })
  await cluster.run({ find: 'c' })
  t.match(cluster.routed(), [
    {
      ns: 'test.c',
      command: 'find',
      kind: 'targeted',
      shards: ['shard02'],
      chunks: 1,
      bounds: [['{"x":5}', '{"x":5}']],
    },
    { kind: 'multi', shards: ['shard02', 'shard03'], chunks: 2 },
    { kind: 'broadcast', shards: ['shard01', 'shard02', 'shard03'], chunks: 3 },
  ])
  const { numHostsTargeted } = (await cluster.run({ serverStatus: 1 }))['shardingStatistics']
  t.match(numHostsTargeted.find, {
    allShards: Long.ONE,
    manyShards: Long.ONE,
    oneShard: Long.ONE,
    unsharded: Long.ZERO,
  })
})

t.test('without listeners no routed event is built', async (t) => {
  const cluster = threeShards()
  cluster.world.wantsRouted = false
  cluster.script(() => cursorReply([]))
  await cluster.run({ find: 'c', filter: { x: 5 } })
  t.same(cluster.world.events, [])
})

t.test(
  'finds go to the primary shard for unsharded collections, to the config server for config and admin',
  async (t) => {
    const cluster = threeShards()
    cluster.scripts.set('shard01', () => cursorReply(documents(1), { ns: 'test.plain' }))
    cluster.scripts.set('config', (command) => cursorReply([{ from: command.db }], { ns: 'config.shards' }))
    await cluster.run({ find: 'plain' })
    const [sent] = cluster.commandsTo('shard01')
    t.equal(sent!.command.shardVersion, 'UNSHARDED')
    t.same(sent!.command.databaseVersion, ['00112233445566778899aabbccddeeff', 3, 1, 1])
    t.same((await cluster.run({ find: 'shards', $db: 'config' }))['cursor'].firstBatch, [{ from: 'config' }])
    const [asked] = cluster.commandsTo('config')
    t.equal(asked!.command.shardVersion, null)
    t.equal(asked!.command.databaseVersion, null)
  },
)

t.test('a missing database reads as empty', async (t) => {
  const cluster = threeShards()
  t.match(await cluster.run({ find: 'c', $db: 'nowhere' }), {
    cursor: { firstBatch: [], id: Long.ZERO, ns: 'nowhere.c' },
    ok: 1,
  })
  t.match(await cluster.run({ count: 'c', $db: 'nowhere' }), { n: 0, ok: 1 })
  t.equal(cluster.countSent('config.create-database'), 0)
})

t.test(
  'a find on several shards merges sorted streams, then applies skip and limit, and removes the sort key',
  async (t) => {
    const cluster = threeShards()
    const stored: Record<string, number[]> = { shard01: [-9, -5, -1], shard02: [1, 20, 50], shard03: [100, 150, 200] }
    cluster.script((shard) => cursorReply(stored[shard]!.toReversed().map((x) => ({ _id: x, x, $sortKey: [x] }))))
    const reply = await cluster.run({
      find: 'c',
      sort: { x: -1 },
      skip: 2,
      limit: 5,
      projection: { x: 1 },
      batchSize: 100,
      singleBatch: true,
    })
    t.same(reply['cursor'].firstBatch, documents(100, 50, 20, 1, -1))
    t.same(reply['cursor'].id, Long.ZERO)
    const { body } = cluster.commandsTo('shard03')[0]!
    t.same(body['limit'], Long.fromNumber(7))
    t.notOk('skip' in body)
    t.notOk('singleBatch' in body)
    t.same(body['projection'], { x: 1, $sortKey: { $meta: 'sortKey' } })
  },
)

t.test('a sum of limit and skip beyond 64 bits is refused', async (t) => {
  const cluster = threeShards()
  t.match(await cluster.run({ find: 'c', skip: Long.MAX_VALUE, limit: Long.MAX_VALUE }), {
    code: 15,
    codeName: 'Overflow',
  })
  t.match(await cluster.run({ find: 'c', limit: -1 }), { code: 51024 })
})

t.test(
  'the first batch has 101 documents or, with batchSize 0, none; later batches are fetched from the shards',
  async (t) => {
    const cluster = threeShards()
    cluster.script((shard, _command, name) => {
      const base = { shard01: -1000, shard02: 1, shard03: 1000 }[shard]!
      const ids = Array.from({ length: 60 }, (_, i) => base + i)
      if (name === 'find') return cursorReply(documents(...ids.slice(0, 40)), { id: 7n })
      return cursorReply(documents(...ids.slice(40)), { batch: 'nextBatch' })
    })
    const first = (await cluster.run({ find: 'c' }))['cursor']
    t.equal(first.firstBatch.length, 101)
    t.ok(first.id.toBigInt() > 0n)
    const second = (await cluster.run({ getMore: first.id, collection: 'c' }))['cursor']
    t.equal(second.nextBatch.length, 79)
    t.same(second.id, Long.ZERO)
    t.equal(second.ns, 'test.c')
    t.match(await cluster.run({ getMore: first.id, collection: 'c' }), { code: 43, codeName: 'CursorNotFound' })

    const opened = (await cluster.run({ find: 'c', batchSize: 0 }))['cursor']
    t.same(opened.firstBatch, [])
    const all = (await cluster.run({ getMore: opened.id, collection: 'c' }))['cursor']
    t.equal(all.nextBatch.length, 180)
  },
)

t.test('shards send small batches to a router that merges them, and large ones to one that does not', async (t) => {
  const cluster = threeShards()
  const asked = (shard: string): number[] => cluster.commandsTo(shard).map(({ command }) => command.batchBytesMax)
  cluster.script((_shard, _command, name) =>
    name === 'find' ? cursorReply(documents(1), { id: 7n }) : cursorReply(documents(2), { id: 0n, batch: 'nextBatch' }),
  )
  const merged = (await cluster.run({ find: 'c', batchSize: 1000 }))['cursor']
  t.equal(merged.firstBatch.length, 6)
  t.same(asked('shard01'), [768 * 1024, 768 * 1024])
  await cluster.run({ find: 'c', filter: { x: -1 } })
  t.same(asked('shard01').slice(2), [0])
})

t.test('no reply exceeds 16 MB', async (t) => {
  const cluster = threeShards()
  const filler = 'x'.repeat(6 * 1024 * 1024)
  cluster.script((shard) => cursorReply([{ _id: shard, filler }, { _id: `${shard}b` }]))
  const first = (await cluster.run({ find: 'c' }))['cursor']
  t.same(
    first.firstBatch.map((document: Document) => document['_id']),
    ['shard01', 'shard01b', 'shard02', 'shard02b'],
  )
  const rest = (await cluster.run({ getMore: first.id, collection: 'c' }))['cursor']
  t.same(
    rest.nextBatch.map((document: Document) => document['_id']),
    ['shard03', 'shard03b'],
  )
})

t.test('batches of a cursor on one shard pass through with the cursor id of the router', async (t) => {
  const cluster = threeShards()
  cluster.scripts.set('shard02', (_command, name) =>
    name === 'find'
      ? cursorReply(documents(1, 2), { id: 77n })
      : cursorReply(documents(3), { id: 0n, batch: 'nextBatch' }),
  )
  const { cursor } = await cluster.run({ find: 'c', filter: { x: { $gte: 1, $lt: 10 } }, batchSize: 2 })
  t.not(cursor.id.toBigInt(), 77n)
  t.same(cursor.firstBatch, documents(1, 2))
  t.match(await cluster.run({ getMore: cursor.id, collection: 'c', batchSize: 2 }), {
    cursor: { nextBatch: documents(3), id: Long.ZERO },
    ok: 1,
  })
  t.match(cluster.commandsTo('shard02')[1]!.body, {
    getMore: Long.fromNumber(77),
    collection: 'c',
    batchSize: Long.fromNumber(2),
  })
})

t.test('the failure of one shard fails the find and closes the cursors of the others', async (t) => {
  const cluster = threeShards()
  cluster.script((shard, _command, name) => {
    if (name === 'killCursors') return { ok: 1 }
    return shard === 'shard02' ? errorReply(new CommandError('BadValue', 'no')) : cursorReply(documents(1), { id: 9n })
  })
  t.match(await cluster.run({ find: 'c' }), { ok: 0, code: 2, errmsg: 'no' })
  await cluster.world.drain()
  t.same(
    cluster.commandsTo('shard01').map(({ name }) => name),
    ['find', 'killCursors'],
  )
  t.same(cluster.commandsTo('shard03')[1]!.body['cursors'], [Long.fromNumber(9)])
})

t.test('under a collation, equality of numbers still targets one shard and equality of strings does not', async (t) => {
  const cluster = threeShards()
  cluster.script(() => cursorReply([]))
  await cluster.run({ find: 'c', filter: { x: 'a' }, collation: { locale: 'fr' } })
  await cluster.run({ find: 'c', filter: { x: 5 }, collation: { locale: 'fr' } })
  await cluster.run({ find: 'c', filter: { x: 'a' }, collation: { locale: 'simple' } })
  t.same(
    cluster.routed().map(({ shards }) => shards.length),
    [3, 1, 1],
  )
})

t.test('count adds up, then applies skip, then limit', async (t) => {
  const cluster = threeShards()
  cluster.script(() => ({ n: 10, ok: 1 }))
  const reply = await cluster.runRaw({ count: 'c', skip: 4, limit: 20 })
  t.match(decode(reply), { shards: { shard01: 10, shard02: 10, shard03: 10 }, n: 20, ok: 1 })
  t.equal(findField(reply, 'n')!.type, BsonType.int32)
  const { body } = cluster.commandsTo('shard01')[0]!
  t.same(body['limit'], Long.fromNumber(24))
  t.notOk('skip' in body)
  t.match(await cluster.run({ count: 'c', query: { x: 5 }, skip: 3 }), { n: 7 })
})

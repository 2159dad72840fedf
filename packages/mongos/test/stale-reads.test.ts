import t from 'tap'
import { encode, Long, MaxKey, MinKey, ObjectId, Timestamp, type Document } from '@shardlab/bson'
import { createMongos } from '../src/index.js'
import { cursorReply, FakeCluster, staleReply } from './support/fake-cluster.js'
import { Gone } from './support/fake-world.js'

function twoShards(options = {}): FakeCluster {
  const cluster = new FakeCluster(options)
  cluster.shardByRange('test.c', 'x', [0], ['shard01', 'shard02'])
  return cluster
}

t.test('a stale read refreshes what changed and goes to the new owner', async (t) => {
  const cluster = twoShards()
  cluster.script((shard, command) =>
    cluster.isCurrent('test.c', shard, command) ? cursorReply([{ from: shard }]) : staleReply(),
  )
  await cluster.run({ find: 'c', filter: { x: 5 } })
  cluster.move('test.c', 1, 'shard03')
  t.same((await cluster.run({ find: 'c', filter: { x: 5 } }))['cursor'].firstBatch, [{ from: 'shard03' }])
  const asked = cluster.world.sent
    .filter(({ kind }) => kind === 'config.get-collection')
    .map(({ request }) => (request as { since: unknown[] | null }).since)
  t.equal(asked[0], null)
  t.same(asked[1]!.slice(3), [1, 1], 'the second time only changes are asked for')
  t.equal(asked.length, 2)
})

t.test('after ten attempts the client gets the stale error', async (t) => {
  const cluster = twoShards()
  cluster.script(() => staleReply())
  t.match(await cluster.run({ find: 'c', filter: { x: 5 } }), {
    ok: 0,
    code: 13388,
    codeName: 'StaleConfig',
    ns: 'test.c',
  })
  t.equal(cluster.countSent('node.command'), 10)
  t.match(
    cluster.world.events.filter((event) => event.type === 'limit'),
    [{ limit: 'staleAttemptsMax', value: 10 }],
  )
})

t.test('concurrent operations share one refresh', async (t) => {
  const cluster = twoShards()
  cluster.script((shard, command) => (cluster.isCurrent('test.c', shard, command) ? cursorReply([]) : staleReply()))
  await cluster.run({ find: 'c' })
  cluster.move('test.c', 0, 'shard03')
  await cluster.world.settle(
    Promise.all(Array.from({ length: 20 }, () => cluster.start({ find: 'c', filter: { x: -5 } }))),
  )
  t.equal(cluster.countSent('config.get-collection'), 2)
})

t.test('a read of a collection that was sharded since is routed again', async (t) => {
  const cluster = new FakeCluster()
  cluster.script((shard, command) =>
    command.shardVersion === 'UNSHARDED' && cluster.collections.has('test.c')
      ? staleReply()
      : cursorReply([{ from: shard }]),
  )
  t.same((await cluster.run({ find: 'c' }))['cursor'].firstBatch, [{ from: 'shard01' }])
  cluster.shardByRange('test.c', 'x', [0], ['shard02', 'shard03'])
  t.same((await cluster.run({ find: 'c', filter: { x: 1 } }))['cursor'].firstBatch, [{ from: 'shard03' }])
})

t.test('a read of a database that was moved is routed again', async (t) => {
  const cluster = new FakeCluster()
  cluster.script((shard) =>
    shard === 'shard01'
      ? { ok: 0, code: 249, errmsg: 'db version mismatch', db: 'test' }
      : cursorReply([{ from: shard }]),
  )
  await cluster.run({ ping: 1 })
  const reading = cluster.start({ find: 'c' })
  cluster.databases.set('test', { primary: 'shard02', lastMod: 2 })
  t.ok(await cluster.world.settle(reading))
  t.match(await cluster.run({ find: 'c' }), { ok: 1 })
  t.same(cluster.commandsTo('shard02')[0]!.command.databaseVersion!.slice(3), [2])
})

t.test('flushRouterConfig drops cached placement', async (t) => {
  const cluster = twoShards()
  cluster.script(() => cursorReply([]))
  await cluster.run({ find: 'c' })
  await cluster.run({ find: 'c' })
  t.equal(cluster.countSent('config.get-collection'), 1)
  for (const what of ['test.c', 'test', 1])
    t.match(await cluster.run({ flushRouterConfig: what, $db: 'admin' }), { flushed: true, ok: 1 })
  await cluster.run({ find: 'c' })
  t.equal(cluster.countSent('config.get-collection'), 2)
  t.equal(
    (cluster.world.sent.findLast(({ kind }) => kind === 'config.get-collection')!.request as { since: unknown }).since,
    null,
  )
})

t.test('unreachable shards', async (t) => {
  t.test('a find fails after findReplicaSetHostTimeoutMs', async (t) => {
    const cluster = twoShards()
    cluster.script(() => cursorReply([]))
    cluster.kill('shard02')
    const before = cluster.world.nowMs
    t.match(await cluster.run({ find: 'c' }), {
      ok: 0,
      code: 133,
      codeName: 'FailedToSatisfyReadPreference',
      errmsg: 'Could not find host matching read preference { mode: "primary" } for set shard02',
    })
    t.equal(cluster.world.nowMs - before, 15_000)
    t.match(await cluster.run({ find: 'c', filter: { x: -5 } }), { ok: 1 }, 'reads of healthy shards go on')
  })

  t.test('a find fails after its maxTimeMS if that is shorter', async (t) => {
    const cluster = twoShards()
    cluster.script(() => cursorReply([]))
    cluster.kill('shard02')
    const before = cluster.world.nowMs
    t.match(await cluster.run({ find: 'c', maxTimeMS: 250 }), { ok: 0, code: 50 })
    t.equal(cluster.world.nowMs - before, 250)
  })

  t.test('a find on a shard that never replies fails after its maxTimeMS', async (t) => {
    const cluster = twoShards()
    cluster.script(() => new Promise<Document>(() => {}))
    const before = cluster.world.nowMs
    t.match(await cluster.run({ find: 'c', maxTimeMS: 250 }), { ok: 0, code: 50 })
    t.equal(cluster.world.nowMs - before, 250)
  })

  t.test('allowPartialResults leaves the shard out and reports it', async (t) => {
    const cluster = twoShards()
    cluster.script(() => cursorReply([{ _id: 1 }]))
    cluster.kill('shard02')
    t.match(await cluster.run({ find: 'c', allowPartialResults: true }), {
      cursor: { firstBatch: [{ _id: 1 }], partialResultsReturned: true, id: Long.ZERO },
      ok: 1,
    })
  })

  t.test('a shard that fails during a read is asked again three times', async (t) => {
    const cluster = twoShards()
    let calls = 0
    cluster.script(() => {
      if (++calls < 4) throw new Gone()
      return cursorReply([{ calls }])
    })
    t.same((await cluster.run({ find: 'c', filter: { x: 1 } }))['cursor'].firstBatch, [{ calls: 4 }])
    calls = -10
    t.match(await cluster.run({ find: 'c', filter: { x: 1 } }), { ok: 0, code: 6, codeName: 'HostUnreachable' })
    t.match(
      cluster.world.events.filter((event) => event.type === 'limit'),
      [{ limit: 'remoteRetriesMax', value: 3 }],
    )
  })

  t.test('a read that fails with a retriable error is sent again', async (t) => {
    const cluster = twoShards()
    let calls = 0
    cluster.script(() =>
      ++calls < 3 ? { ok: 0, code: 11600, codeName: 'InterruptedAtShutdown', errmsg: 'bye' } : cursorReply([]),
    )
    t.match(await cluster.run({ find: 'c', filter: { x: 1 } }), { ok: 1 })
    t.equal(calls, 3)
  })

  t.test('a getMore is sent once', async (t) => {
    const cluster = twoShards()
    cluster.script((_shard, _command, name) => {
      if (name === 'find') return cursorReply([{ _id: 1 }], { id: 8n })
      throw new Gone()
    })
    const { cursor } = await cluster.run({ find: 'c', filter: { x: 1 }, batchSize: 1 })
    t.match(await cluster.run({ getMore: cursor.id, collection: 'c' }), { ok: 0, code: 6 })
    t.match(await cluster.run({ getMore: cursor.id, collection: 'c' }), { ok: 0, code: 43 })
  })

  t.test('without the config server, cached routes work and others fail with 133', async (t) => {
    const cluster = twoShards()
    cluster.script(() => cursorReply([]))
    await cluster.run({ find: 'c' })
    cluster.world.members.delete('config')
    t.match(await cluster.run({ find: 'c' }), { ok: 1 })
    t.match(await cluster.run({ find: 'other' }), { ok: 0, code: 133, errmsg: /for set config$/ })
    const before = cluster.world.nowMs
    t.match(await cluster.run({ find: 'other', maxTimeMS: 80 }), { ok: 0, code: 50 })
    t.equal(cluster.world.nowMs - before, 80)
  })
})

t.test('a copy of a router also fetches the shard that its original found missing', async (t) => {
  const shards = ['shard01']
  const cluster = new FakeCluster({}, shards)
  const script = (_: unknown, name: string) =>
    name === 'find'
      ? { cursor: { id: Long.ZERO, ns: 'test.c', firstBatch: [] }, ok: 1 }
      : { databases: [], totalSize: Long.ZERO, ok: 1 }
  cluster.scripts.set('shard01', script).set('shard02', script)
  await cluster.run({ listDatabases: 1, $db: 'admin' })
  shards.push('shard02')
  cluster.revive('shard02')
  cluster.shardByRange('test.c', 'x', [0], ['shard01', 'shard02'])
  await cluster.run({ find: 'c' })
  t.equal(cluster.countSent('config.get-shards'), 1)
  t.equal(cluster.commandsTo('shard02').length, 1)
  const copy = createMongos(cluster.world.context(), {
    emulate: '7.0',
    findReplicaSetHostTimeoutMs: 15_000,
    nativeWire: false,
  })
  copy.resume!(cluster.mongos.exportState!(), null)
  const body = encode({ listDatabases: 1, $db: 'admin' })
  const request = { connectionId: 1, body, sequences: [], legacy: false, remote: '127.0.0.1:1' }
  await cluster.world.settle(Promise.resolve(copy.receive('client.command', request, 'gateway')))
  t.equal(cluster.countSent('config.get-shards'), 2)
  t.equal(cluster.commandsTo('shard02').at(-1)?.name, 'listDatabases')
})

t.test('a chunk command with the placement of an earlier shard key refreshes it', async (t) => {
  const cluster = twoShards()
  const refine = (): void => {
    const before = cluster.collections.get('test.c')!
    const refined = (bound: Document): Document => ({
      ...bound,
      y: bound['x'] instanceof MaxKey ? new MaxKey() : new MinKey(),
    })
    const chunks = before.chunks.map((chunk) => ({ ...chunk, min: refined(chunk.min), max: refined(chunk.max) }))
    cluster.collections.set('test.c', { ...before, epoch: new ObjectId(), key: { x: 1, y: 1 }, chunks })
  }
  cluster.onFindChunk = (ns) => {
    if (cluster.countSent('config.find-chunk') === 1) refine()
    const { major, minor, ...chunk } = cluster.collections.get(ns)!.chunks[1]!
    return { ...chunk, lastmod: new Timestamp({ t: major, i: minor }) }
  }
  cluster.script(() => ({ ok: 1, splitKeys: [{ x: 7, y: 1 }] }))
  cluster.onShardExchange = () => ({ error: null })
  const reply = await cluster.run({ split: 'test.c', find: { x: 5, y: 1 }, $db: 'admin' })
  t.equal(reply['ok'], 1, String(reply['errmsg']))
  const asked = cluster.commandsTo('shard02').filter(({ name }) => name === 'splitVector')
  t.same(
    asked.map(({ body }) => body['keyPattern']),
    [{ x: 1, y: 1 }],
    'the middle is asked for once, by the key that the chunk has',
  )
  t.equal(cluster.countSent('config.find-chunk'), 2)
})

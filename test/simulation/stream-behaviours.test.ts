/** What clients of change streams rely on, through a router and on a shard. */
import { Timestamp, type Document } from '@shardlab/bson'
import t from 'tap'
import { admin, ask, insert, start, tookMs } from './two-shard-cluster.js'
import { Stream, types, type Target } from './stream-client.js'

const targets: readonly Target[] = ['mongos01', 'shard01']

t.test('a getMore waits for events as long as its maxTimeMS, by default a second', async (t) => {
  const cluster = await start(t, { emulate: '7.0' })
  for (const to of targets) {
    const stream = await Stream.open(cluster, to)
    await stream.read()
    for (const [more, expectedMs] of [
      [{ maxTimeMS: 700 }, 700],
      [{}, 1000],
    ] as const) {
      const ms = await tookMs(cluster, () => stream.read(more))
      t.ok(ms >= expectedMs && ms < expectedMs + 50, `${to}: ${ms} ms for ${expectedMs}`)
    }
    const waiting = stream.read({ maxTimeMS: 60_000 })
    await insert(cluster, -100 - targets.indexOf(to))
    const ms = await tookMs(cluster, async () => t.same(types(await waiting), ['insert']))
    t.ok(ms < 100, `${to}: it returns with the first event, after ${ms} ms`)
    t.same(await stream.read({ maxTimeMS: 1, batchSize: 1 }), [])
  }
})

t.test('the token of an empty batch advances with what the stream does not show', async (t) => {
  for (const emulate of ['4.0', '7.0'] as const) {
    const cluster = await start(t, { emulate })
    for (const to of targets) {
      const stream = await Stream.open(cluster, to)
      t.match(stream.token['_data'], /^82.{16}2B0[24]29296E(14)?04$/, 'the first one is a high-water mark')
      const before = stream.token['_data'] as string
      await ask(cluster, { insert: 'others', documents: [{ _id: `${to}` }] })
      await cluster.advance(100)
      // On the other shard, too.
      await ask(cluster, { insert: 'things', documents: [{ _id: `${to}`, x: 50 }] })
      const events = await stream.events(to === 'mongos01' ? 1 : 0)
      t.equal(events.length, to === 'mongos01' ? 1 : 0)
      if (to === 'shard01') t.same(await stream.read(), [])
      t.ok(stream.token['_data'] > before, `${emulate} ${to}`)
      const resumed = await Stream.open(cluster, to, { resumeAfter: stream.token })
      await insert(cluster, -50 - targets.indexOf(to))
      t.match(await resumed.events(1), [{ operationType: 'insert', documentKey: { _id: -50 - targets.indexOf(to) } }])
    }
  }
})

t.test('startAtOperationTime includes the events of that time, also of a time to come', async (t) => {
  const cluster = await start(t, { emulate: '7.0' })
  for (const to of targets) {
    const stream = await Stream.open(cluster, to)
    for (const i of [1, 2]) await insert(cluster, -200 - 2 * targets.indexOf(to) - i)
    const [, second] = await stream.events(2)
    const at = second!['clusterTime'] as Timestamp
    const again = await Stream.open(cluster, to, { startAtOperationTime: at })
    t.same((await again.events(1))[0]!['_id'], second!['_id'])
    const later = new Timestamp({ t: at.getHighBits() + 1000, i: 1 })
    const ahead = await Stream.open(cluster, to, { startAtOperationTime: later })
    await insert(cluster, -300 - targets.indexOf(to))
    t.same(await ahead.read(), [], 'earlier events are not shown')
  }
})

t.test('only startAfter continues after an invalidate', async (t) => {
  for (const emulate of ['4.4', '8.0'] as const) {
    const cluster = await start(t, { emulate })
    const stream = await Stream.open(cluster, 'mongos01')
    await ask(cluster, { drop: 'things' })
    const events = await stream.events(2)
    const last = events.at(-1)!
    t.same(last['operationType'], 'invalidate')
    t.same(String(stream.id), '0')
    t.same(stream.token, last['_id'])
    await t.rejects(Stream.open(cluster, 'mongos01', { resumeAfter: last['_id'] }), { code: 260 })
    const next = await Stream.open(cluster, 'mongos01', { startAfter: last['_id'] })
    await insert(cluster, 7)
    t.match(await next.events(1), [{ operationType: 'insert', documentKey: { _id: 7 } }])
    const again = await Stream.open(cluster, 'mongos01', { resumeAfter: events[0]!['_id'] })
    const rest = await again.events(1)
    t.same(types(rest).at(-1), 'invalidate', 'a stream that resumes before it has it again')
  }
})

t.test('a stream on the cluster has all databases but admin, config and local', async (t) => {
  for (const emulate of ['4.0', '7.0'] as const) {
    const cluster = await start(t, { emulate })
    for (const to of targets) {
      const every = { aggregate: 1, $db: 'admin' }
      const stream = await Stream.open(cluster, to, { allChangesForCluster: true }, every)
      const database = await Stream.open(cluster, to, {}, { aggregate: 1 })
      const _id = `from ${to}`
      await admin(cluster, { insert: 'hidden', documents: [{ _id }] })
      for (const db of ['app', 'zoo']) {
        await ask(cluster, { insert: 'plain', documents: [{ _id }], $db: db }, 'mongos01')
        // The primary shard of a new database is any shard.
        if (db === 'zoo' && emulate !== '4.0') await admin(cluster, { movePrimary: 'zoo', to: 'shard01' })
      }
      await ask(cluster, { insert: 'plain', documents: [{ _id: `${_id} end` }] })
      const seen: string[] = []
      while (!seen.includes(`app.plain ${_id} end`))
        for (const { ns, documentKey } of await stream.read())
          if (documentKey !== undefined) seen.push(`${ns.db}.${ns.coll} ${documentKey._id}`)
      t.notOk(seen.some((each) => /^(admin|config|local)\./.test(each)))
      t.ok(seen.includes(`app.plain ${_id}`))
      if (to === 'mongos01') t.ok(seen.includes(`zoo.plain ${_id}`))
      const own = await database.events(2)
      t.same(
        own.map(({ ns }) => ns.db as string),
        ['app', 'app'],
      )
      await t.rejects(Stream.open(cluster, to, { allChangesForCluster: true }), { code: 72 })
      await t.rejects(Stream.open(cluster, to, {}, every), { code: 73 })
      await t.rejects(Stream.open(cluster, to, {}, { $db: 'config' }), { code: 73 })
      // A router refuses it first.
      await t.rejects(Stream.open(cluster, to, {}, { $db: 'local' }), { code: to === 'mongos01' ? 20 : 73 })
    }
  }
})

t.test('the collation of the command applies to its stages, and that of the collection until 4.0', async (t) => {
  const insensitive = { locale: 'en', strength: 2 }
  for (const emulate of ['4.0', '7.0'] as const) {
    const cluster = await start(t, { emulate })
    await ask(cluster, { create: 'names', collation: insensitive })
    const pipeline = [{ $match: { 'fullDocument.name': 'ANNA' } }]
    for (const to of targets) {
      const plain = await Stream.open(cluster, to, {}, { aggregate: 'names', pipeline })
      const collated = await Stream.open(cluster, to, {}, { aggregate: 'names', pipeline, collation: insensitive })
      await ask(cluster, { insert: 'names', documents: [{ _id: to, name: 'anna' }] })
      t.equal((await collated.events(1)).length, 1)
      t.equal((await plain.read()).length, emulate === '4.0' ? 1 : 0, `${emulate} ${to}`)
    }
  }
})

t.test('a stream and its getMores have comments', async (t) => {
  const cluster = await start(t, { emulate: '7.0' })
  for (const to of targets) {
    const stream = await Stream.open(cluster, to, {}, { comment: 'my stream' })
    const waiting = stream.read({ maxTimeMS: 500, comment: { of: 'my getMore' } })
    const local = [{ $currentOp: { localOps: to === 'mongos01' } }]
    const current = await admin(cluster, { aggregate: 1, pipeline: local, cursor: {} }, to)
    const comments = (current['cursor'].firstBatch as Document[]).map(({ command }) => command?.comment?.of as unknown)
    t.ok(comments.includes('my getMore'), to)
    await waiting
  }
})

t.test('expanded events appear as the version has them', async (t) => {
  for (const [emulate, expected] of [
    ['6.0', ['create', 'createIndexes', 'shardCollection', 'createIndexes', 'modify', 'dropIndexes', 'drop']],
    [
      '7.0',
      [
        ...['create', 'createIndexes', 'shardCollection', 'createIndexes', 'refineCollectionShardKey'],
        ...['reshardCollection', 'modify', 'dropIndexes', 'drop'],
      ],
    ],
  ] as const) {
    const cluster = await start(t, { emulate })
    const stream = await Stream.open(cluster, 'mongos01', { showExpandedEvents: true }, { aggregate: 1 })
    const classic = await Stream.open(cluster, 'mongos01', {}, { aggregate: 1 })
    await admin(cluster, { shardCollection: 'app.new', key: { a: 1 } })
    await ask(cluster, { createIndexes: 'new', indexes: [{ key: { a: 1, b: 1 }, name: 'a_b' }] })
    await admin(cluster, { refineCollectionShardKey: 'app.new', key: { a: 1, b: 1 } })
    await admin(cluster, { reshardCollection: 'app.new', key: { a: 1 }, numInitialChunks: 1 })
    await ask(cluster, { collMod: 'new', validationLevel: 'off' })
    await ask(cluster, { dropIndexes: 'new', index: 'a_b' })
    await ask(cluster, { drop: 'new' })
    await insert(cluster, 99)
    const seen: string[] = []
    while (seen.at(-1) !== 'insert') seen.push(...types(await stream.read()))
    t.same(
      [...new Set(seen)].filter((type) => type !== 'insert'),
      [...new Set(expected)],
      emulate,
    )
    const old: string[] = []
    while (old.at(-1) !== 'insert') old.push(...types(await classic.read()))
    t.same([...new Set(old)], ['drop', 'insert'])
  }
  const cluster = await start(t, { emulate: '5.0' })
  await t.rejects(Stream.open(cluster, 'mongos01', { showExpandedEvents: true }), { code: 40415 })
})

t.test('a router that stops ends the getMore of a stream that waits for events', async (t) => {
  const cluster = await start(t)
  const stream = await Stream.open(cluster, 'mongos01')
  const ended = t.rejects(stream.read({ maxTimeMS: 60_000 }))
  await cluster.advance(500)
  const began = cluster.now()
  await cluster.faults.apply('stop mongos01')
  await ended
  t.ok(cluster.now() - began < 10_000, 'the router did not wait for the time of the getMore')
})

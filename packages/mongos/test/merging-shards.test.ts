import t from 'tap'
import fc from 'fast-check'
import { createDeferred } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import { Gone } from './support/fake-world.js'
import { filled, graph, group, lookup, mergers, openCursors, rows, window } from './support/merging-cluster.js'
import { drain } from './support/real-cluster.js'

t.test('one of the shards gets the cursors, reads them to their end and replies in batches', async (t) => {
  const cluster = await filled()
  const pipeline = [...group, { $sort: { _id: 1 } }]
  t.same(
    await drain(cluster, { aggregate: 'orders', pipeline, cursor: { batchSize: 2 } }, 2),
    [0, 1, 2, 3, 4].map((_id) => ({ _id, n: 8 })),
  )
  const [merger, ...others] = mergers(cluster)
  t.same(others, [])
  const [sent] = cluster.commandsTo(merger!).filter(({ body }) => '$mergeCursors' in (body['pipeline']?.[0] ?? {}))
  t.match(sent!.body, {
    aggregate: 'orders',
    cursor: { batchSize: 2 },
    fromMongos: true,
    collation: { locale: 'simple' },
  })
  const { remotes } = sent!.body['pipeline'][0].$mergeCursors
  t.same(
    remotes.map(({ shardId }: Document) => shardId as string),
    ['shard01', 'shard02', 'shard03'],
  )
  t.match(remotes[0], { cursorResponse: { cursor: { ns: 'test.orders', firstBatch: [] }, ok: 1 } })
  t.equal(openCursors(cluster), 0)
  t.ok(cluster.world.reached.includes('mongos.aggregate.merging'))
  for (let i = 0; i < 20; i++) await drain(cluster, { aggregate: 'orders', pipeline, cursor: {} })
  t.same([...new Set(mergers(cluster))].sort(), ['shard01', 'shard02', 'shard03'], 'any of them')
})

t.test('with internalQueryProhibitMergingOnMongoS a shard merges every pipeline', async (t) => {
  const cluster = await filled()
  const pipeline = [{ $sort: { w: 1, _id: 1 } }, { $project: { w: 1 } }]
  const here = await drain(cluster, { aggregate: 'orders', pipeline, cursor: { batchSize: 7 } }, 9)
  t.same(mergers(cluster), [])
  t.match(await cluster.run({ setParameter: 1, internalQueryProhibitMergingOnMongoS: true, $db: 'admin' }), {
    was: false,
    ok: 1,
  })
  t.same(await drain(cluster, { aggregate: 'orders', pipeline, cursor: { batchSize: 7 } }, 9), here)
  t.equal(mergers(cluster).length, 1)
  t.equal(openCursors(cluster), 0)
  const old = await filled('2.6')
  t.match(await old.run({ setParameter: 1, internalQueryProhibitMergingOnMongoS: true, $db: 'admin' }), { ok: 0 })
})

t.test('since 5.3 the merging part begins with $mergeCursors', async (t) => {
  for (const [version, shown] of [
    ['5.0', ['$limit']],
    ['6.0.2', ['$mergeCursors', '$limit']],
  ] as const) {
    const cluster = await filled(version)
    const { splitPipeline } = await cluster.run({
      explain: { aggregate: 'orders', pipeline: [{ $limit: 1 }], cursor: {} },
    })
    t.same(
      splitPipeline.mergerPart.map((stage: Document) => Object.keys(stage)[0]),
      shown,
    )
  }
})

t.test('cursors on shards are closed after a limit, a kill or a time-out', async (t) => {
  const cluster = await filled()
  const pipeline = [{ $unionWith: 'things' }]
  await drain(cluster, { aggregate: 'orders', pipeline: [...pipeline, { $limit: 2 }], cursor: {} })
  await cluster.world.drain()
  t.equal(openCursors(cluster), 0, 'the pipeline has enough')
  const first = await cluster.run({ aggregate: 'orders', pipeline, cursor: { batchSize: 1 } })
  t.ok(openCursors(cluster) > 0)
  await cluster.run({ killCursors: 'orders', cursors: [first['cursor'].id] })
  await cluster.world.drain()
  t.equal(openCursors(cluster), 0, 'killed')
  await cluster.run({ aggregate: 'orders', pipeline, cursor: { batchSize: 1 } })
  for (const node of cluster.nodes.values()) node.cursors.expire(cluster.world.nowMs + 3_600_000)
  await cluster.world.drain()
  t.equal(openCursors(cluster), 0, 'idle for long')
})

t.test('a failing or unreachable shard fails the merge and leaves no cursor open', async (t) => {
  for (const version of ['5.0', '7.0', '8.0'] as const) {
    const cluster = await filled(version)
    const failing = [{ $project: { k: 1, bad: { $divide: [1, '$k'] } } }, ...group]
    const failed = await cluster.run({ aggregate: 'orders', pipeline: failing, cursor: {}, allowDiskUse: true })
    t.equal(failed['ok'], 0)
    t.match(failed['errmsg'] as string, /can't \$divide by zero/)
    if (version !== '5.0') t.match(failed['errmsg'], /Error on remote shard .* :: caused by :: /)
    await cluster.world.drain()
    t.equal(openCursors(cluster), 0, 'nothing stays open')
    cluster.world.atStep = (step) => {
      if (step === 'mongos.aggregate.merging') cluster.kill('shard03')
    }
    const gone = await cluster.run({ aggregate: 'orders', pipeline: [{ $unionWith: 'things' }], cursor: {} })
    t.equal(gone['code'], 6, JSON.stringify(gone))
    await cluster.world.drain()
    t.same(
      [...cluster.nodes].filter(([shard, node]) => shard !== 'shard03' && node.cursors.size > 0),
      [],
    )
  }
})

t.test('when the merging shard crashes before it has the cursors, they are closed', async (t) => {
  const cluster = await filled()
  cluster.world.atStep = (step) => {
    if (step === 'mongos.aggregate.merging') cluster.kill('shard01')
  }
  t.match(await cluster.run({ aggregate: 'orders', pipeline: [lookup('things')], cursor: {} }), { code: 133 })
  await cluster.world.drain()
  t.equal(cluster.nodes.get('shard02')!.cursors.size + cluster.nodes.get('shard03')!.cursors.size, 0)
})

t.test('a merge is requested once, because its cursors cannot be read again', async (t) => {
  for (const pipeline of [[lookup('things')], [lookup('things'), { $merge: 'o' }]]) {
    const cluster = await filled()
    const shard = cluster.world.members.get('shard01')!
    cluster.world.members.set('shard01', async (kind, request) => {
      const reply = await shard(kind, request)
      if (
        kind === 'node.command' &&
        '$mergeCursors' in (decode((request as { body: Uint8Array }).body)['pipeline']?.[0] ?? {})
      )
        throw new Gone()
      return reply
    })
    t.match(await cluster.run({ aggregate: 'orders', pipeline, cursor: {} }), { ok: 0, code: 6 })
    t.equal(mergers(cluster).length, 1)
    t.equal((await cluster.run({ count: 'o' }))['n'], 0)
  }
})

t.test('a merge that waits for another shard is listed and can be killed', async (t) => {
  const cluster = await filled()
  const shard = cluster.world.members.get('shard03')!
  const gate = createDeferred<void>()
  cluster.world.members.set('shard03', async (kind, request) => {
    if (kind === 'node.command' && 'getMore' in decode((request as { body: Uint8Array }).body)) await gate.promise
    return shard(kind, request)
  })
  const pipeline = [lookup('things')]
  const running = cluster.start({ aggregate: 'orders', pipeline, cursor: { batchSize: 2 } })
  while (!cluster.commandsTo('shard03').some(({ name }) => name === 'getMore'))
    await cluster.run({ ping: 1 }, { connectionId: 2 })
  const { inprog } = await cluster.run({ currentOp: 1, $db: 'admin' }, { connectionId: 2 })
  const merging = (inprog as Document[]).filter(
    ({ command }) => '$mergeCursors' in ((command as Document)['pipeline']?.[0] ?? {}),
  )
  t.match(merging, [{ shard: 'shard01', op: 'command', ns: 'test.orders' }])
  t.match(await cluster.run({ killOp: 1, op: merging[0]!['opid'], $db: 'admin' }, { connectionId: 2 }), { ok: 1 })
  t.match(decode(await cluster.world.settle(running)), { ok: 0, code: 11601 })
  gate.resolve()
  await cluster.world.drain()
  t.equal(openCursors(cluster), 0, 'what comes too late is closed')
})

t.test('maxTimeMS limits the merging shard, too', async (t) => {
  const cluster = await filled()
  const shard = cluster.world.members.get('shard03')!
  cluster.world.members.set('shard03', (kind, request) =>
    kind === 'node.command' && 'getMore' in decode((request as { body: Uint8Array }).body)
      ? new Promise(() => {})
      : shard(kind, request),
  )
  const pipeline = [{ $unionWith: 'things' }]
  t.match(await cluster.run({ aggregate: 'orders', pipeline, cursor: {}, maxTimeMS: 500 }), { code: 50 })
})

t.test('clients may not send $mergeCursors', async (t) => {
  const pipeline = [{ $mergeCursors: { remotes: [], nss: 'test.orders' } }]
  for (const version of ['5.0', '8.0'] as const) {
    const cluster = await filled(version)
    const refused = { code: 5491300, errmsg: "$mergeCursors' is not allowed in user requests" }
    t.match(await cluster.run({ aggregate: 'orders', pipeline, cursor: {} }), refused)
    t.match(await cluster.run({ aggregate: 'orders', pipeline: [{ $facet: { a: pipeline } }], cursor: {} }), refused)
    const body = encode({ aggregate: 'orders', pipeline, cursor: {}, $db: 'test' })
    const asked = { connectionId: 1, remote: 'x', legacy: false, body, sequences: [] }
    t.match(
      decode((await cluster.nodes.get('shard01')!.clientCommand(asked)).body),
      refused,
      'nor does a shard take them',
    )
  }
  t.match(await (await filled('4.4')).run({ aggregate: 'orders', pipeline, cursor: {} }), { code: 40324 })
})

t.test('a source on every shard is merged on one of them, also under apiStrict', async (t) => {
  const cluster = await filled()
  const told = [{ $currentOp: {} }, { $group: { _id: '$shard', n: { $sum: 1 } } }, { $sort: { _id: 1 } }]
  const shards = (await drain(cluster, { aggregate: 1, pipeline: told, cursor: {}, $db: 'admin' })).map(
    ({ _id }) => _id as unknown,
  )
  t.same(shards, ['shard01', 'shard02', 'shard03'])
  t.equal(mergers(cluster).length, 1)
  const strict = { aggregate: 'orders', pipeline: group, cursor: {}, apiVersion: '1', apiStrict: true, comment: 'mine' }
  t.match(await cluster.run(strict), { cursor: { firstBatch: { length: 5 } }, ok: 1 })
})

t.test('after stale routing the router joins instead of the merging shard', async (t) => {
  const cluster = await filled()
  const pipeline = [lookup('things'), { $sort: { _id: 1 } }, { $project: { p: { $first: '$found.price' } } }]
  const expected = await drain(cluster, { aggregate: 'orders', pipeline, cursor: { batchSize: 100 } })
  t.same(mergers(cluster), ['shard01'])
  await cluster.shard({ ns: 'test.things', field: 'k', splits: [10, 20] }, ['shard01', 'shard01', 'shard01'])
  t.same(
    await drain(cluster, { aggregate: 'orders', pipeline, cursor: { batchSize: 100 } }),
    expected,
    'the router joins now',
  )
  await cluster.world.drain()
  t.equal(openCursors(cluster), 0)
  t.same(
    await drain(cluster, { aggregate: 'orders', pipeline: [{ $match: { x: -50 } }, ...pipeline], cursor: {} }),
    expected.filter(({ _id }) => rows[_id as number]!.x === -50),
  )
})

t.test('$merge writes the results of a merging shard', async (t) => {
  for (const [target, version] of [
    ['o', '7.0'],
    ['o', '8.0'],
    ['sharded', '8.0'],
  ] as const) {
    const cluster = await filled(version)
    const write = { $merge: { into: target, whenMatched: 'merge' } }
    t.match(
      await cluster.run({ aggregate: 'orders', pipeline: [...group, { $set: { k: '$_id' } }, write], cursor: {} }),
      { ok: 1 },
    )
    t.equal(mergers(cluster).length, 1)
    t.match(
      await cluster.all(target),
      [0, 1, 2, 3, 4].map((_id) => ({ _id, k: _id, n: 8 })),
    )
    t.equal(openCursors(cluster), 0)
  }
})

t.test('a shard merges as the router does (property)', async () => {
  const cluster = await filled('8.0')
  const before = fc.constantFrom<Document[]>(
    [],
    [{ $match: { x: { $gte: 20 } } }],
    [{ $match: { x: 50 } }],
    [{ $set: { w: { $toUpper: '$w' } } }],
  )
  const merged = fc.constantFrom<Document[]>(
    [{ $group: { _id: '$w', n: { $sum: '$k' }, mean: { $avg: '$x' } } }],
    [{ $sort: { w: -1, _id: 1 } }, { $group: { _id: '$k', all: { $push: '$_id' } } }],
    [{ $sort: { w: 1, _id: 1 } }, { $limit: 7 }, lookup('things'), { $unwind: '$found' }],
    [{ $bucketAuto: { groupBy: '$x', buckets: 3 } }],
    [window],
    [{ $facet: { few: [{ $sort: { _id: 1 } }, { $limit: 2 }], groups: [...group, { $sort: { _id: 1 } }] } }],
    [{ $unionWith: { coll: 'things', pipeline: [{ $match: { k: { $gt: 2 } } }] } }],
    [graph],
    [{ $sortByCount: '$w' }],
  )
  const after = fc.constantFrom<Document[]>(
    [],
    [{ $match: { _id: { $ne: 3 } } }],
    [{ $project: { found: 0 } }],
    [{ $count: 'n' }],
  )
  const options = fc.record({
    batchSize: fc.constantFrom(0, 1, 3, 100),
    collation: fc.constantFrom({ locale: 'simple' }, { locale: 'en', strength: 2 }),
  })
  await fc.assert(
    fc.asyncProperty(before, merged, after, options, async (first, second, third, { batchSize, collation }) => {
      const pipeline = [...first, ...second, ...third, { $sort: { _id: 1, n: 1, 'found.k': 1 } }]
      const command = { aggregate: 'orders', pipeline, collation, cursor: { batchSize } }
      const onShard = await drain(cluster, { ...command, allowDiskUse: true }, batchSize)
      // A join with a sharded collection keeps the pipeline on the router, even if nothing matches.
      const here = [
        ...pipeline,
        { $lookup: { from: 'sharded', localField: 'none', foreignField: 'k', as: 'none' } },
        { $unset: 'none' },
      ]
      const onRouter = await drain(cluster, { ...command, pipeline: here }, batchSize)
      await cluster.world.drain()
      return JSON.stringify(onShard) === JSON.stringify(onRouter) && openCursors(cluster) === 0
    }),
    { numRuns: 80 },
  )
})

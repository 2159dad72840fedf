/**
 * Sampled queries, their storage, currentOp and serverStatus. Manual:
 * reference/command/configureQueryAnalyzer.
 */
import t from 'tap'
import type { Document } from '@shardlab/bson'
import { AnalysedCluster, refreshMs, writeMs } from './analysed-cluster.js'

const ns = 'shop.orders'

t.test('every kind of query is sampled on a shard that it went to; D860 with variables as written', async (t) => {
  await using world = await AnalysedCluster.start({ emulate: '8.0' })
  await world.shardedOrders()
  await world.insert('orders', [
    { _id: 1, x: -1, s: { a: 1, b: 2 } },
    { _id: 2, x: 1 },
    { _id: 3, x: 2 },
  ])
  await world.sample(ns)
  const collation = { locale: 'en_US', strength: 2 }
  await world.slowly([
    { find: 'orders', filter: { x: -1 }, collation },
    { find: 'orders', filter: { $expr: { $eq: ['$x', '$$v'] } }, let: { v: 1 } },
    { count: 'orders', query: { x: { $gte: 1 } } },
    { distinct: 'orders', key: 'x', query: { x: 2 } },
    { aggregate: 'orders', pipeline: [{ $sort: { x: -1 } }, { $match: { x: 1 } }], cursor: {} },
    { aggregate: 'orders', pipeline: [{ $match: { x: 1 } }], cursor: {}, collation },
    {
      update: 'orders',
      updates: [{ q: { x: -1 }, u: { $set: { 's.a': 5, n: 1 }, $unset: { 's.b': 1 } } }],
      let: { v: 1 },
    },
    { delete: 'orders', deletes: [{ q: { x: 2 }, limit: 1, hint: { _id: 1 } }] },
    { findAndModify: 'orders', query: { x: 1 }, sort: { x: 1 }, update: { $inc: { n: 1 } }, new: true },
    { update: 'orders', updates: [{ q: { n: 1 }, u: { $set: { m: 1 } }, multi: true }] },
  ])
  await world.admin({
    bulkWrite: 1,
    ops: [{ update: 0, filter: { x: 1 }, updateMods: { $set: { q: 1 } } }],
    nsInfo: [{ ns }],
  })
  await world.run({ explain: { find: 'orders', filter: { x: 5 } } })
  await world.run({ insert: 'orders', documents: [{ x: 9 }] })
  const samples = await world.samples()
  const shownAs = (sample: Document) => {
    const { _id, collectionUuid, expireAt, ...rest } = sample
    t.ok(_id !== undefined && collectionUuid !== undefined && expireAt instanceof Date)
    return JSON.parse(JSON.stringify(rest).replaceAll(String(_id), 'ID')) as Document
  }
  const bySample = samples.map(shownAs).map(({ ns: sampled, cmdName, cmd }) => {
    t.equal(sampled, ns)
    return [cmdName, cmd] as [string, Document]
  })
  const of = (name: string) => bySample.filter(([cmdName]) => cmdName === name).map(([, cmd]) => cmd)
  t.strictSame(
    of('find').toSorted((a) => ('let' in a ? 1 : -1)),
    [
      { filter: { x: -1 }, collation },
      { filter: { $expr: { $eq: ['$x', '$$v'] } }, collation: {}, let: { v: 1 } },
    ],
  )
  t.strictSame(of('count'), [{ filter: { x: { $gte: 1 } }, collation: {} }])
  t.strictSame(of('distinct'), [{ filter: { x: 2 }, collation: {} }])
  t.match(
    new Set(of('aggregate').map(({ filter, collation: { locale } }) => JSON.stringify([filter, locale]))),
    new Set(['[{"x":1},"simple"]', '[{"x":1},"en_US"]']),
  )
  t.equal(
    Object.keys(of('aggregate').find((cmd) => cmd['collation'].locale === 'en_US')!['collation']).length > 5,
    true,
    'a whole collation',
  )
  t.strictSame(of('delete'), [
    {
      delete: 'orders',
      bypassDocumentValidation: false,
      ordered: true,
      deletes: [{ q: { x: 2 }, limit: 1, hint: { _id: 1 }, sampleId: 'ID' }],
      $db: 'shop',
    },
  ])
  t.strictSame(of('findAndModify'), [
    {
      findAndModify: 'orders',
      query: { x: 1 },
      sort: { x: 1 },
      update: { $inc: { n: 1 } },
      new: true,
      sampleId: 'ID',
      $db: 'shop',
    },
  ])
  t.strictSame(
    of('update').map((cmd) => cmd['updates'][0]),
    [
      {
        q: { x: -1 },
        u: { $set: { 's.a': 5, n: 1 }, $unset: { 's.b': 1 } },
        multi: false,
        upsert: false,
        sampleId: 'ID',
      },
      { q: { n: 1 }, u: { $set: { m: 1 } }, multi: true, upsert: false, sampleId: 'ID' },
    ].toSorted(
      (a, b) =>
        of('update').findIndex((cmd) => cmd['updates'][0].multi === a.multi) -
        of('update').findIndex((cmd) => cmd['updates'][0].multi === b.multi),
    ),
  )
  t.strictSame(of('bulkWrite'), [
    {
      bulkWrite: 1,
      ops: [{ update: 0, filter: { x: 1 }, updateMods: { $set: { q: 1 } }, sampleId: 'ID' }],
      nsInfo: [{ ns }],
      $db: 'admin',
    },
  ])
  t.equal(samples.length, 11, 'neither explain nor insert is sampled')
  const diffs = [
    ...(await world.find('sampledQueriesDiff', 'shard01')),
    ...(await world.find('sampledQueriesDiff', 'shard02')),
  ]
  t.same(
    new Set(diffs.map(({ diff }) => JSON.stringify(diff))),
    new Set(['{"s":{"a":"u","b":"d"},"n":"i"}', '{"n":"i"}', '{"m":"i"}', '{"q":"i"}']),
  )
  t.same(Object.keys(diffs[0]!), ['_id', 'ns', 'collectionUuid', 'diff', 'expireAt'])
  const onFirst = await world.find('sampledQueries', 'shard01')
  t.ok(
    onFirst.every(({ cmd }) => JSON.stringify(cmd) !== JSON.stringify({ filter: { x: 2 }, collation: {} })),
    'x: 2 is on shard02',
  )
  t.ok(onFirst.some(({ cmd }) => JSON.stringify(cmd.filter) === '{"x":-1}'))
  t.same(await world.find('sampledQueries'), [], 'through a router config is the config server')
  t.equal((await world.samples('shop.other')).length, 0)
  t.equal((await world.samples(ns)).length, 11)
})

t.test('D861 a batch for two shards is sampled on either, its diffs on the shard of the document', async (t) => {
  await using world = await AnalysedCluster.start()
  await world.shardedOrders()
  await world.insert('orders', [{ x: -1 }, { x: 1 }])
  await world.sample(ns)
  const updates = [-1, 1].map((x) => ({ q: { x }, u: { $set: { [x < 0 ? 'below' : 'above']: 1 } } }))
  t.match(await world.run({ update: 'orders', updates }), { n: 2, nModified: 2 })
  const samples = await world.samples()
  t.same(new Set(samples.map(({ cmd }) => cmd.updates[0].q.x)), new Set([-1, 1]))
  t.match(await world.find('sampledQueriesDiff', 'shard01'), [{ diff: { below: 'i' } }])
  t.match(await world.find('sampledQueriesDiff', 'shard02'), [{ diff: { above: 'i' } }])
  const ids = [
    ...(await world.find('sampledQueriesDiff', 'shard01')),
    ...(await world.find('sampledQueriesDiff', 'shard02')),
  ].map(({ _id }) => String(_id))
  t.same(new Set(ids), new Set(samples.map(({ _id }) => String(_id))), 'a change has the id of its query')
})

t.test('samples are written at once when the buffer is full', async (t) => {
  await using world = await AnalysedCluster.start({ shards: 1 })
  await world.insert('orders', [{ x: 1, list: [1], d: { a: 1 } }])
  await world.sample(ns)
  await world.admin({ setParameter: 1, queryAnalysisWriterMaxMemoryUsageBytes: 1000 }, 'shard01')
  await world.slowly([{ find: 'orders', filter: { x: 1 } }])
  t.same(await world.find('sampledQueries', 'shard01'), [])
  await world.slowly([{ find: 'orders', filter: { x: 'y'.repeat(1000) } }])
  t.equal((await world.find('sampledQueries', 'shard01')).length, 2)
  await world.slowly([{ find: 'orders', filter: { x: 2 } }])
  await world.slowly([{ update: 'orders', updates: [{ q: {}, u: { x: 1, list: [2], d: 1, long: 'y'.repeat(1000) } }] }])
  await world.run({ update: 'orders', updates: [{ q: {}, u: { $set: { x: 1 } } }] })
  await world.samples()
  t.match(
    await world.find('sampledQueriesDiff', 'shard01'),
    [{ diff: { list: 'u', d: 'u', long: 'i' } }],
    'and what changes nothing leaves no diff',
  )
})

t.test('a recreated collection is not sampled for its predecessor', async (t) => {
  await using world = await AnalysedCluster.start({ shards: 1 })
  await world.insert('orders', [{ x: 1 }])
  await world.sample(ns)
  await world.run({ drop: 'orders' })
  await world.insert('orders', [{ x: 1 }])
  await world.slowly([{ find: 'orders' }])
  t.same(await world.samples(), [])
})

t.test('$listSampledQueries refuses invalid arguments', async (t) => {
  await using world = await AnalysedCluster.start({ shards: 1 })
  const list = (argument: unknown, db = 'admin') =>
    world.run({ aggregate: 1, pipeline: [{ $listSampledQueries: argument }], cursor: {}, $db: db })
  t.match(await list(1), { code: 6876000 })
  t.match(await list({ namespace: 1 }), { code: 14 })
  t.match(await list({ namespace: 'config.chunks' }), { code: 20 })
  t.match(await list({ namespace: 'shop' }), { code: 73 })
  t.match(await list({}, 'shop'), { code: 73 })
  t.match(await list({ other: 1 }), { ok: 1 })
})

t.test('samples are written every 90 seconds and expire after seven days', async (t) => {
  await using world = await AnalysedCluster.start({ shards: 1 })
  await world.insert('orders', [{ x: 1 }])
  await world.sample(ns)
  await world.run({ find: 'orders' })
  await world.cluster.advance(writeMs - 1000)
  t.same(await world.find('sampledQueries', 'shard01'), [])
  await world.cluster.advance(2000)
  t.equal((await world.find('sampledQueries', 'shard01')).length, 1)
  const { cursor } = await world.run({ listIndexes: 'sampledQueries', $db: 'config' }, 'shard01')
  t.match((cursor as { firstBatch: Document[] }).firstBatch[1], {
    key: { expireAt: 1 },
    name: 'SampledQueriesTTLIndex',
    expireAfterSeconds: 0,
  })
  const [sample] = await world.find('sampledQueries', 'shard01')
  const { localTime } = await world.admin({ hello: 1 })
  const livesMs = (sample!['expireAt'] as Date).getTime() - (localTime as Date).getTime()
  t.ok(Math.abs(livesMs - 7 * 24 * 3_600_000) < writeMs + 10_000, `${livesMs}`)
  await world.run({ delete: 'sampledQueries', deletes: [{ q: {}, limit: 0 }], $db: 'config' }, 'shard01')
  for (const to of ['mongos01', 'shard01'])
    await world.admin({ setParameter: 1, queryAnalysisSamplerConfigurationRefreshSecs: 1 }, to)
  await world.admin({ setParameter: 1, queryAnalysisWriterIntervalSecs: 2 }, 'shard01')
  await world.admin({ setParameter: 1, queryAnalysisSampleExpirationSecs: 60 }, 'shard01')
  await world.run({ find: 'orders' })
  await world.cluster.advance(3000)
  t.equal((await world.find('sampledQueries', 'shard01')).length, 1)
  await world.cluster.advance(130_000)
  t.same(await world.find('sampledQueries', 'shard01'), [])
  t.match(await world.admin({ setParameter: 1, queryAnalysisWriterIntervalSecs: 0 }), {
    code: 2,
    errmsg: /is not greater than 0/,
  })
  t.match(await world.admin({ setParameter: 1, queryAnalysisQueryStatsSmoothingFactor: 1 }), {
    code: 2,
    errmsg: /is not less than 1/,
  })
  t.match(await world.admin({ setParameter: 1, analyzeShardKeyNumRanges: 1 }), { code: 2 }, 'D862')
})

t.test('a token bucket allows the rate, and a burst of two seconds', async (t) => {
  await using world = await AnalysedCluster.start({ shards: 1 })
  await world.insert('orders', [{ x: 1 }])
  await world.run({ find: 'orders' })
  await world.sample(ns, 5)
  const sampled = async () =>
    (await world.admin({ serverStatus: 1 }))['queryAnalyzers'].totalSampledReadsCount as number
  for (let i = 0; i < 30; i++) await world.run({ find: 'orders' })
  t.equal(await sampled(), 10, 'two seconds are saved up')
  await world.cluster.advance(1000)
  for (let i = 0; i < 30; i++) await world.run({ find: 'orders' })
  t.equal(await sampled(), 15)
  await world.admin({ configureQueryAnalyzer: ns, mode: 'off' })
  await world.cluster.advance(refreshMs + 1000)
  for (let i = 0; i < 30; i++) await world.run({ find: 'orders' })
  t.equal(await sampled(), 15, 'off is off')
  t.match(await world.admin({ serverStatus: 1 }), {
    queryAnalyzers: {
      activeCollections: 0,
      totalCollections: 1,
      totalSampledReadsCount: 15,
      totalSampledWritesCount: 0,
    },
  })
})

t.test('D863 the rate is divided by the load of each router', async (t) => {
  await using world = await AnalysedCluster.start({ shards: 1, mongos: 2 })
  await world.insert('orders', [{ x: 1 }])
  const rates = async () => {
    const entries: Document[] = []
    for (const to of ['mongos01', 'mongos02'])
      entries.push(
        ...(await world.aggregate(
          [{ $currentOp: { localOps: true } }, { $match: { desc: 'query analyzer' } }],
          'admin',
          to,
        )),
      )
    return entries.map(({ samplesPerSecond }) => samplesPerSecond as number)
  }
  await world.sample(ns, 30)
  t.same(await rates(), [10, 10], 'without load two routers and the shard have equal shares')
  for (let i = 0; i < 40; i++) {
    for (let k = 0; k < 3; k++) await world.run({ find: 'orders' }, 'mongos01')
    await world.run({ count: 'orders' }, 'mongos02')
    await world.cluster.advance(1000)
  }
  const [first, second] = (await rates()) as [number, number]
  t.ok(Math.abs(first / second - 3) < 0.3, `three times as many: ${first} and ${second}`)
  t.ok(Math.abs(first + second - 30) < 1)
})

t.test('currentOp and serverStatus of routers and shards report sampling', async (t) => {
  await using world = await AnalysedCluster.start({ shards: 1 })
  await world.insert('orders', [{ x: 1 }])
  await world.sample(ns)
  await world.slowly([{ find: 'orders' }, { update: 'orders', updates: [{ q: { x: 1 }, u: { $set: { y: 1 } } }] }])
  const mine = { $match: { desc: 'query analyzer' } }
  const [router] = await world.aggregate([{ $currentOp: { allUsers: true, localOps: true } }, mine])
  t.same(Object.keys(router!), [
    'desc',
    'ns',
    'collUuid',
    'samplesPerSecond',
    'startTime',
    'sampledReadsCount',
    'sampledWritesCount',
  ])
  // No queries had been served when the rate was divided: the shard has the other half.
  t.match(router, { ns, samplesPerSecond: 25, sampledReadsCount: 1, sampledWritesCount: 1 })
  const [shard] = await world.aggregate([{ $currentOp: { allUsers: true } }, mine])
  t.same(Object.keys(shard!), [
    ...['shard', 'desc', 'ns', 'collUuid', 'startTime'],
    ...['sampledReadsCount', 'sampledReadsBytes', 'sampledWritesCount', 'sampledWritesBytes'],
  ])
  t.match(shard, { shard: 'shard01', sampledReadsCount: 1, sampledWritesCount: 1 })
  t.ok(shard!['sampledReadsBytes'] > 100 && shard!['sampledWritesBytes'] > 100)
  t.equal((await world.admin({ currentOp: 1, desc: 'query analyzer' }))['inprog'].length, 1)
  t.match(await world.admin({ serverStatus: 1 }, 'shard01'), {
    queryAnalyzers: {
      activeCollections: 1,
      totalCollections: 1,
      totalSampledReadsCount: 1,
      totalSampledWritesCount: 1,
      totalSampledReadsBytes: Number,
    },
  })
  t.notOk('queryAnalyzers' in (await world.admin({ serverStatus: 1 }, 'config')))
})

t.test('placements and samples are the same with attached tables and with documents', async (t) => {
  const seen = async (attaches: boolean) => {
    await using world = await AnalysedCluster.start({ attaches, mongos: 2 })
    await world.shardedOrders()
    await world.insert('orders', [{ x: -1 }, { x: 1 }])
    // Long enough for every shard to learn that nothing is sampled.
    await world.cluster.advance(2 * refreshMs)
    await world.sample(ns)
    await world.slowly([
      { find: 'orders', filter: { x: -1 } },
      { find: 'orders', filter: { x: 1 } },
    ])
    const samples = await world.samples()
    await world.admin({ moveChunk: ns, find: { x: 1 }, to: 'shard01' })
    const found = await world.run({ find: 'orders', projection: { _id: 0 }, sort: { x: 1 } }, 'mongos02')
    return [
      samples.map(({ cmdName, cmd }) => [cmdName, (cmd as Document)['filter']]),
      (found['cursor'] as Document)['firstBatch'],
    ]
  }
  const [samples, found] = await seen(true)
  t.same([samples, found], await seen(false))
  t.same(found, [{ x: -1 }, { x: 1 }])
  t.equal((samples as unknown[]).length, 2)
})

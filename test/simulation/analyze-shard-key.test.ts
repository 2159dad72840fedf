/** analyzeShardKey: errors, and metrics of keys. Manual: reference/command/analyzeShardKey. */
import t from 'tap'
import type { Document } from '@shardlab/bson'
import { AnalysedCluster } from './analysed-cluster.js'

const ns = 'shop.orders'

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

function analyser(world: AnalysedCluster) {
  const analyze = (key: Document, options: Document = {}) =>
    world.admin({ analyzeShardKey: ns, key, readWriteDistribution: false, ...options })
  return {
    analyze,
    characteristics: async (key: Document, options: Document = {}): Promise<Document> => {
      const reply = await analyze(key, options)
      if (reply['ok'] !== 1) throw new Error(JSON.stringify(reply))
      return reply['keyCharacteristics'] as Document
    },
  }
}

t.test('analyzeShardKey refuses invalid arguments', async (t) => {
  for (const emulate of ['7.0', '8.0'] as const) {
    await using world = await AnalysedCluster.start({ emulate, shards: 1 })
    await world.insert('orders', [{ x: 1, tags: [1, 2] }])
    await world.run({ create: 'view', viewOn: 'orders', pipeline: [] })
    await world.run({ create: 'empty' })
    const key = { x: 1 }
    const refused: [Document, number, RegExp][] = [
      [{ analyzeShardKey: 'shop', key }, 73, /Invalid namespace/],
      [{ analyzeShardKey: 'admin.users', key }, 20, /internal collection/],
      [{ analyzeShardKey: 'shop.system.views', key }, 20, /system collection/],
      [{ analyzeShardKey: 'shop.view', key }, 166, /corresponds to a view/],
      [{ analyzeShardKey: 'shop.missing', key }, 26, /does not exist/],
      [{ analyzeShardKey: 'nowhere.missing', key }, 26, /nowhere/],
      [{ analyzeShardKey: 'shop.empty', key }, 20, /for an empty collection/],
      [{ analyzeShardKey: ns }, 40414, /analyzeShardKey.key' is missing/],
      [{ analyzeShardKey: ns, key: 1 }, 14, /key' is the wrong type/],
      [{ analyzeShardKey: ns, key: {} }, 2, /./],
      [{ analyzeShardKey: ns, key: { x: -1 } }, 2, /./],
      [{ analyzeShardKey: ns, key: { x: 'hashed', y: 'hashed' } }, 2, /./],
      [{ analyzeShardKey: ns, key: { tags: 1 } }, 2, /array/],
      [
        { analyzeShardKey: ns, key, keyCharacteristics: false, readWriteDistribution: false },
        72,
        /Cannot skip analyzing all metrics/,
      ],
      [{ analyzeShardKey: ns, key, sampleRate: 0.5, sampleSize: 10 }, 72, /both 'sampleRate' and 'sampleSize'/],
      [{ analyzeShardKey: ns, key, sampleRate: 0 }, 2, /'sampleRate' value must be > 0, actual value '0'/],
      [{ analyzeShardKey: ns, key, sampleRate: 1.5 }, 2, /'sampleRate' value must be <= 1/],
      [{ analyzeShardKey: ns, key, sampleRate: 'x' }, 14, /sampleRate/],
      [{ analyzeShardKey: ns, key, sampleSize: 0 }, 2, /'sampleSize' value must be > 0/],
      [{ analyzeShardKey: ns, key, keyCharacteristics: 'yes' }, 14, /keyCharacteristics/],
      [{ analyzeShardKey: ns, key, writeConcern: { w: 1 } }, 72, /writeConcern/i],
      [{ analyzeShardKey: ns, key, readWriteDistribution: false }, 20, /does not have a supporting index/],
    ]
    for (const [command, code, message] of refused)
      t.match(await world.admin(command), { ok: 0, code, errmsg: message }, `${emulate} ${JSON.stringify(command)}`)
    t.match(await world.run({ analyzeShardKey: ns, key }), { code: 13 }, 'only on admin')
    await world.index('orders', key)
    t.match(await world.admin({ analyzeShardKey: ns, key, sampleSize: 4 }), {
      code: 72,
      errmsg: /most common values is 5 but .* is 4$/,
    })
  }
})

t.test('cardinality and frequency are computed from an index', async (t) => {
  await using world = await AnalysedCluster.start({ shards: 1 })
  const { characteristics } = analyser(world)
  await world.insert(
    'orders',
    numbers(1000).map((i) => ({
      _id: i,
      shop: i % 10 < 7 ? 'main' : `s${i % 10}`,
      at: i,
      pad: 'x'.repeat(100),
      ...(i < 5 ? {} : { late: true }),
    })),
  )
  await world.index('orders', { shop: 1, at: 1 })
  await world.index('orders', { at: 1 }, { unique: true })
  await world.index('orders', { late: 1 })
  const shop = await characteristics({ shop: 1 })
  t.same(Object.keys(shop), [
    ...[
      'numDocsTotal',
      'avgDocSizeBytes',
      'numDocsSampled',
      'isUnique',
      'numDistinctValues',
      'mostCommonValues',
      'monotonicity',
    ],
  ])
  t.match(shop, { numDocsTotal: 1000, numDocsSampled: 1000, isUnique: false, numDistinctValues: 4 })
  t.ok(shop['avgDocSizeBytes'] > 140 && shop['avgDocSizeBytes'] < 170)
  t.same(shop['mostCommonValues'][0], { value: { shop: 'main' }, frequency: 700 })
  t.same(
    new Set(shop['mostCommonValues'].map(({ value }: Document) => value.shop)),
    new Set(['main', 's7', 's8', 's9']),
  )
  t.same((await characteristics({ late: 1 }))['mostCommonValues'], [
    { value: { late: true }, frequency: 995 },
    { value: { late: null }, frequency: 5 },
  ])
  t.match(await characteristics({ at: 1 }), {
    isUnique: true,
    numDistinctValues: 1000,
    mostCommonValues: numbers(5).map((at) => ({ value: { at }, frequency: 1 })),
    monotonicity: { recordIdCorrelationCoefficient: 1, type: 'monotonic' },
  })
  t.match(await characteristics({ shop: 1, at: 1 }), { isUnique: false, numDistinctValues: 1000 })
  await world.admin({ setParameter: 1, analyzeShardKeyNumMostCommonValues: 1 }, 'shard01')
  t.equal((await characteristics({ shop: 1 }))['mostCommonValues'].length, 1)
  const bySize = await characteristics({ shop: 1 }, { sampleSize: 100 })
  t.ok(bySize['numDocsSampled'] > 60 && bySize['numDocsSampled'] <= 100, `${bySize['numDocsSampled']}`)
  t.equal(bySize['numDocsTotal'], 1000)
  const byRate = await characteristics({ at: 1 }, { sampleRate: 0.25 })
  t.match(byRate, { numDocsSampled: 250, numDistinctValues: 250, isUnique: true })
})

t.test('values that are too large are replaced by their type', async (t) => {
  await using world = await AnalysedCluster.start({ shards: 1 })
  const { characteristics } = analyser(world)
  const large = 'x'.repeat(4_000_000)
  await world.run({ insert: 'orders', documents: [{ name: large, id: 1 }] })
  await world.run({ insert: 'orders', documents: [{ name: { id: 2, text: large }, id: 2 }] })
  await world.index('orders', { id: 1, name: 1 })
  const values = (await characteristics({ id: 1, name: 1 }))['mostCommonValues'].map(
    ({ value }: Document) => value,
  ) as Document[]
  t.same(
    values.find(({ id }) => id === 1),
    { id: 1, name: { type: 'string', value: 'truncated', sizeBytes: 4_000_005 } },
  )
  t.same(
    values.find(({ id }) => id === 2),
    { id: 2, name: { id: 2, text: { type: 'string', value: 'truncated', sizeBytes: 4_000_005 } } },
  )
})

t.test('an index that supports the key is required and chosen', async (t) => {
  await using world = await AnalysedCluster.start({ shards: 1 })
  const { analyze, characteristics } = analyser(world)
  await world.insert(
    'orders',
    numbers(10).map((i) => ({ a: i, b: i % 2, list: [i, i + 1], c: -i })),
  )
  const none = {
    code: 20,
    errmsg: 'Cannot analyze the characteristics of a shard key that does not have a supporting index',
  }
  await world.index('orders', { a: 1 }, { sparse: true })
  t.match(await analyze({ a: 1 }), none, 'sparse')
  await world.index('orders', { b: 1 }, { partialFilterExpression: { a: { $gt: 5 } } })
  t.match(await analyze({ b: 1 }), none, 'partial')
  await world.index('orders', { c: 1 }, { collation: { locale: 'en' } })
  t.match(await analyze({ c: 1 }), none, 'collation')
  await world.index('orders', { c: 1, list: 1 })
  t.match(await analyze({ c: 1 }), none, 'multikey')
  await world.index('orders', { c: 'hashed' })
  t.match(
    await characteristics({ c: 1 }),
    { numDistinctValues: 10, monotonicity: { type: 'unknown' } },
    'a hashed index counts, but has no order',
  )
  t.same((await characteristics({ c: 'hashed' }))['monotonicity'], {
    recordIdCorrelationCoefficient: 0,
    type: 'not monotonic',
  })
  await world.index('orders', { b: 1, a: 'hashed' })
  t.same((await characteristics({ b: 1, a: 'hashed' }))['monotonicity'], { type: 'unknown' }, 'hashed, but not first')
  t.same((await characteristics({ b: 1 }))['mostCommonValues'].length, 2)
  t.match(await characteristics({ _id: 1 }), { isUnique: true, numDistinctValues: 10 })
  t.match(await characteristics({ _id: 'hashed' }), { isUnique: true, numDistinctValues: 10 })
})

t.test('monotonicity follows from the record order', async (t) => {
  await using world = await AnalysedCluster.start({ shards: 1 })
  const { characteristics } = analyser(world)
  const spread = (i: number) => (i * 7919) % 2003
  await world.insert(
    'orders',
    numbers(1000).map((i) => ({
      up: i,
      down: -i,
      spread: spread(i),
      same: 1,
      half: i % 2 === 0 ? i : spread(i),
      d: { up: i },
    })),
  )
  for (const key of [
    { up: 1 },
    { down: 1 },
    { spread: 1 },
    { same: 1 },
    { half: 1 },
    { same: 1, up: 1 },
    { 'd.up': 1 },
  ])
    await world.index('orders', key)
  const monotonicity = async (key: Document, options: Document = {}) =>
    (await characteristics(key, options))['monotonicity'] as Document
  t.same(await monotonicity({ up: 1 }), { recordIdCorrelationCoefficient: 1, type: 'monotonic' })
  t.same(await monotonicity({ down: 1 }), { recordIdCorrelationCoefficient: -1, type: 'monotonic' })
  t.same(await monotonicity({ 'd.up': 1 }), { recordIdCorrelationCoefficient: 1, type: 'monotonic' })
  t.same(await monotonicity({ same: 1 }), { recordIdCorrelationCoefficient: 0, type: 'not monotonic' }, 'one value')
  t.same(await monotonicity({ same: 1, up: 1 }), { recordIdCorrelationCoefficient: 1, type: 'monotonic' })
  t.match(await monotonicity({ spread: 1 }), { type: 'not monotonic' })
  const { type, recordIdCorrelationCoefficient: half } = await monotonicity({ half: 1 })
  t.equal(type, 'not monotonic')
  t.ok(half > 0 && half < 0.7, `${half}`)
  t.match(await monotonicity({ up: 1 }, { sampleSize: 100 }), { type: 'monotonic' })
  await world.admin(
    { setParameter: 1, analyzeShardKeyMonotonicityCorrelationCoefficientThreshold: half / 2 },
    'shard01',
  )
  t.match(await monotonicity({ half: 1 }), { type: 'monotonic' })
  await world.run({ create: 'orders2', clusteredIndex: { key: { _id: 1 }, unique: true } })
  await world.insert('orders2', [{ _id: 1, x: 1 }])
  await world.index('orders2', { x: 1 })
  const clustered = await world.admin({ analyzeShardKey: 'shop.orders2', key: { x: 1 }, readWriteDistribution: false })
  t.same(clustered['keyCharacteristics'].monotonicity, { type: 'unknown' })
})

t.test('metrics of a collection on two shards are merged', async (t) => {
  await using world = await AnalysedCluster.start()
  await world.admin({ enableSharding: 'shop', primaryShard: 'shard01' })
  await world.admin({ shardCollection: ns, key: { x: 1 } })
  await world.admin({ split: ns, middle: { x: 50 } })
  await world.insert(
    'orders',
    numbers(100).map((i) => ({ _id: i, x: i, parity: i % 2, nine: i === 9 || i === 99 ? 'nine' : `v${i}` })),
  )
  t.match(await world.admin({ moveChunk: ns, find: { x: 50 }, to: 'shard02' }), { ok: 1 })
  await world.index('orders', { parity: 1 })
  await world.index('orders', { nine: 1 })
  const { characteristics } = analyser(world)
  const parity = await characteristics({ parity: 1 })
  t.same(Object.keys(parity), [
    ...[
      'numDocsTotal',
      'numOrphanDocs',
      'avgDocSizeBytes',
      'numDocsSampled',
      'isUnique',
      'numDistinctValues',
      'mostCommonValues',
    ],
    ...['monotonicity', 'note'],
  ])
  const orphans = parity['numOrphanDocs'] as number
  t.ok(orphans === 0 || orphans === 50)
  await world.cluster.advance(1_000_000)
  t.match(await characteristics({ parity: 1 }), {
    numDocsTotal: 100,
    numOrphanDocs: 0,
    numDocsSampled: 100,
    numDistinctValues: 2,
    mostCommonValues: [{ frequency: 50 }, { frequency: 50 }],
    note: /does not filter out orphan documents/,
  })
  const nine = await characteristics({ nine: 1 })
  t.match(nine, { numDistinctValues: 99 })
  t.same(nine['mostCommonValues'][0], { value: { nine: 'nine' }, frequency: 2 }, 'a value that both shards have')
})

t.test('analyzeShardKey reads during a critical section', async (t) => {
  await using world = await AnalysedCluster.start()
  await world.shardedOrders(50)
  await world.insert(
    'orders',
    numbers(100).map((i) => ({ _id: i, x: i })),
  )
  const { id } = await world.cluster.faults.apply('hold at shard.migration.writes-blocked')
  const moving = world.admin({ moveChunk: ns, find: { x: 0 }, to: 'shard02' })
  while ((world.cluster.faults.list()[0]!.strikes ?? 0) === 0) await world.cluster.advance(100)
  const { numDocsTotal, numOrphanDocs } = await analyser(world).characteristics({ x: 1 })
  t.equal(numDocsTotal - numOrphanDocs, 100)
  await world.cluster.faults.heal(id)
  t.match(await moving, { ok: 1 })
})

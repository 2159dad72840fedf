import { ShardedCluster } from 'shardlab'
import { MongoClient, type Db, type Document } from 'mongodb'
import t from 'tap'

async function connect(emulate: '7.0' | '8.0' = '8.0') {
  const cluster = await ShardedCluster.start({ shards: 2, standby: ['rs1'], runtime: 'inline', emulate })
  const clients = await Promise.all(
    [cluster.uri, cluster.shards[0]!.uri, cluster.standby[0]!.uri].map((uri) =>
      MongoClient.connect(uri, { directConnection: true }),
    ),
  )
  const [router, shard, standby] = clients as [MongoClient, MongoClient, MongoClient]
  return {
    cluster,
    router,
    shard,
    standby,
    async [Symbol.asyncDispose]() {
      for (const client of clients) await client.close()
      await cluster.stop()
    },
  }
}

/** Two shards with chunks below and above 100. */
async function sharded(router: MongoClient, { shards }: ShardedCluster): Promise<Db> {
  const admin = router.db('admin')
  await admin.command({ shardCollection: 'shop.orders', key: { customer: 1 } })
  await admin.command({ split: 'shop.orders', middle: { customer: 100 } })
  await admin.command({ moveChunk: 'shop.orders', find: { customer: 100 }, to: shards[1]!.id })
  const shop = router.db('shop')
  await shop
    .collection('orders')
    .insertMany(Array.from({ length: 200 }, (_, customer) => ({ customer, a: customer % 10, b: customer % 7 })))
  await shop.collection('orders').createIndexes([{ key: { a: 1 } }, { key: { b: 1 } }])
  return shop
}

const refusal = (running: Promise<unknown>) =>
  running.then(
    () => null,
    ({ code, message }: { code: number; message: string }) => [code, message],
  )

const orders = { find: 'orders', filter: { a: 1, b: 1 }, $db: 'shop' }
const hints = (...allowedIndexes: unknown[]) => ({
  indexHints: [{ ns: { db: 'shop', coll: 'orders' }, allowedIndexes }],
})
const settingsOf = (client: MongoClient, argument: Document = {}) =>
  client
    .db('admin')
    .aggregate([{ $querySettings: argument }])
    .toArray()

function stagesIn(plan: Document): string[] {
  const name = plan['indexName'] === undefined ? plan['stage'] : `${plan['stage']} ${plan['indexName']}`
  return [name, ...(plan['inputStage'] === undefined ? [] : stagesIn(plan['inputStage']))]
}

const plannersOf = (explained: Document): Document[] => {
  const { queryPlanner } = explained
  return queryPlanner.winningPlan.shards ?? [queryPlanner]
}

t.test('settings are stored for a query shape, listed on every member, and survive restarts', async (t) => {
  await using lab = await connect()
  const { cluster, router, shard, standby } = lab
  const admin = router.db('admin')
  const set = await admin.command({ setQuerySettings: orders, settings: { ...hints('a_1'), comment: 'slow' } })
  t.match(set['queryShapeHash'], /^[0-9A-F]{64}$/)
  const configuration = {
    queryShapeHash: set['queryShapeHash'],
    settings: { ...hints('a_1'), comment: 'slow' },
    representativeQuery: orders,
  }
  t.same(await settingsOf(router), [configuration])
  t.same(await settingsOf(shard), [configuration])
  t.same(await settingsOf(router, { showDebugQueryShape: true }), [
    {
      ...configuration,
      debugQueryShape: {
        cmdNs: { db: 'shop', coll: 'orders' },
        command: 'find',
        filter: { $and: [{ a: { $eq: '?number' } }, { b: { $eq: '?number' } }] },
      },
    },
  ])
  const changed = await admin.command({
    setQuerySettings: { ...orders, filter: { a: 7, b: 8 } },
    settings: { queryFramework: 'classic', reject: false },
  })
  t.equal(changed['queryShapeHash'], set['queryShapeHash'], 'other values are the same shape')
  const updated = {
    ...configuration,
    settings: { ...hints('a_1'), queryFramework: 'classic', comment: 'slow' },
    representativeQuery: { ...orders, filter: { a: 7, b: 8 } },
  }
  t.same(await settingsOf(router), [updated])
  await admin.command({ addShard: cluster.standby[0]!.host })
  t.same(await settingsOf(standby), [updated])
  await cluster.crash('config')
  await cluster.restart('config')
  await cluster.crash(cluster.shards[0]!.id)
  await cluster.restart(cluster.shards[0]!.id)
  t.same(await settingsOf(shard), [updated])
  await admin.command({ setQuerySettings: set['queryShapeHash'].toLowerCase(), settings: { reject: true } })
  t.same(await settingsOf(router), [
    { ...updated, settings: { ...hints('a_1'), queryFramework: 'classic', reject: true, comment: 'slow' } },
  ])
  await admin.command({ removeQuerySettings: orders })
  t.same(await settingsOf(router), [])
  t.same(await settingsOf(shard), [])
  const unknown = 'AB'.repeat(32)
  t.match(await admin.command({ removeQuerySettings: unknown }), { ok: 1 }, 'nothing to remove')
  await admin.command({ setQuerySettings: unknown, settings: { reject: true } })
  t.same(await settingsOf(router, { showDebugQueryShape: true }), [
    { queryShapeHash: unknown, settings: { reject: true } },
  ])
})

t.test('queries of a rejected shape fail on routers and shards, and their explain works', async (t) => {
  await using lab = await connect()
  const { router, shard } = lab
  const shop = await sharded(router, lab.cluster)
  const collection = shop.collection('orders')
  const rejected = [411, 'Query rejected by admin query settings']
  const admin = router.db('admin')
  const reject = (query: Document) =>
    admin.command({ setQuerySettings: { ...query, $db: 'shop' }, settings: { reject: true } })
  const pipeline = (n: number) => [{ $match: { a: n } }, { $group: { _id: '$b', n: { $sum: n } } }]
  await reject({ find: 'orders', filter: { a: { $in: [1, 2] } }, sort: { b: -1 }, limit: 5 })
  await reject({ distinct: 'orders', key: 'a', query: { b: { $gt: 1 } } })
  await reject({ aggregate: 'orders', pipeline: pipeline(1) })
  await shop.createCollection('recent', { viewOn: 'orders', pipeline: [{ $match: { a: 3 } }] })
  await reject({ find: 'recent', filter: { b: 1 } })
  const find = (db: Db, values: number[], direction: 1 | -1) =>
    db
      .collection('orders')
      .find({ a: { $in: values } })
      .sort({ b: direction })
      .limit(2)
      .toArray()
  t.same(await refusal(find(shop, [3, 4, 5], -1)), rejected)
  t.same(await refusal(find(shard.db('shop'), [7], -1)), rejected)
  t.equal((await find(shop, [3, 4, 5], 1)).length, 2, 'another sort is another shape')
  t.same(await refusal(collection.distinct('a', { b: { $gt: 5 } })), rejected)
  t.same(await refusal(collection.distinct('b', { b: { $gt: 5 } })), null)
  t.same(await refusal(collection.aggregate(pipeline(5)).toArray()), rejected)
  t.same(await refusal(shard.db('shop').collection('orders').aggregate(pipeline(5)).toArray()), rejected)
  t.same(await refusal(shop.collection('recent').find({ b: 2 }).toArray()), rejected)
  t.same(await refusal(collection.aggregate([{ $match: { a: 3 } }, { $match: { b: 1 } }]).toArray()), null)
  t.same(await refusal(collection.aggregate(pipeline(5)).explain()), null)
  const explained = await collection
    .find({ a: { $in: [1] } })
    .sort({ b: -1 })
    .limit(1)
    .explain('queryPlanner')
  for (const planner of plannersOf(explained)) t.same(planner['querySettings'], { reject: true })
  const [{ queryShapeHash }] = (await settingsOf(router)) as [Document]
  t.equal(explained['queryShapeHash'], queryShapeHash)
  const hashes = new Set((await settingsOf(router)).map(({ queryShapeHash: hash }) => hash as string))
  for (const db of [shop, shard.db('shop')]) {
    const aggregated = await db.collection('orders').aggregate(pipeline(5)).explain('queryPlanner')
    t.ok(hashes.has(aggregated['queryShapeHash']))
    const viewed = await db.collection('recent').find({ b: 9 }).explain('queryPlanner')
    t.ok(hashes.has(viewed['queryShapeHash']), 'the query has the shape that names the view')
  }
  for (const { queryShapeHash: hash } of await settingsOf(router)) await admin.command({ removeQuerySettings: hash })
  t.equal((await find(shop, [1, 2], -1)).length, 2)
})

t.test('index hints restrict the planner of every shard and replace the hint of the query', async (t) => {
  await using lab = await connect()
  const { router, shard } = lab
  const shop = await sharded(router, lab.cluster)
  const admin = router.db('admin')
  const plans = async (client: MongoClient = router, options: Document = {}) => {
    const explained = await client.db('shop').collection('orders').find({ a: 3, b: 3 }, options).explain('queryPlanner')
    return plannersOf(explained).map(({ winningPlan }) => stagesIn(winningPlan).at(-1))
  }
  const set = (...allowed: unknown[]) => admin.command({ setQuerySettings: orders, settings: hints(...allowed) })
  await set('b_1')
  t.same(await plans(), ['IXSCAN b_1', 'IXSCAN b_1'])
  t.same(await plans(shard), ['IXSCAN b_1'])
  t.same(await plans(router, { hint: { a: 1 } }), ['IXSCAN b_1', 'IXSCAN b_1'])
  await set({ a: 1 })
  t.same(await plans(), ['IXSCAN a_1', 'IXSCAN a_1'])
  await set({ $natural: 1 })
  t.same(await plans(), ['COLLSCAN', 'COLLSCAN'])
  await set('missing_1')
  t.match(await plans(), [/^IXSCAN [ab]_1$/, /^IXSCAN [ab]_1$/], 'settings that allow no plan are ignored')
  const explained = await shop.collection('orders').find({ a: 1, b: 1 }).explain('queryPlanner')
  for (const planner of plannersOf(explained)) {
    t.same(planner['querySettings'], hints('missing_1'))
    t.equal(planner['indexFilterSet'], false)
  }
  const pipeline = [{ $match: { a: 1, b: 1 } }, { $group: { _id: '$customer' } }]
  await admin.command({ setQuerySettings: { aggregate: 'orders', pipeline, $db: 'shop' }, settings: hints('b_1') })
  const { shards } = await shop.collection('orders').aggregate(pipeline).explain('queryPlanner')
  for (const { stages } of Object.values<Document>(shards))
    t.equal(stagesIn(stages[0].$cursor.queryPlanner.winningPlan).at(-1), 'IXSCAN b_1')
  t.equal(
    (await shop.collection('orders').aggregate(pipeline).toArray()).length,
    await shop.collection('orders').countDocuments({ a: 1, b: 1 }),
  )
})

t.test('index hints apply to the collections of joins', async (t) => {
  await using lab = await connect()
  const { router } = lab
  const shop = router.db('shop')
  await shop.collection('customers').insertOne({ a: 1, b: 1 })
  await shop.collection('orders').insertMany(Array.from({ length: 20 }, (_, i) => ({ a: i % 5, b: i % 5 })))
  await shop.collection('orders').createIndexes([{ key: { a: 1 } }, { key: { b: 1 } }])
  const inner = [{ $match: { a: 1, b: 1 } }]
  const usage = async (pipeline: Document[]) => {
    const read = async () => {
      const used = await shop
        .collection('orders')
        .aggregate([{ $indexStats: {} }])
        .toArray()
      return new Map(used.map(({ name, accesses }) => [name, Number(accesses.ops)]))
    }
    const before = await read()
    await shop.collection('customers').aggregate(pipeline).toArray()
    const after = await read()
    return ['a_1', 'b_1'].filter((name) => after.get(name)! > before.get(name)!)
  }
  for (const stage of [
    { $lookup: { from: 'orders', pipeline: inner, as: 'found' } },
    { $unionWith: { coll: 'orders', pipeline: inner } },
  ])
    for (const index of ['b_1', 'a_1']) {
      const query = { aggregate: 'customers', pipeline: [stage], $db: 'shop' }
      await router.db('admin').command({ setQuerySettings: query, settings: hints(index) })
      t.same(await usage([stage]), [index], `${Object.keys(stage)[0]} with ${index}`)
    }
})

t.test('query settings that allow a scan take precedence over notablescan', async (t) => {
  await using lab = await connect()
  const { router, shard } = lab
  await router.db('shop').collection('orders').insertOne({ a: 1, b: 1 })
  await shard.db('admin').command({ setParameter: 1, notablescan: true })
  const find = () => refusal(shard.db('shop').collection('orders').find({ a: 1, b: 1 }).toArray())
  t.match(await find(), [291])
  await router.db('admin').command({ setQuerySettings: orders, settings: hints({ $natural: -1 }) })
  t.same(await find(), null)
})

t.test('settings set at the same time are all kept, and copies of the cluster have them', async (t) => {
  await using lab = await connect()
  const { router, cluster } = lab
  const queries = Array.from({ length: 8 }, (_, i) => ({ find: 'orders', filter: { [`f${i}`]: 1 }, $db: 'shop' }))
  await Promise.all(
    queries.map((query) => router.db('admin').command({ setQuerySettings: query, settings: { reject: true } })),
  )
  const settings = await settingsOf(router)
  t.same(new Set(settings.map(({ representativeQuery }) => Object.keys(representativeQuery.filter)[0])).size, 8)
  await using fork = await cluster.fork()
  for (const uri of [fork.uri, fork.shards[0]!.uri]) {
    const client = await MongoClient.connect(uri, { directConnection: true })
    t.same(await settingsOf(client), settings)
    t.match(await refusal(client.db('shop').collection('orders').find({ f3: 9 }).toArray()), [411])
    await client.close()
  }
})

t.test('refused query settings change nothing', async (t) => {
  await using lab = await connect()
  const admin = lab.router.db('admin')
  const set = (query: unknown, settings?: unknown, extra: Document = {}) =>
    refusal(admin.command({ setQuerySettings: query, ...(settings === undefined ? {} : { settings }), ...extra }))
  const reject = { reject: true }
  const hint = (specification: Document) => set(orders, { indexHints: [specification] })
  const ns = { db: 'shop', coll: 'orders' }
  t.same(await set(1, reject), [
    14,
    "BSON field 'setQuerySettings.setQuerySettings' is the wrong type 'int', expected types '[string, object]'",
  ])
  t.match(await set(orders), [40414, /'setQuerySettings.settings' is missing but a required field/])
  t.match(await set(orders, reject, { x: 1 }), [40415])
  t.same(await set(orders, {}), [8727502, 'settings field in setQuerySettings command cannot be empty'])
  const nothing = [7746604, 'the resulting settings cannot be empty or contain only default values']
  t.same(await set(orders, { reject: false }), nothing)
  t.same(await set(orders, { comment: 'x' }), nothing)
  t.same(await hint({ ns, allowedIndexes: [] }), nothing)
  t.match(await set({ find: 'orders' }, reject), [40414])
  t.match(await set({ ...orders, $db: '' }, reject), [73])
  t.match(await set({ ...orders, x: 1 }, reject), [40415])
  t.match(await set({ ...orders, filter: { $nope: 1 } }, reject), [2])
  t.match(await set({ count: 'orders', $db: 'shop' }, reject), [
    7746402,
    /^QueryShape can not be computed for command: /,
  ])
  t.same(await set({ ...orders, filter: { _id: 1 } }, reject), [
    7746606,
    'setQuerySettings command cannot be used on find queries eligible for IDHACK',
  ])
  t.same(await set({ find: 'c', $db: 'config' }, reject), [
    8584900,
    'setQuerySettings command cannot be used on internal databases',
  ])
  t.same(await set({ find: 'system.views', $db: 'shop' }, reject), [
    8584901,
    'setQuerySettings command cannot be used on system collections',
  ])
  t.same(await set({ aggregate: 'orders', pipeline: [{ $indexStats: {} }], $db: 'shop' }, reject), [
    8705200,
    'Setting {reject:true} is forbidden for query containing stage: $indexStats',
  ])
  t.same(await hint({ ns: { coll: 'orders' }, allowedIndexes: ['a_1'] }), [
    8727500,
    "invalid index hint: 'ns.db' field is missing",
  ])
  t.same(await hint({ ns: { db: 'shop' }, allowedIndexes: ['a_1'] }), [
    8727501,
    "invalid index hint: 'ns.coll' field is missing",
  ])
  t.match(await hint({ allowedIndexes: ['a_1'] }), [40414])
  t.match(await hint({ ns, allowedIndexes: null }), [40414])
  t.match(await hint({ ns, allowedIndexes: 'a_1' }), [14])
  t.same(await hint({ ns, allowedIndexes: [1] }), [9, 'Hint must be a string or an object'])
  t.same(await hint({ ns, allowedIndexes: [{}] }), [9646000, "key pattern index can't be empty"])
  t.match(await hint({ ns, allowedIndexes: [{ a: 0 }] }), [9646001, /^invalid index key pattern hint :: caused by :: /])
  const twice = { ns, allowedIndexes: ['a_1'] }
  t.match(await set(orders, { indexHints: [twice, twice] }), [7746608])
  t.match(await set(orders, { indexHints: 1 }), [14])
  t.match(await set(orders, { reject: 1 }), [14])
  t.match(await set(orders, { queryFramework: 1 }), [14])
  t.same(await set(orders, { queryFramework: 'fast' }), [
    2,
    "Invalid value for 'queryFramework': expected classic or sbe, but got fast",
  ])
  t.match(await set('', reject), [12])
  t.match(await set('xy', reject), [2])
  t.match(await refusal(admin.command({ removeQuerySettings: 1 })), [14])
  t.match(await refusal(lab.router.db('shop').command({ setQuerySettings: orders, settings: reject })), [13])
  t.same(await refusal(lab.shard.db('admin').command({ setQuerySettings: orders, settings: reject })), [
    238,
    'setClusterParameter can only run on mongos in sharded clusters',
  ])
  t.match(await refusal(admin.command({ setClusterParameter: { querySettings: {} } })), [4])
  t.match(await refusal(admin.command({ getClusterParameter: 'querySettings' })), [4])
  t.match(await refusal(admin.aggregate([{ $querySettings: 1 }]).toArray()), [7746800])
  t.match(await refusal(admin.aggregate([{ $querySettings: { x: 1 } }]).toArray()), [40415])
  t.match(await refusal(lab.router.db('shop').command({ ...orders, $db: undefined, querySettings: reject })), [40415])
  t.same(await settingsOf(lab.router), [])
})

t.test('versions before 8.0 have no query settings', async (t) => {
  await using lab = await connect('7.0')
  for (const [client, text] of [
    [lab.router, "no such command: 'setQuerySettings'"],
    [lab.shard, "no such command: 'setQuerySettings'"],
  ] as const) {
    const refused = await refusal(client.db('admin').command({ setQuerySettings: orders, settings: { reject: true } }))
    t.match(refused, [59, /setQuerySettings/], text)
    t.match(await refusal(settingsOf(client)), [40324, "Unrecognized pipeline stage name: '$querySettings'"])
  }
})

/**
 * $listClusterCatalog, which mongosh's getShardLocation uses. Manual:
 * reference/operator/aggregation/listClusterCatalog.
 */
import { MongoClient } from 'mongodb'
import { ShardedCluster } from '@shardlab/cluster'
import t from 'tap'

t.test('$listClusterCatalog lists collections with their shards', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline', emulate: '8.0', port: 0 })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  const admin = client.db('admin')
  const db = client.db('shop')
  const primary = 'shard02'
  await admin.command({ enableSharding: 'shop', primaryShard: primary })
  await admin.command({ shardCollection: 'shop.orders', key: { customer: 1 } })
  await admin.command({ split: 'shop.orders', middle: { customer: 10 } })
  await admin.command({ moveChunk: 'shop.orders', find: { customer: 20 }, to: 'shard01' })
  await db.createCollection('plain')
  await db.createCollection('large', { viewOn: 'orders', pipeline: [{ $match: { total: { $gt: 100 } } }] })
  await client.db('other').createCollection('things')

  const all = { shards: true, balancingConfiguration: true, tracked: true }
  const entries = await db.aggregate([{ $listClusterCatalog: all }, { $sort: { ns: 1 } }]).toArray()
  t.same(
    entries.map(({ ns, type }) => [ns, type]),
    [
      ['shop.large', 'view'],
      ['shop.orders', 'collection'],
      ['shop.plain', 'collection'],
      ['shop.system.views', 'collection'],
    ],
  )
  const [view, orders, plain] = entries
  t.same(Object.keys(orders!), [
    'ns',
    'db',
    'type',
    'options',
    'info',
    'idIndex',
    'sharded',
    'tracked',
    'shardKey',
    'shards',
    'balancingEnabled',
    'balancingEnabledReason',
    'autoMergingEnabled',
    'chunkSize',
  ])
  t.match(orders, {
    db: 'shop',
    sharded: true,
    tracked: true,
    shardKey: { customer: 1 },
    shards: ['shard01', 'shard02'],
    balancingEnabled: true,
    balancingEnabledReason: { enableBalancing: true, allowMigrations: true },
    autoMergingEnabled: true,
    chunkSize: 128,
  })
  t.match(view, { sharded: false, tracked: false, shards: [primary], options: { viewOn: 'orders' } })
  t.match(plain, { sharded: false, tracked: false, shards: [primary] })
  t.notOk('balancingEnabled' in plain!)

  await admin.command({ configureCollectionBalancing: 'shop.orders', chunkSize: 64, enableAutoMerger: false })
  await admin.command({ setAllowMigrations: 'shop.orders', allowMigrations: false })
  const [configured] = await db
    .aggregate([{ $listClusterCatalog: { balancingConfiguration: true } }, { $match: { ns: 'shop.orders' } }])
    .toArray()
  t.match(configured, {
    balancingEnabled: false,
    balancingEnabledReason: { enableBalancing: true, allowMigrations: false },
    autoMergingEnabled: false,
    chunkSize: 64,
  })
  t.notOk('shards' in configured! || 'tracked' in configured!, 'fields that were not requested are absent')

  const names = async (database: string) =>
    (
      await client
        .db(database)
        .aggregate([{ $listClusterCatalog: {} }, { $sort: { ns: 1 } }])
        .toArray()
    ).map(({ ns }) => ns as string)
  t.same(
    (await names('admin')).filter((ns) => !ns.includes('.system.')),
    ['other.things', 'shop.large', 'shop.orders', 'shop.plain'],
  )
  t.same(await names('missing'), [])
  t.same(await names('config'), [], 'internal databases have no entries')

  const refused = (run: Promise<unknown>) =>
    run.then(
      () => null,
      ({ code }) => code as number,
    )
  t.equal(
    await refused(
      db
        .collection('orders')
        .aggregate([{ $listClusterCatalog: {} }])
        .toArray(),
    ),
    9621301,
  )
  t.equal(await refused(db.aggregate([{ $listClusterCatalog: 1 }]).toArray()), 9621302)
  t.equal(await refused(db.aggregate([{ $listClusterCatalog: { nonsense: true } }]).toArray()), 40415)
  t.equal(await refused(db.aggregate([{ $limit: 1 }, { $listClusterCatalog: {} }]).toArray()), 73)
})

t.test('versions before 8.0 do not have $listClusterCatalog', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', emulate: '7.0', port: 0 })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  await t.rejects(
    client
      .db('shop')
      .aggregate([{ $listClusterCatalog: {} }])
      .toArray(),
    { code: 40324 },
  )
})

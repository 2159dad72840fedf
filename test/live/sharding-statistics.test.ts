/** Sizes and counts of sharded collections as routers and shards report them, by version. */
import t from 'tap'
import { Int32, type Document } from 'mongodb'
import { TestClusters, type Loose, type TestCluster } from '../support/clusters.js'

const clusters = new TestClusters({ shards: 3 })
t.teardown(() => clusters.stop())

/** 60 documents of 14 bytes, distributed by a hashed key. */
async function filled(lab: TestCluster): Promise<Loose> {
  const collection: Loose = (await lab.database()).collection('c')
  await lab.admin({ shardCollection: collection.namespace, key: { _id: 'hashed' } })
  await collection.insertMany(Array.from({ length: 60 }, (_, _id) => ({ _id })))
  return collection
}

/** Adds a range deletion task for this many orphans to the shard, as a migration does. */
async function noteOrphans(lab: TestCluster, shard: string, { namespace }: Loose, count: number): Promise<void> {
  const entry = await lab.config.collection<Document & { _id: string }>('collections').findOne({ _id: namespace })
  const tasks = (await lab.shard(shard)).db('config').collection('rangeDeletions')
  await tasks.insertOne({ nss: namespace, collectionUuid: entry!['uuid'], donorShardId: shard, numOrphanDocs: count })
}

const distribution = (lab: TestCluster, rest: Document[] = []): Promise<Document[]> =>
  lab.client
    .db('admin')
    .aggregate([{ $shardedDataDistribution: {} }, ...rest])
    .toArray()

for (const version of ['6.0', '7.0', '8.0'] as const) {
  t.test(`${version}: $shardedDataDistribution agrees with the data`, async (t) => {
    const lab = await clusters.at(version)
    const collection = await filled(lab)
    const [first] = lab.shardIds as [string]
    await noteOrphans(lab, first, collection, 3)
    await collection.db.collection('plain').insertOne({})
    const placed = await lab.placed(collection)
    const found = await distribution(lab, [{ $match: { ns: collection.namespace } }])
    t.same(found, [
      {
        ns: collection.namespace,
        shards: lab.shardIds.map((shardName) => {
          const count = placed[shardName]!.length
          const orphans = shardName === first ? 3 : 0
          return {
            shardName,
            numOrphanedDocs: orphans,
            numOwnedDocuments: count - orphans,
            ownedSizeBytes: (count - orphans) * 14,
            orphanedSizeBytes: orphans * 14,
          }
        }),
      },
    ])
    const all = await distribution(lab)
    t.notOk(
      all.some(({ ns }) => ns.endsWith('.plain')),
      'sharded collections only',
    )
    const empty: Loose = (await lab.database()).collection('empty')
    await lab.admin({ shardCollection: empty.namespace, key: { a: 1 } })
    const size = version === '6.0' ? null : 0
    t.match(await distribution(lab, [{ $match: { ns: empty.namespace } }]), [
      { shards: [{ numOwnedDocuments: 0, ownedSizeBytes: size, orphanedSizeBytes: size }] },
    ])
  })

  t.test(`${version}: $shardedDataDistribution runs only on routers and on admin`, async (t) => {
    const lab = await clusters.at(version)
    await t.rejects(
      lab.client
        .db('admin')
        .aggregate([{ $shardedDataDistribution: { a: 1 } }])
        .toArray(),
      { code: 6789100 },
    )
    await t.rejects(
      lab.client
        .db('test')
        .aggregate([{ $shardedDataDistribution: {} }])
        .toArray(),
      { code: 6789102 },
    )
    const shard = await lab.shard(lab.shardIds[0]!)
    await t.rejects(
      shard
        .db('admin')
        .aggregate([{ $shardedDataDistribution: {} }])
        .toArray(),
      { code: 6789101 },
    )
  })
}

t.test('6.0.2 does not have $shardedDataDistribution', async (t) => {
  await t.rejects(distribution(await clusters.at('6.0.2')), { code: 40324 })
})

for (const version of ['4.4', '6.0.2', '8.0'] as const) {
  t.test(`${version}: collStats and $collStats report orphans since 6.0`, async (t) => {
    const lab = await clusters.at(version)
    const collection = await filled(lab)
    const [first] = lab.shardIds as [string]
    await noteOrphans(lab, first, collection, 2)
    const stats = await collection.db.command({ collStats: 'c' })
    t.match(stats, {
      sharded: true,
      count: 60,
      size: 840,
      avgObjSize: 14,
      nindexes: 2,
      nchunks: version === '8.0' ? 3 : 6,
    })
    const orphans = version === '4.4' ? undefined : 2
    t.equal(stats['shards'][first].numOrphanDocs, orphans)
    const each = await collection.aggregate([{ $collStats: { storageStats: {} } }, { $sort: { shard: 1 } }]).toArray()
    t.same(
      each.map(({ shard }) => shard),
      lab.shardIds,
    )
    t.equal(each[0]!['storageStats'].numOrphanDocs, orphans)
    t.equal(
      each.reduce((sum, { storageStats }) => sum + storageStats.count, 0),
      60,
    )
    t.same(new Set(each.map(({ ns }) => ns)), new Set([collection.namespace]))
  })
}

t.test('dataSize and dbStats agree with the documents and indexes', async (t) => {
  const lab = await clusters.at('8.0')
  const collection = await filled(lab)
  const { db, namespace } = collection
  t.match(await db.command({ dataSize: namespace }), { size: 840, numObjects: 60 })
  const bounds = { keyPattern: { _id: 1 }, min: { _id: 10 }, max: { _id: 20 } }
  t.match(await db.command({ dataSize: namespace, ...bounds }), { size: 140, numObjects: 10 })
  const stats = await db.command({ dbStats: 1, scale: 10 })
  t.match(stats, { db: db.databaseName, collections: 3, objects: 60, avgObjSize: 14, indexes: 6, scaleFactor: 10 })
  t.equal(Object.keys(stats['raw']).length, 3)
})

for (const version of ['2.6', '4.0', '4.4'] as const) {
  t.test(`${version}: dbStats and collStats have totals since 4.4, and extents before`, async (t) => {
    const lab = await clusters.at(version)
    const collection = await filled(lab)
    const stats = await collection.db.command({ dbStats: 1 })
    const names = Object.keys(stats).filter((name) => name !== 'operationTime' && name !== '$clusterTime')
    const common = ['objects', 'avgObjSize', 'dataSize', 'storageSize']
    t.same(
      names,
      version === '4.4'
        ? [
            'raw',
            'db',
            'collections',
            'views',
            ...common,
            'totalSize',
            'indexes',
            'indexSize',
            'scaleFactor',
            'fsUsedSize',
            'fsTotalSize',
            'ok',
          ]
        : ['raw', ...common, 'numExtents', 'indexes', 'indexSize', 'fileSize', 'extentFreeList', 'ok'],
    )
    const ofCollection = await collection.db.command({ collStats: 'c' })
    t.equal('totalSize' in ofCollection, version === '4.4')
    t.equal('scaleFactor' in ofCollection, version === '4.4')
  })
}

for (const version of ['2.6', '4.0', '5.0', '6.0.2', '8.0'] as const) {
  t.test(
    `${version}: serverStatus of shards counts migrations since 4.0, their bytes in patches of 5.0 and 6.0; D870`,
    async (t) => {
      const lab = await clusters.at(version)
      const collection: Loose = (await lab.database()).collection('moved')
      await lab.admin({ shardCollection: collection.namespace, key: { _id: 1 } })
      await collection.insertMany(Array.from({ length: 10 }, (_, _id) => ({ _id })))
      const [chunk] = await lab.chunks(collection)
      const to = lab.shardIds.find((id) => id !== chunk!['shard'])!
      const of = async (id: string) =>
        (await (await lab.shard(id)).db('admin').command({ serverStatus: 1 }))['shardingStatistics']
      const before = [await of(chunk!['shard']), await of(to)]
      await lab.admin({ moveChunk: collection.namespace, find: { _id: 1 }, to, _waitForDelete: true })
      const after = [await of(chunk!['shard']), await of(to)]
      const grown = (member: 0 | 1, name: string) => Number(after[member][name]) - Number(before[member][name])
      if (version === '2.6') return t.notOk('countDonorMoveChunkStarted' in after[0])
      const hasBytes = version === '5.0' || version === '8.0'
      t.equal(grown(0, 'countDonorMoveChunkStarted'), 1)
      t.equal(grown(0, 'countDocsClonedOnDonor'), 10)
      t.equal(grown(1, 'countRecipientMoveChunkStarted'), 1)
      t.equal(grown(1, 'countDocsClonedOnRecipient'), 10)
      t.equal(grown(0, hasBytes ? 'countDocsDeletedByRangeDeleter' : 'countDocsDeletedOnDonor'), 10)
      t.equal(after[0].rangeDeleterTasks, 0)
      t.ok(after[0].totalCriticalSectionCommitTimeMillis <= after[0].totalCriticalSectionTimeMillis)
      t.equal('catalogCache' in after[0], false)
      t.equal('countDonorMoveChunkCommitted' in after[0], hasBytes)
      if (hasBytes) {
        t.equal(grown(0, 'countDonorMoveChunkCommitted'), 1)
        t.equal(grown(1, 'countBytesClonedOnRecipient'), 140)
        t.equal(grown(0, 'countBytesDeletedByRangeDeleter'), 140)
      }
      return undefined
    },
  )
}

t.test('serverStatus counts refreshes of the catalog', async (t) => {
  const lab = await clusters.at('8.0')
  const cacheOf = async () => (await lab.admin({ serverStatus: 1 }))['shardingStatistics'].catalogCache
  const before = await cacheOf()
  const collection = await filled(lab)
  const after = await cacheOf()
  t.same(Object.keys(after), [
    'numDatabaseEntries',
    'numCollectionEntries',
    'countStaleConfigErrors',
    'totalRefreshWaitTimeMicros',
    'numActiveIncrementalRefreshes',
    'countIncrementalRefreshesStarted',
    'numActiveFullRefreshes',
    'countFullRefreshesStarted',
    'countFailedRefreshes',
  ])
  t.ok(after.countFullRefreshesStarted > before.countFullRefreshesStarted)
  await collection.findOne({ _id: new Int32(1) })
  t.equal(
    (await cacheOf()).countFullRefreshesStarted,
    after.countFullRefreshesStarted,
    'cached data are not read again',
  )
})

/**
 * checkMetadataConsistency on catalogs that were corrupted by hand. Manual:
 * reference/inconsistency-type.
 */
import t from 'tap'
import { MaxKey, MinKey, ObjectId, Timestamp, type Db, type Document, type UUID } from 'mongodb'
import { TestCluster } from '../support/clusters.js'

interface Inconsistency {
  readonly type: string
  readonly description: string
  readonly details: Document
}

async function check(db: Db, target: string | 1 = 1, options: Document = {}): Promise<Inconsistency[]> {
  return (await db.command({ checkMetadataConsistency: target, ...options }))['cursor'].firstBatch
}

const typesOf = (found: readonly Inconsistency[]): string[] => found.map(({ type }) => type).sort()

for (const version of ['7.0', '8.0'] as const) {
  t.test(version, async (t) => {
    const lab = await TestCluster.start(version, { shards: 2 })
    t.teardown(() => lab.stop())
    const [first, second] = lab.shardIds as [string, string]
    const admin = lab.client.db('admin')
    const collections = lab.config.collection<Document & { _id: string }>('collections')
    const chunks = lab.config.collection('chunks')
    const tags = lab.config.collection<Document & { _id: unknown }>('tags')
    const entryOf = async (db: Db): Promise<Document> => (await collections.findOne({ _id: `${db.databaseName}.c` }))!

    /** A collection with one half on each shard. */
    async function halves(): Promise<Db> {
      const db = await lab.database(first)
      await lab.admin({ shardCollection: `${db.databaseName}.c`, key: { x: 'hashed' }, numInitialChunks: 2 })
      await db.collection('c').insertMany(Array.from({ length: 20 }, (_, x) => ({ x })))
      return db
    }

    /** A collection with one chunk. */
    async function ranged(): Promise<Db> {
      const db = await lab.database(first)
      await lab.admin({ shardCollection: `${db.databaseName}.c`, key: { x: 1 } })
      await db.collection('c').insertOne({ x: 1 })
      return db
    }

    async function chunkOf(db: Db): Promise<Document> {
      return (await chunks.findOne({ uuid: (await entryOf(db))['uuid'] }))!
    }

    await t.test('a consistent catalog has no findings; D871 the check takes no lock', async (t) => {
      const db = await halves()
      await db.collection('plain').insertOne({})
      await db.createCollection('german', { collation: { locale: 'de' } })
      await lab.admin({ shardCollection: `${db.databaseName}.german`, key: { x: 1 }, collation: { locale: 'simple' } })
      t.same(await check(db, 1, { checkIndexes: true }), [])
      t.same(await check(db, 'c', { dbMetadataLockMaxTimeMS: 1 }), [])
      t.same(await check(db, 'missing'), [])
      t.same(await check(admin), [])
      t.same(await check(lab.config), [])
      await t.rejects(check(lab.client.db('nowhere')), { code: 26 })
      await t.rejects(check(admin, 'c'), { code: 73 })
      await db.dropDatabase()
    })

    await t.test('gaps, overlaps and missing ends are found', async (t) => {
      const db = await ranged()
      const { _id, uuid, shard, history } = await chunkOf(db)
      await chunks.updateOne({ _id }, { $set: { min: { x: 0 }, max: { x: 5 } } })
      const more = (min: unknown, max: unknown, minor: number) => ({
        _id: new ObjectId(),
        uuid,
        min: { x: min },
        max: { x: max },
        shard,
        lastmod: new Timestamp({ t: 1, i: minor }),
        history,
      })
      await chunks.insertMany([more(10, 20, 7), more(15, 30, 8)])
      const found = await check(db, 'c')
      const summary = found.map(({ type, description, details }) => [type, description, Object.keys(details)])
      const two = ['namespace', 'collectionUUID', 'chunkA', 'chunkB']
      t.same(summary, [
        ['RoutingTableRangeGap', 'Found a gap between two consecutive chunks', two],
        ['RoutingTableRangeOverlap', 'Found two overlapping consecutive chunks', two],
        [
          'RoutingTableMissingMinKey',
          'Routing table has a gap because first chunk does not start from MinKey',
          ['namespace', 'collectionUUID', 'minKeyObj', 'globalMin'],
        ],
        [
          'RoutingTableMissingMaxKey',
          'Routing table has a gap because last chunk boundary does not reach MaxKey',
          ['namespace', 'collectionUUID', 'maxKeyObj', 'globalMax'],
        ],
      ])
      t.match(found[0]!.details, {
        namespace: `${db.databaseName}.c`,
        chunkA: { max: { x: 5 } },
        chunkB: { min: { x: 10 } },
      })
      t.match(found[2]!.details, { minKeyObj: { x: 0 }, globalMin: { x: new MinKey() } })
      t.match(found[3]!.details, { maxKeyObj: { x: 30 }, globalMax: { x: new MaxKey() } })
      t.same(await check(db), found)
      t.same(await check(admin), found, 'the check of the cluster finds the same')
      await chunks.deleteMany({ uuid })
      t.match(await check(db, 'c'), [
        { type: 'MissingRoutingTable', details: { namespace: `${db.databaseName}.c`, collectionUUID: uuid } },
      ])
      await collections.deleteOne({ _id: `${db.databaseName}.c` })
      await db.dropDatabase()
    })

    await t.test('a chunk with another key is found', async (t) => {
      const db = await ranged()
      const chunk = await chunkOf(db)
      await chunks.updateOne({ _id: chunk['_id'] }, { $set: { max: { x: 5 } } })
      await chunks.insertOne({
        ...chunk,
        _id: new ObjectId(),
        min: { x: 5 },
        max: { y: new MaxKey() },
        lastmod: new Timestamp({ t: 1, i: 9 }),
      })
      const found = await check(db)
      t.same(typesOf(found), ['CorruptedChunkShardKey', 'RoutingTableMissingMaxKey'])
      t.match(found[0], {
        description: 'Found chunk with a shard key pattern violation',
        details: { chunk: { min: { x: 5 } }, shardKeyPattern: { x: 1 } },
      })
      await chunks.deleteMany({ uuid: chunk['uuid'] })
      await collections.deleteOne({ _id: `${db.databaseName}.c` })
      await db.dropDatabase()
    })

    await t.test('zones that overlap or have another key are found', async (t) => {
      const db = await ranged()
      const ns = `${db.databaseName}.c`
      const zone = (min: Document, max: Document) => ({ _id: { ns, min } as unknown, ns, min, max, tag: 'a' })
      await tags.insertMany([zone({ x: -100 }, { x: 100 }), zone({ x: 50 }, { x: 150 }), zone({ y: 200 }, { y: 300 })])
      const found = await check(db)
      t.same(found.slice(0, 1), [
        {
          type: 'ZonesRangeOverlap',
          description: 'Found two overlapping zones',
          details: {
            namespace: ns,
            collectionUUID: (await entryOf(db))['uuid'],
            zoneA: { ns, tag: 'a', min: { x: -100 }, max: { x: 100 } },
            zoneB: { ns, tag: 'a', min: { x: 50 }, max: { x: 150 } },
          },
        },
      ])
      t.match(found.slice(1), [
        { type: 'CorruptedZoneShardKey', description: 'Found zone with a shard key pattern violation' },
      ])
      await tags.deleteMany({ ns })
      await db.dropDatabase()
    })

    await t.test('a sharded collection without a database is found', async (t) => {
      const db = await ranged()
      const databases = lab.config.collection<Document & { _id: string }>('databases')
      const database = (await databases.findOne({ _id: db.databaseName }))!
      const entry = await entryOf(db)
      await databases.deleteOne({ _id: db.databaseName })
      t.same(await check(admin), [
        {
          type: 'HiddenShardedCollection',
          description: 'Found sharded collection but relative database does not exist',
          details: { namespace: `${db.databaseName}.c`, collection: entry },
        },
      ])
      await databases.insertOne(database as Document & { _id: string })
      await db.dropDatabase()
      t.same(await check(admin), [])
    })

    await t.test('collections on the wrong shard or with another UUID are found', async (t) => {
      const db = await ranged()
      const onSecond = (await lab.shard(second)).db(db.databaseName)
      await onSecond.collection('stray').insertOne({})
      const stray = (await onSecond.listCollections({ name: 'stray' }).toArray())[0] as { info?: { uuid?: UUID } }
      t.same(await check(db), [
        {
          type: 'MisplacedCollection',
          description: 'Unsharded collection found on shard different from database primary shard',
          details: { namespace: `${db.databaseName}.stray`, shard: second, localUUID: stray.info?.uuid },
        },
      ])
      t.same(await check(db, 'c'), [], 'another collection')
      await onSecond.dropDatabase()
      await onSecond.collection('c').insertOne({})
      const found = await check(db, 'c')
      t.match(found, [
        {
          type: 'CollectionUUIDMismatch',
          description: 'Found collection on non primary shard with mismatching UUID',
          details: { namespace: `${db.databaseName}.c`, shard: second, uuid: (await entryOf(db))['uuid'] },
        },
      ])
      await onSecond.dropDatabase()
      await db.dropDatabase()
    })

    await t.test('a shard without an index on the shard key is found', async (t) => {
      const db = await ranged()
      const onFirst = (await lab.shard(first)).db(db.databaseName)
      await onFirst.collection('c').dropIndex('x_1')
      t.same(await check(db), [
        {
          type: 'MissingShardKeyIndex',
          description: 'Found sharded collection without a shard key index',
          details: { namespace: `${db.databaseName}.c`, shard: first, shardKey: { x: 1 } },
        },
      ])
      await db.dropDatabase()
    })

    await t.test('indexes and options that differ between shards are found', async (t) => {
      const db = await halves()
      await db.collection('c').createIndex({ a: 1 }, { name: 'a' })
      const onSecond = (await lab.shard(second)).db(db.databaseName)
      await onSecond.collection('c').dropIndex('a')
      t.same(await check(db), [], 'indexes only where that is asked for')
      t.match(await check(db, 'c', { checkIndexes: true }), [
        {
          type: 'InconsistentIndex',
          details: { info: { missingFromShards: [second], inconsistentProperties: [], indexName: 'a' } },
        },
      ])
      await onSecond.command({ collMod: 'c', validator: { a: { $exists: true } } })
      const [options] = await check(db)
      t.match(options, { type: 'CollectionOptionsMismatch', description: /mismatching options across shards/ })
      t.match(options!.details['options'], [
        { shards: [first] },
        { shards: [second], options: { validator: { a: { $exists: true } } } },
      ])
      await db.dropDatabase()
    })

    await t.test('a missing local collection is found (8.0)', async (t) => {
      const db = await halves()
      await (await lab.shard(second)).db(db.databaseName).dropCollection('c')
      const found = await check(db)
      if (version === '7.0') t.same(found, [])
      else
        t.match(found, [
          {
            type: 'MissingLocalCollection',
            description: 'Collection registered on the sharding catalog not found on the given shards',
            details: { namespace: `${db.databaseName}.c`, uuid: (await entryOf(db))['uuid'], shard: second },
          },
        ])
      await db.dropDatabase()
    })

    await t.test('findings come in batches', async (t) => {
      const db = await lab.database(first)
      const onSecond = (await lab.shard(second)).db(db.databaseName)
      for (const name of ['a', 'b', 'c', 'd']) await onSecond.collection(name).insertOne({})
      const { cursor } = await db.command({ checkMetadataConsistency: 1, cursor: { batchSize: 3 } })
      t.equal(cursor.ns, `${db.databaseName}.$cmd.aggregate`)
      t.equal(cursor.firstBatch.length, 3)
      const more = await db.command({ getMore: cursor.id, collection: '$cmd.aggregate' })
      t.equal(more['cursor'].nextBatch.length, 1)
      await onSecond.dropDatabase()
    })
  })
}

t.test('6.0 does not have checkMetadataConsistency', async (t) => {
  const lab = await TestCluster.start('6.0', { shards: 1 })
  t.teardown(() => lab.stop())
  await t.rejects(check(lab.client.db('admin')), { code: 59 })
})

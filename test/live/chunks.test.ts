/**
 * Chunks through the driver: split, merge, clear the jumbo flag, and what config.chunks and the
 * routers show afterwards.
 */
import { Long, MaxKey, MinKey, MongoClient, Timestamp, type Db, type Document } from 'mongodb'
import { ShardedCluster, type EmulatedVersion, type SplitEvent } from 'shardlab'
import t from 'tap'

interface World {
  readonly cluster: ShardedCluster
  readonly client: MongoClient
  readonly admin: Db
  readonly config: Db
  /** The reply, or the error's. */
  readonly run: (command: Document) => Promise<Document>
  /** `min shard major|minor` of each chunk of a collection, in key order. */
  readonly chunks: (ns: string) => Promise<string[]>
}

async function withCluster(emulate: EmulatedVersion, work: (world: World) => Promise<void>): Promise<void> {
  await using cluster = await ShardedCluster.start({
    shards: 2,
    mongos: 2,
    port: 0,
    runtime: 'inline',
    emulate,
    balancerRoundIntervalMs: 100_000,
  })
  const client = new MongoClient(`mongodb://${cluster.mongos[0]!}/`)
  try {
    const admin = client.db('admin')
    const config = client.db('config')
    const run = (command: Document) =>
      admin
        .command(command)
        .catch((error: { errorResponse?: Document }) => error.errorResponse ?? Promise.reject(error as Error))
    await run({ enableSharding: 'db', primaryShard: 'shard01' })
    const chunks = async (ns: string) => {
      const collection = await config.collection<Document & { _id: string }>('collections').findOne({ _id: ns })
      const filter = collection?.['timestamp'] === undefined ? { ns } : { uuid: collection['uuid'] as unknown }
      const documents = await config.collection('chunks').find(filter).sort({ min: 1 }).toArray()
      return documents.map(({ min, shard, lastmod }) => {
        const text = Object.values(min as Document).map((value) =>
          (value as { _bsontype?: string } | null)?._bsontype === 'MinKey' ? 'min' : String(value),
        )
        return `${text.join()} ${String(shard)} ${(lastmod as Timestamp).t}|${(lastmod as Timestamp).i}`
      })
    }
    await work({ cluster, client, admin, config, run, chunks })
  } finally {
    await client.close()
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, _id) => ({ a: _id }))

t.test('chunks are split by middle, find and bounds, and merged', async (t) => {
  await withCluster('7.0', async ({ cluster, client, admin, config, run, chunks }) => {
    const splits: SplitEvent[] = []
    cluster.on('split', (event) => splits.push(event))
    await run({ shardCollection: 'db.c', key: { a: 1 } })
    const c = client.db('db').collection('c')
    await c.insertMany(upTo(10))
    t.match(await run({ split: 'db.c', middle: { a: 4 } }), { ok: 1 })
    t.same(await chunks('db.c'), ['min shard01 1|1', '4 shard01 1|2'])
    t.match(await run({ split: 'db.c', find: { a: 8 } }), { ok: 1 })
    t.match(await run({ split: 'db.c', bounds: [{ a: new MinKey() }, { a: 4 }] }), { ok: 1 })
    t.same(await chunks('db.c'), ['min shard01 1|5', '2 shard01 1|6', '4 shard01 1|3', '7 shard01 1|4'])
    t.match(splits, [{ ns: 'db.c', points: ['{"a":4}'] }, {}, {}])
    t.equal(await c.countDocuments({}), 10)
    t.match(await run({ getShardVersion: 'db.c' }), { version: new Timestamp({ t: 1, i: 6 }), ok: 1 })
    t.match(await run({ getShardVersion: 'db.c', fullMetadata: true }), {
      chunks: [[{ a: new MinKey() }, { a: 2 }], [{ a: 2 }, { a: 4 }], [{ a: 4 }, { a: 7 }], [{ a: 7 }]],
    })
    t.match(await run({ mergeChunks: 'db.c', bounds: [{ a: 2 }, { a: 7 }] }), { ok: 1 })
    t.same(await chunks('db.c'), ['min shard01 1|5', '2 shard01 1|7', '7 shard01 1|4'])
    t.match(await run({ mergeChunks: 'db.c', bounds: [{ a: 2 }, { a: 7 }] }), { ok: 1 }, 'again')
    const changes = await config
      .collection('changelog')
      .find({ ns: 'db.c', what: { $in: ['split', 'merge'] } })
      .toArray()
    t.same(
      changes.map(({ what }) => what as string),
      ['split', 'split', 'split', 'merge'],
    )
    t.match(await run({ mergeAllChunksOnShard: 'db.c', shard: 'shard01' }), { ok: 1 })
    t.equal((await chunks('db.c')).length, 3, 'they are too young')
    t.match(await run({ mergeAllChunksOnShard: 'db.c', shard: 'shard09' }), { code: 70 })
    t.match(await run({ mergeAllChunksOnShard: 'db.c' }), { code: 40414 })
    t.match(await run({ mergeAllChunksOnShard: 'db.none', shard: 'shard01' }), { code: 117 })
    for (const { id, uri } of cluster.shards) {
      const shard = new MongoClient(uri)
      const version = await shard.db('admin').command({ getShardVersion: 'db.c' })
      t.match(version, {
        configServer: /^config\//,
        global: id === 'shard01' ? new Timestamp({ t: 1, i: 7 }) : 'UNKNOWN',
      })
      await shard.close()
    }
    t.ok(admin)
  })
})

for (const emulate of ['2.6', '4.4', '7.0'] as const)
  t.test(`${emulate}: moveChunk and movePrimary find a shard by id, connection string and host`, async (t) => {
    await withCluster(emulate, async ({ run, chunks }) => {
      const { shards } = await run({ listShards: 1 })
      const connection = (shards as { _id: string; host: string }[]).find(({ _id }) => _id === 'shard02')!.host
      const host = connection.split('/')[1]!
      for (const [i, to] of ['shard02', connection, host].entries()) {
        const ns = `db.c${i}`
        await run({ shardCollection: ns, key: { a: 1 } })
        t.match(await run({ moveChunk: ns, find: { a: 1 }, to }), { ok: 1 }, to)
        t.match(await chunks(ns), [/^min shard02 /])
      }
      for (const to of ['shard09', `shard09/${host}`, '127.0.0.1'])
        t.match(await run({ moveChunk: 'db.c0', find: { a: 1 }, to }), {
          ok: 0,
          code: 70,
          errmsg:
            emulate === '2.6'
              ? `Could not move chunk in 'db.c0' to shard '${to}' because that shard does not exist`
              : 'moveChunk destination shard does not exist',
        })
      t.match(await run({ movePrimary: 'db', to: host }), { ok: 1 })
    })
  })

t.test('a refused split changes nothing', async (t) => {
  for (const emulate of ['4.0', '8.0'] as const) {
    await withCluster(emulate, async ({ client, run, chunks }) => {
      await run({ shardCollection: 'db.c', key: { a: 1 } })
      await run({ shardCollection: 'db.empty', key: { a: 1 } })
      await client.db('db').collection('c').insertMany(upTo(4))
      await client.db('db').collection('plain').insertOne({})
      await run({ split: 'db.c', middle: { a: 2 } })
      const before = [await chunks('db.c'), await chunks('db.empty')]
      const refused: [command: Document, errmsg: string | RegExp][] = [
        [{ split: 'db.c' }, 'need to specify find/bounds or middle'],
        [{ split: 'db.c', find: {} }, 'need to specify find/bounds or middle'],
        [{ split: 'db.c', find: { a: 1 }, middle: { a: 1 } }, 'cannot specify find and middle together'],
        [
          { split: 'db.c', find: { a: 1 }, bounds: [{ a: 1 }, { a: 2 }] },
          'cannot specify bounds and find at the same time',
        ],
        [
          { split: 'db.c', middle: { a: 1 }, bounds: [{ a: 1 }, { a: 2 }] },
          'cannot specify bounds and middle together',
        ],
        [{ split: 'db.c', bounds: [{ a: 1 }] }, 'upper bound not specified'],
        [{ split: 'db.c', find: 5 }, "wrong type for 'find' field, expected object, found find: 5"],
        [{ split: 'db.c', find: { b: 1 } }, 'no shard key found in chunk query { b: 1 }'],
        [{ split: 'db.c', find: { a: { $gt: 1 } } }, /^no shard key found in chunk query/],
        [{ split: 'db.c', middle: { b: 1 } }, 'new split key { b: 1 } is not valid for shard key pattern { a: 1 }'],
        [{ split: 'db.c', middle: { a: 1, b: 1 } }, /is not valid for shard key pattern/],
        [{ split: 'db.c', middle: { a: [1] } }, /is not valid for shard key pattern/],
        [
          { split: 'db.c', middle: { a: 2 } },
          'new split key { a: 2 } is a boundary key of existing chunk [{ a: 2 },{ a: MaxKey })',
        ],
        [
          { split: 'db.c', bounds: [{ a: 0 }, { a: 2 }] },
          'no chunk found with the shard key bounds [{ a: 0 }, { a: 2 })',
        ],
        [
          { split: 'db.c', bounds: [{ b: 0 }, { a: 2 }] },
          'shard key bounds [{ b: 0 },{ a: 2 }) are not valid for shard key pattern { a: 1 }',
        ],
      ]
      for (const [command, errmsg] of refused) {
        const reply = await run(command)
        t.match(reply, { ok: 0, errmsg }, JSON.stringify(command))
        t.notOk('code' in reply, 'without a code')
      }
      const coded: [command: Document, code: number][] = [
        [{ split: 'db.plain', middle: { a: 1 } }, 118],
        [{ split: 'nodb.c', middle: { a: 1 } }, 26],
        [{ split: 'config.chunks', middle: { a: 1 } }, 118],
        [{ split: 'c', middle: { a: 1 } }, 73],
        [{ split: 5, middle: { a: 1 } }, 2],
        [{ split: 'db.c', middle: { a: new MaxKey() } }, 61],
        [{ split: 'db.c', middle: { a: /x/ } }, 2],
        [{ split: 'db.c', bounds: [1, 2] }, 13111],
        [{ split: 'db.empty', find: { a: 1 } }, emulate === '4.0' ? 87 : 72],
        [{ mergeChunks: 'db.plain', bounds: [{ a: 1 }, { a: 2 }] }, 118],
        [{ mergeChunks: 'db.c', bounds: [{ a: new MinKey() }, { a: 1 }] }, emulate === '4.0' ? 20 : 13388],
      ]
      for (const [command, code] of coded) t.match(await run(command), { ok: 0, code }, JSON.stringify(command))
      const merges: [bounds: unknown, errmsg: string][] = [
        [undefined, 'no bounds were specified'],
        [[{ a: 1 }], 'only a min and max bound may be specified'],
        [[{}, { a: 1 }], 'no min key specified'],
        [[{ a: 1 }, {}], 'no max key specified'],
        [7, "wrong type for 'bounds' field, expected vector array, found bounds: 7"],
        [[{ b: 1 }, { a: 1 }], 'shard key bounds [{ b: 1 },{ a: 1 }) are not valid for shard key pattern { a: 1 }'],
      ]
      for (const [bounds, errmsg] of merges) {
        const reply = await run({ mergeChunks: 'db.c', ...(bounds === undefined ? {} : { bounds }) })
        t.match(reply, { ok: 0, errmsg })
        t.notOk('code' in reply)
      }
      t.same([await chunks('db.c'), await chunks('db.empty')], before)
      t.match(await run({ split: 'db.c', find: { a: 3 } }), { ok: 1 })
      t.match(await run({ split: 'db.c', find: { a: 3 } }), { ok: 0, code: 87 }, 'one key cannot be divided')
      await run({ split: 'db.c', middle: { a: 100 } })
      t.match(
        await run({ split: 'db.c', find: { a: 200 } }),
        { ok: 0, code: 96 },
        'an empty chunk of a collection with documents',
      )
    })
  }
})

t.test('with a hashed key, find takes the value, middle and bounds the hash', async (t) => {
  await withCluster('7.0', async ({ client, run, chunks }) => {
    await run({ shardCollection: 'db.h', key: { a: 'hashed' }, numInitialChunks: 2 })
    await client.db('db').collection('h').insertMany(upTo(20))
    t.match(await run({ split: 'db.h', middle: { a: 5 } }), {
      ok: 0,
      code: 87,
      errmsg: /split point a: 5Value of type 'int' is not allowed for hashed fields/,
    })
    t.match(await run({ split: 'db.h', middle: { a: Long.fromNumber(5) } }), { ok: 1 })
    t.match(await run({ split: 'db.h', find: { a: 'some value' } }), { ok: 1 })
    t.equal((await chunks('db.h')).length, 4)
    t.match(await run({ split: 'db.h', bounds: [{ a: new MinKey() }, { a: Long.fromNumber(1) }] }), {
      ok: 0,
      errmsg: /^no chunk found/,
    })
  })
})

t.test('a second router refreshes after splits and merges when it needs to', async (t) => {
  await withCluster('7.0', async ({ cluster, run, client }) => {
    await run({ shardCollection: 'db.c', key: { a: 1 } })
    const other = new MongoClient(`mongodb://${cluster.mongos[1]!}/`)
    const c = other.db('db').collection('c')
    await c.insertMany(upTo(6))
    await run({ split: 'db.c', middle: { a: 3 } })
    t.equal(await c.countDocuments({ a: { $gte: 0 } }), 6)
    await c.insertOne({ a: 10 })
    await run({ mergeChunks: 'db.c', bounds: [{ a: new MinKey() }, { a: new MaxKey() }] })
    t.equal(await client.db('db').collection('c').countDocuments({}), 7)
    t.equal((await c.find().sort({ a: 1 }).toArray()).length, 7)
    await other.close()
  })
})

t.test('clearJumboFlag clears the jumbo flag', async (t) => {
  await withCluster('7.0', async ({ config, run, chunks }) => {
    await run({ shardCollection: 'db.c', key: { a: 1 } })
    await run({ split: 'db.c', middle: { a: 0 } })
    await config.collection('chunks').updateMany({}, { $set: { jumbo: true } })
    t.match(await run({ clearJumboFlag: 'db.c', find: { a: 5 } }), { ok: 1 })
    t.same(await chunks('db.c'), ['min shard01 1|1', '0 shard01 2|0'])
    t.match(await run({ clearJumboFlag: 'db.c', bounds: [{ a: new MinKey() }, { a: 0 }] }), { ok: 1 })
    t.same(await chunks('db.c'), ['min shard01 3|0', '0 shard01 2|0'])
    t.equal(await config.collection('chunks').countDocuments({ jumbo: true }), 0)
    const refused: [command: Document, code: number][] = [
      [{ clearJumboFlag: 'db.c' }, 72],
      [{ clearJumboFlag: 'db.c', bounds: [{ a: 0 }] }, 72],
      [{ clearJumboFlag: 'db.c', find: { a: 1 }, bounds: [{ a: 0 }, { a: 1 }] }, 72],
      [{ clearJumboFlag: 'db.c', find: { b: 1 } }, 51260],
      [{ clearJumboFlag: 'db.c', bounds: [{ a: 0 }, { a: 1 }] }, 51261],
      [{ clearJumboFlag: 'db.none', find: { a: 1 } }, 118],
    ]
    for (const [command, code] of refused) t.match(await run(command), { ok: 0, code }, JSON.stringify(command))
  })
})

t.test('each version has its own chunk commands', async (t) => {
  for (const [emulate, clearJumboFlag, mergeAll] of [
    ['2.6', false, false],
    ['4.0', true, false],
    ['6.0', true, false],
    ['7.0', true, true],
  ] as const) {
    await withCluster(emulate, async ({ run }) => {
      t.equal((await run({ clearJumboFlag: 'db.c', find: { a: 1 } }))['code'] === 59, !clearJumboFlag, emulate)
      t.equal((await run({ mergeAllChunksOnShard: 'db.c', shard: 'shard01' }))['code'] === 59, !mergeAll, emulate)
    })
  }
})

t.test('a router lets clients read and write the catalog as the server does', async (t) => {
  for (const emulate of ['4.4', '5.0', '8.0'] as const) {
    await withCluster(emulate, async ({ client, admin, config, run }) => {
      const code = (work: Promise<unknown>) =>
        work.then(
          () => 0,
          (error: { code?: number }) => error.code,
        )
      await run({ shardCollection: 'db.c', key: { a: 1 } })
      const settings = config.collection<{ _id: string }>('settings')
      await settings.updateOne({ _id: 'chunksize' }, { $set: { value: 8 } }, { upsert: true })
      t.match(await settings.findOne({ _id: 'chunksize' }), { value: 8 })
      t.equal(
        (
          await config
            .collection<{ _id: string }>('collections')
            .updateOne({ _id: 'db.c' }, { $set: { noBalance: true } })
        ).modifiedCount,
        1,
      )
      const refused = emulate === '4.4' ? 0 : 20
      t.equal(await code(config.command({ createIndexes: 'mine', indexes: [{ key: { a: 1 }, name: 'a_1' }] })), 0)
      t.equal(await code(config.command({ dropIndexes: 'mine', index: 'a_1' })), refused, `${emulate} indexes`)
      t.equal(await code(config.command({ drop: 'mine' })), refused, `${emulate} collections`)
      t.equal(await code(admin.command({ drop: 'mine' })), emulate === '4.4' ? 26 : 20)
      t.equal(await code(config.command({ dropDatabase: 1 })), 20)
      t.equal(await client.db('db').collection('c').countDocuments({}), 0)
    })
  }
})

t.test('splitVector through a router works only for unsharded collections', async (t) => {
  await withCluster('7.0', async ({ client, run }) => {
    const db = client.db('db')
    await db.collection('plain').insertMany(upTo(5))
    await db.collection('plain').createIndex({ a: 1 })
    await run({ shardCollection: 'db.c', key: { a: 1 } })
    const vector = (ns: string) => db.command({ splitVector: ns, keyPattern: { a: 1 }, force: true })
    t.match(await vector('db.plain'), { splitKeys: [{ a: 2 }], ok: 1 })
    await t.rejects(vector('db.c'), { code: 20, message: "can't do command: splitVector on sharded collection" })
    await t.rejects(vector('other.c'), { code: 20 })
    await t.rejects(vector('db.none'), { code: 26 })
  })
})

import { packChunks } from '@shardlab/actor'
import { decode, encode, MaxKey, MinKey, Timestamp, type Document } from '@shardlab/bson'
import { applyPlacementAnswer } from '@shardlab/sharding'
import t from 'tap'
import { ConfigUnderTest, documentsIn, uuid } from './support/config.js'

t.test('commit-create-collection gives versions from 1|0 and one generation', async (t) => {
  const config = await new ConfigUnderTest().initialised()
  await config.createDatabase('db')
  t.equal(await config.createCollection('db.c', [0, 10]), null)
  t.equal(await config.createCollection('db.c', [0, 10]), null, 'a repeated commit has no effect')
  t.match(await config.createCollection('db.c', [], undefined, Buffer.alloc(16, 8)), { code: 23 })
  const reply = await config.send('config.get-collection', { ns: 'db.c', since: null })
  const { collection, full } = reply
  const chunks = documentsIn(reply)
  t.equal(full, true)
  const [entry] = await config.all('collections')
  t.same(decode(collection!), entry)
  t.match(
    chunks.map((chunk) => decode(chunk)),
    [
      { max: { a: 0 }, shard: 'shard01', lastmod: new Timestamp({ t: 1, i: 0 }) },
      { min: { a: 0 }, max: { a: 10 }, shard: 'shard02', lastmod: new Timestamp({ t: 1, i: 1 }) },
      { min: { a: 10 }, shard: 'shard01', lastmod: new Timestamp({ t: 1, i: 2 }) },
    ],
  )
  const placement = applyPlacementAnswer('db.c', null, { collection, chunks, full })!
  t.same(placement.table.version.slice(3), [1, 2])
  t.same(await config.send('config.get-collection', { ns: 'db.nothing', since: null }), {
    collection: null,
    chunks: [],
    full: true,
  })
})

t.test('commit-create-collection stores a document for each chunk of a run on one shard', async (t) => {
  for (const version of ['4.0', '4.4', '7.0'] as const) {
    const config = await new ConfigUnderTest(version).initialised()
    await config.createDatabase('db')
    // Some bounds are as long as the one before, some are not.
    const bounds = [MinKey, 1, 2, 3, 'a', 'b', 'longer', 4n, 5n, 6n, MaxKey].map((a) => ({
      a: typeof a === 'function' ? new a() : a,
    }))
    const shards = [
      'shard01',
      'shard01',
      'shard01',
      'shard01',
      'shard02',
      'shard02',
      'shard02',
      'shard01',
      'shard01',
      'shard01',
    ]
    const { error } = await config.send('config.commit-create-collection', {
      ns: 'db.c',
      uuid,
      key: encode({ a: 1 }),
      unique: false,
      defaultCollation: null,
      chunks: packChunks(shards.map((shard, i) => [encode(bounds[i]!), encode(bounds[i + 1]!), shard])),
      wasTracked: false,
      ...(await config.databaseOf('db')),
    })
    t.equal(error, null, version)
    const chunks = await config.all('chunks')
    const inOrder = chunks.toSorted((a, b) => (a['lastmod'] as Timestamp).i - (b['lastmod'] as Timestamp).i)
    t.same(
      inOrder.map(({ min, max, shard, lastmod }) => ({ min, max, shard, lastmod })),
      shards.map((shard, i) => {
        const [min, max] = [bounds[i]!, bounds[i + 1]!].map((bound) => decode(encode(bound)))
        return { min, max, shard, lastmod: new Timestamp({ t: 1, i }) }
      }),
      version,
    )
    t.equal(new Set(chunks.map(({ _id }) => String(_id))).size, shards.length, version)
    if (version !== '4.0') t.ok(inOrder.every(({ shard, history }) => (history as Document[])[0]!['shard'] === shard))
  }
})

t.test('commit-create-collection puts no chunk on a shard removed in the meantime', async (t) => {
  const config = await new ConfigUnderTest().initialised()
  await config.createDatabase('db')
  while ((await config.send('config.remove-shard', { shard: 'shard02' })).state !== 'completed') continue
  t.match(await config.createCollection('db.c', [0, 10]), { code: 70, errmsg: 'Shard shard02 not found' })
  t.same(await config.all('chunks'), [])
  t.equal(await config.createCollection('db.c'), null)
})

/** `{ shardlab: 'chunkSizes' }` shows how documents are spread over the chunks of a collection. */
import { BSON, MongoClient, type Document } from 'mongodb'
import t from 'tap'
import { ShardedCluster } from 'shardlab'

interface Sizes {
  readonly shard: string
  readonly keys: readonly string[]
  readonly ends: readonly string[]
  readonly documents: readonly number[]
  readonly bytes: readonly number[]
  readonly error: string | null
}

t.test('documents and bytes of each chunk, without orphans', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline', balancerRoundIntervalMs: 2 ** 31 - 1 })
  t.teardown(() => cluster.stop())
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(() => client.close())
  const admin = (command: Document) => client.db('admin').command(command)
  const sizes = async (fields: Document): Promise<Sizes[]> =>
    (await admin({ shardlab: 'chunkSizes', ...fields }))['shards']

  await admin({ enableSharding: 'shop', primaryShard: 'shard01' })
  await admin({ shardCollection: 'shop.rows', key: { k: 1 } })
  // More than an index adds at once.
  const documents = Array.from({ length: 20_000 }, (_, k) => ({ _id: k, k, pad: 'x'.repeat(k % 50) }))
  await client.db('shop').collection<{ _id: number }>('rows').insertMany(documents)
  for (const k of [100, 5000, 30_000]) await admin({ split: 'shop.rows', middle: { k } })
  await cluster.faults.apply('stall range deleter of shard01')
  await admin({ moveChunk: 'shop.rows', find: { k: 7000 }, to: 'shard02' })

  const sumOf = (from: number, to: number) =>
    documents.slice(from, to).reduce((sum, document) => sum + BSON.calculateObjectSize(document), 0)
  const [first, second] = await sizes({ ns: 'shop.rows' })
  t.match(first, { shard: 'shard01', documents: [100, 4900], error: null }, 'the chunk that was moved away is not here')
  t.same(first!.bytes, [sumOf(0, 100), sumOf(100, 5000)])
  t.match(second, { shard: 'shard02', documents: [15_000], error: null }, 'the empty chunk is left out')
  t.same(second!.bytes, [sumOf(5000, 20_000)])
  t.ok(
    [...first!.keys, ...second!.keys].every((key, i, keys) => i === 0 || keys[i - 1]! < key),
    'in the order of keys',
  )

  await admin({ shardCollection: 'shop.hashed', key: { k: 'hashed' }, numInitialChunks: 4 })
  await client
    .db('shop')
    .collection('hashed')
    .insertMany(documents.map(({ k }) => ({ k })))
  const hashed = await sizes({ ns: 'shop.hashed' })
  const counted = hashed.flatMap((shard) => shard.documents)
  t.equal(
    counted.reduce((sum, count) => sum + count, 0),
    20_000,
  )
  t.ok(counted.every((count) => count > 4000))

  t.equal(first!.ends[1], second!.keys[0])
  const none = { keys: [], ends: [], documents: [], bytes: [], error: null }
  await client.db('shop').collection('plain').insertOne({ k: 1 })
  for (const ns of ['shop.plain', 'shop.none'])
    t.same(await sizes({ ns }), [
      { shard: 'shard01', ...none },
      { shard: 'shard02', ...none },
    ])
  for (const fields of [{}, { ns: 'shop' }, { ns: 5 }])
    await t.rejects(sizes(fields), { code: 2, message: /chunkSizes needs ns, such as shop.orders/ })
  await t.rejects(sizes({ ns: 'shop.rows', limit: 1 }), { code: 2, message: /unknown field limit/ })
  await cluster.crash('shard02')
  t.match(await sizes({ ns: 'shop.rows' }), [{ error: null }, { shard: 'shard02', error: /down or has no primary/ }])
})

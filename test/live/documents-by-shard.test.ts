/** `{ shardlab: 'documents' }` shows where documents are stored, and which of them are orphans. */
import { MongoClient, type Document } from 'mongodb'
import t from 'tap'
import { ShardedCluster } from 'shardlab'

interface Stored {
  readonly shard: string
  readonly documents: readonly { readonly document: string; readonly isOrphan: boolean }[]
  readonly hasMore: boolean
  readonly error: string | null
}

t.test('documents of each shard, with orphans', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline', balancerRoundIntervalMs: 2 ** 31 - 1 })
  t.teardown(() => cluster.stop())
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(() => client.close())
  const admin = (command: Document) => client.db('admin').command(command)
  const stored = async (fields: Document): Promise<Stored[]> =>
    (await admin({ shardlab: 'documents', ...fields }))['shards']
  /** `[_id, isOrphan]` by shard. */
  const ids = (shards: readonly Stored[]) =>
    shards.map(({ documents }) =>
      documents.map(({ document, isOrphan }) => [(JSON.parse(document) as { _id: number })._id, isOrphan]),
    )
  await admin({ enableSharding: 'shop', primaryShard: 'shard01' })
  for (const [name, key] of [
    ['rows', { k: 1 }],
    ['hashed', { k: 'hashed' }],
  ] as const) {
    const ns = `shop.${name}`
    await admin({ shardCollection: ns, key, ...(name === 'hashed' ? { numInitialChunks: 2 } : {}) })
    await client
      .db('shop')
      .collection<{ _id: number; k: number }>(name)
      .insertMany(Array.from({ length: 6 }, (_, k) => ({ _id: k, k })))
  }
  await client.db('shop').collection<{ _id: number }>('plain').insertOne({ _id: 1 })
  await admin({ split: 'shop.rows', middle: { k: 3 } })
  await cluster.faults.apply('stall range deleter of shard01')
  await admin({ moveChunk: 'shop.rows', find: { k: 3 }, to: 'shard02' })

  const [own, moved] = [[0, 1, 2].map((k) => [k, false]), [3, 4, 5].map((k) => [k, false])]
  t.same(ids(await stored({ ns: 'shop.rows' })), [[...own!, ...moved!.map(([k]) => [k, true])], moved])
  t.same(ids(await stored({ ns: 'shop.rows', filter: '{"k": {"$gte": 2, "$lt": 4}}' })), [
    [
      [2, false],
      [3, true],
    ],
    [[3, false]],
  ])
  const [first] = await stored({ ns: 'shop.rows', limit: 2 })
  t.match(first, { hasMore: true, documents: { length: 2 } })
  const hashed = ids(await stored({ ns: 'shop.hashed' }))
  t.same(
    hashed.flat().toSorted(),
    [0, 1, 2, 3, 4, 5].map((k) => [k, false]),
    'hashed keys have owners, too',
  )
  t.same(ids(await stored({ ns: 'shop.plain' })), [[[1, false]], []], 'an unsharded collection has no orphans')
  t.same(ids(await stored({ ns: 'shop.none' })), [[], []])

  for (const [fields, message] of [
    [{}, /documents needs ns, such as shop.orders/],
    [{ ns: 'shop' }, /documents needs ns/],
    [{ ns: 'shop.rows', limit: 0 }, /limit is 0; it must be a whole number from 1 to 1000/],
    [{ ns: 'shop.rows', filter: '{' }, /filter must be a document as Extended JSON/],
    [{ ns: 'shop.rows', filter: 5 }, /filter must be a document/],
    [{ ns: 'shop.rows', sort: 1 }, /unknown field sort/],
  ] as const)
    await t.rejects(stored(fields), { code: 2, message })
  const wrong = await stored({ ns: 'shop.rows', filter: '{"$nope": 1}' })
  t.match(wrong, [{ documents: [], error: /unknown top level operator/ }, {}], 'each shard has its own error')
  await cluster.crash('shard02')
  t.match(await stored({ ns: 'shop.rows' }), [{ error: null }, { shard: 'shard02', error: /down or has no primary/ }])
  await cluster.crash('config')
  await t.rejects(stored({ ns: 'shop.rows' }), { code: 2, message: /the config server is down/ })
})

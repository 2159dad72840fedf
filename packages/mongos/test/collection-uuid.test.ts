import { UUID } from '@shardlab/bson'
import t from 'tap'
import { realCluster, type ShardedCollection } from './support/real-cluster.js'

const sharded: ShardedCollection = { ns: 'test.c', field: 'x', splits: [0, 100] }

t.test('a mismatch names the collection with the UUID, as the shards report it', async (t) => {
  const cluster = await realCluster([sharded])
  await cluster.run({ insert: 'u', documents: [{ _id: 1 }] })
  const { cursor } = await cluster.run({ listCollections: 1, filter: { name: 'u' } })
  const collectionUUID = cursor.firstBatch[0].info.uuid as UUID
  t.match(await cluster.run({ find: 'u', collectionUUID }), { cursor: { firstBatch: [{ _id: 1 }] } })
  t.match(await cluster.run({ aggregate: 'u', pipeline: [], cursor: {}, collectionUUID }), {
    cursor: { firstBatch: [{ _id: 1 }] },
  })
  const mismatch = { code: 361, db: 'test', collectionUUID, expectedCollection: 'c' }
  t.match(await cluster.run({ find: 'c', filter: { x: -1 }, collectionUUID }), {
    ok: 0,
    ...mismatch,
    actualCollection: 'u',
  })
  t.match(await cluster.run({ find: 'c', collectionUUID }), { ok: 0, ...mismatch })
  t.match(await cluster.run({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }], collectionUUID }), {
    ok: 0,
    code: 361,
  })
  t.match(await cluster.run({ insert: 'c', documents: [{ x: -1 }], collectionUUID }), {
    ok: 1,
    n: 0,
    writeErrors: [{ index: 0, ...mismatch, actualCollection: 'u' }],
  })
  t.match(await cluster.run({ insert: 'u', documents: [{ _id: 2 }], collectionUUID }), { ok: 1, n: 1 })
  for (const command of [{ find: 'c' }, { drop: 'c' }])
    t.match(await cluster.run({ ...command, collectionUUID, $db: 'missing' }), {
      code: 361,
      db: 'missing',
      actualCollection: null,
    })
})

t.test('D404 a shard reports only collections that it holds', async (t) => {
  const cluster = await realCluster([sharded])
  await cluster.run({ insert: 'u', documents: [{ _id: 1 }] })
  const { cursor } = await cluster.run({ listCollections: 1, filter: { name: 'u' } })
  const collectionUUID = cursor.firstBatch[0].info.uuid as UUID
  t.match(await cluster.run({ find: 'c', filter: { x: 150 }, collectionUUID }), { code: 361, actualCollection: null })
})

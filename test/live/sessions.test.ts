/**
 * Sessions and retryable writes: drivers retry over a shard's crash, and repeated commands run
 * once.
 */
import { MongoClient } from 'mongodb'
import t from 'tap'
import { randomBytes } from 'node:crypto'
import { Binary, encode, Long } from '@shardlab/bson'
import { ShardedCluster, type EmulatedVersion } from 'shardlab'
import { RawClient } from '../support/raw-client.js'

t.test('a retryable write runs once', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 3 })
  const raw = await RawClient.connect(cluster.mongos[0]!)
  t.teardown(async () => {
    raw.close()
    await cluster.stop()
  })
  await raw.command({ shardCollection: 'app.c', key: { _id: 'hashed' }, $db: 'admin' })
  const lsid = { id: new Binary(randomBytes(16), 4) }
  const insert = { insert: 'c', lsid, txnNumber: Long.fromNumber(1), $db: 'app' }
  const documents = Array.from({ length: 30 }, (_, i) => encode({ _id: i, n: 0 }))
  t.match(await raw.command(insert, [['documents', documents]]), { ok: 1, n: 30 })
  t.match(
    await raw.command(insert, [['documents', documents]]),
    { ok: 1, n: 30 },
    'the same again is answered, not run',
  )

  const increment = {
    update: 'c',
    updates: [
      { q: { _id: 3 }, u: { $inc: { n: 1 } } },
      { q: { _id: 4 }, u: { $inc: { n: 1 } } },
    ],
    lsid,
    txnNumber: Long.fromNumber(2),
    $db: 'app',
  }
  t.match(await raw.command(increment), { ok: 1, n: 2, nModified: 2 })
  t.match(await raw.command(increment), { ok: 1, n: 2, nModified: 2 })
  t.match(await raw.command({ find: 'c', filter: { _id: 3 }, $db: 'app' }), {
    cursor: { firstBatch: [{ _id: 3, n: 1 }] },
  })

  for (const { id } of cluster.shards) {
    await cluster.crash(id)
    await cluster.restart(id)
  }
  t.match(await raw.command(increment), { ok: 1, n: 2, nModified: 2 }, 'also after every shard has restarted')
  t.match(await raw.command({ find: 'c', filter: { _id: 3 }, $db: 'app' }), {
    cursor: { firstBatch: [{ _id: 3, n: 1 }] },
  })
  t.match(
    await raw.command(insert, [['documents', documents.slice(3, 4)]]),
    { ok: 1, n: 0, writeErrors: [{ code: 225 }] },
    'an older number is refused where a newer one was',
  )
})

const refusal = { ok: 0, code: 263, errmsg: "Cannot run 'insert' in a multi-document transaction." }

t.test('routers serve transactions since 4.2', async (t) => {
  const answers = { '2.6': refusal, '4.0': refusal, '4.4': { n: 1, ok: 1 }, '8.0': { n: 1, ok: 1 } }
  const statement = () => ({
    insert: 'c',
    documents: [{ _id: 1 }],
    lsid: { id: new Binary(randomBytes(16), 4) },
    txnNumber: Long.fromNumber(1),
    startTransaction: true,
    autocommit: false,
    $db: 'app',
  })
  for (const [emulate, expected] of Object.entries(answers)) {
    const cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', emulate: emulate as EmulatedVersion })
    const raw = await RawClient.connect(cluster.mongos[0]!)
    t.match(await raw.command(statement()), expected, emulate)
    raw.close()
    await cluster.stop()
  }
})

t.test('a transaction of the driver is visible once it has committed', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline' })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  const collection = client.db('app').collection('c')
  await client.withSession((session) =>
    session.withTransaction(async () => {
      await collection.insertOne({ x: 1 }, { session })
      t.equal(await collection.findOne({ x: 1 }), null)
      t.not(await collection.findOne({ x: 1 }, { session }), null)
    }),
  )
  t.not(await collection.findOne({ x: 1 }), null)
})

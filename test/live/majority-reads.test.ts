/** Manual: reference/read-concern-majority. */
import { MongoClient } from 'mongodb'
import t from 'tap'
import { ShardedCluster } from 'shardlab'

t.test('a majority read sees a transaction from its commit timestamp on, as the other shard does', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 2, members: 3, runtime: 'inline' })
  t.teardown(() => cluster.stop())
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(() => client.close())
  const [admin, app] = [client.db('admin'), client.db('app')]
  const rows = app.collection<{ _id: number; v: number }>('rows')
  await admin.command({ enableSharding: 'app', primaryShard: 'shard01' })
  await admin.command({ shardCollection: 'app.rows', key: { _id: 1 } })
  await admin.command({ split: 'app.rows', middle: { _id: 0 } })
  await admin.command({ moveChunk: 'app.rows', find: { _id: 0 }, to: 'shard02' })
  await rows.insertMany([-1, 1].map((_id) => ({ _id, v: 0 })))

  const hold = await cluster.faults.apply('hold at shard.transaction.decided on shard01')
  const session = client.startSession()
  session.startTransaction()
  for (const _id of [-1, 1]) await rows.updateOne({ _id }, { $set: { v: 1 } }, { session })
  const committed = session.commitTransaction()
  await cluster.faults.reached(hold.id)
  // A majority of shard02 has an entry that is newer than the commit timestamp.
  const write = { insert: 'rows', documents: [{ _id: 2, v: 0 }], writeConcern: { w: 'majority' } }
  const { operationTime } = await app.command(write)
  await cluster.faults.apply('pause the secondaries of shard02')
  await cluster.faults.heal(hold.id)
  while ((await rows.findOne({ _id: 1 }))!.v === 0);

  const readConcern = { level: 'majority', afterClusterTime: operationTime }
  const read = await app.command({ find: 'rows', filter: { _id: { $in: [-1, 1] } }, readConcern, maxTimeMS: 5000 })
  t.same(
    read['cursor'].firstBatch.toSorted((a: { _id: number }, b: { _id: number }) => a._id - b._id),
    [
      { _id: -1, v: 1 },
      { _id: 1, v: 1 },
    ],
  )
  await cluster.faults.heal()
  await committed
  await session.endSession()
})

// Own process: the test replaces a method of a class that all clusters use.
/** What travels with a migration. */
import { PacketWriter, type Packet } from '@shardlab/actor'
import { ShardedCluster } from '@shardlab/cluster'
import { MongoClient } from 'mongodb'
import t from 'tap'

t.test('retryable inserts elsewhere do not enlarge the migration of an empty chunk', async (t) => {
  let bytes = 0
  const take = Reflect.get(PacketWriter.prototype, 'takeInPlace') as (this: PacketWriter) => Packet
  PacketWriter.prototype.takeInPlace = function (this: PacketWriter) {
    const packet = take.call(this)
    bytes += packet.end - packet.start
    return packet
  }
  t.teardown(() => {
    PacketWriter.prototype.takeInPlace = take
  })
  await using cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline', clock: 'manual', seed: 1 })
  await using client = await MongoClient.connect(cluster.uri)
  const admin = client.db('admin')
  await admin.command({ shardCollection: 'shop.orders', key: { customer: 1 } })
  for (const customer of [100, 200, 300]) await admin.command({ split: 'shop.orders', middle: { customer } })
  const { primary } = (await client
    .db('config')
    .collection('databases')
    .findOne({ _id: 'shop' as never }))!
  const to = primary === 'shard01' ? 'shard02' : 'shard01'
  const moved = async (customer: number): Promise<number> => {
    const before = bytes
    await admin.command({ moveChunk: 'shop.orders', find: { customer }, to })
    return bytes - before
  }
  // The first chunk of a collection takes its options and indexes along.
  await moved(50)
  const usualBytes = await moved(150)

  const insert = async (db: string, count: number): Promise<void> => {
    await admin.command({ shardCollection: `${db}.rows`, key: { _id: 'hashed' } })
    await client
      .db(db)
      .collection<{ _id: number }>('rows')
      .insertMany(Array.from({ length: count }, (_, _id) => ({ _id })))
  }
  await insert('kept', 20_000)
  await insert('dropped', 20_000)
  await client.db('dropped').dropDatabase()
  const laterBytes = await moved(250)
  t.ok(usualBytes < 50_000, `${usualBytes} bytes travelled before the inserts`)
  t.ok(laterBytes < usualBytes + 2000, `${laterBytes} bytes travelled after them`)
})

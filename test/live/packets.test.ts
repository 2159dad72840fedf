// Own process: the test replaces a method of a class that all clusters use.
/** Every packet of a real run is msgpack that any reader can read. */
import { catalogue, hotKinds, kindShapeAt, packetTypes, PacketWriter, readPacket, type Packet } from '@shardlab/actor'
import { ShardedCluster } from '@shardlab/cluster'
import { MongoClient } from 'mongodb'
import { Unpackr } from 'msgpackr'
import t from 'tap'

/** Byte arrays are Buffers or not, depending on the reader. */
const plain = (value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : Array.isArray(value) ? value.map(plain) : value

t.test('msgpackr reads the packets of a real run as the receivers did', async (t) => {
  const packets: Uint8Array[] = []
  const take = Reflect.get(PacketWriter.prototype, 'takeInPlace') as (this: PacketWriter) => Packet
  PacketWriter.prototype.takeInPlace = function (this: PacketWriter) {
    const packet = take.call(this)
    packets.push(packet.bytes.slice(packet.start, packet.end))
    return packet
  }
  t.teardown(() => {
    PacketWriter.prototype.takeInPlace = take
  })
  await using cluster = await ShardedCluster.start({ shards: 2, standby: ['rs0'], runtime: 'inline', seed: 3 })
  const client = await MongoClient.connect(cluster.uri)
  const admin = client.db('admin')
  const orders = client.db('shop').collection<{ _id: number; customer: number }>('orders')
  await admin.command({ shardCollection: 'shop.orders', key: { customer: 1 } })
  await orders.insertMany(Array.from({ length: 200 }, (_, i) => ({ _id: i, customer: i })))
  await admin.command({ split: 'shop.orders', middle: { customer: 100 } })
  await admin.command({ addShard: cluster.standby[0]!.host, name: 'east' })
  await admin.command({ moveChunk: 'shop.orders', find: { customer: 150 }, to: 'east' })
  await admin.command({ addShardToZone: 'east', zone: 'new' })
  await orders.updateOne({ _id: 3, customer: 3 }, { $set: { customer: 170 } })
  await orders.find({ customer: { $gt: 50 } }).toArray()
  await admin.command({ shardlab: 'apply', fault: 'slow shard01 by 2x for 1ms' })
  await cluster.balancer.runRound()
  await admin.command({ removeShard: 'shard02' })
  await client.close()

  const unpackr = new Unpackr({ useRecords: false })
  const kinds = new Set<string>()
  for (const packet of packets) {
    const messages = unpackr.unpack(packet) as [number, number, number, number, number, unknown[]][]
    if (JSON.stringify(plain(messages)) !== JSON.stringify(plain(readPacket(packet))))
      t.fail(`another reading of ${Buffer.from(packet).toString('hex')}`)
    for (const [type, , , , kind, payload] of messages) {
      const shape = kindShapeAt(kind)
      kinds.add(shape.kind)
      if (type === packetTypes.request) t.equal(payload.length, shape.requestFields.length, shape.kind)
    }
  }
  const packed = [...kinds].filter((kind) => !hotKinds.has(kind))
  t.ok(packets.length > 100, `${packets.length} packets`)
  t.ok(packed.length >= 20, `msgpackr packed ${packed.join(', ')}`)
  t.ok(kinds.size - packed.length >= 6, 'and others were packed by hand')
  t.same(
    [...hotKinds].filter((kind) => !(kind in catalogue)),
    [],
  )
})

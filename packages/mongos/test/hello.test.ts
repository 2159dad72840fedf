import t from 'tap'
import { BsonType, fieldsOf, findField, Long } from '@shardlab/bson'
import { FakeCluster } from './support/fake-cluster.js'

const client = { driver: { name: 'x', version: '1' }, os: { type: 'linux' } }

t.test('hello has the fields of a router in order, with the types that clients cast to', async (t) => {
  const reply = await new FakeCluster().runRaw({
    hello: 1,
    helloOk: true,
    compression: ['zstd', 'zlib', 'snappy'],
    backpressure: '2',
    client,
  })
  const fields = fieldsOf(reply)
  t.same(
    fields.map(([name]) => name),
    [
      'isWritablePrimary',
      'msg',
      'topologyVersion',
      'helloOk',
      'maxBsonObjectSize',
      'maxMessageSizeBytes',
      'maxWriteBatchSize',
      'localTime',
      'logicalSessionTimeoutMinutes',
      'connectionId',
      'maxWireVersion',
      'minWireVersion',
      'compression',
      'ok',
      '$clusterTime',
      'operationTime',
    ],
  )
  const types = Object.fromEntries(fields.map(([name, value]) => [name, value.type]))
  t.equal(types['ok'], BsonType.double)
  t.equal(types['maxWireVersion'], BsonType.int32)
  t.equal(types['localTime'], BsonType.date)
  t.equal(findField(reply, 'msg')!.asString(), 'isdbgrid')
  t.equal(findField(reply, 'maxWireVersion')!.asNumber(), 21)
  const topology = findField(reply, 'topologyVersion')!
  t.equal(findField(topology.bytes, 'counter', topology.start)!.type, BsonType.int64)
})

t.test('the older names reply with ismaster, and other spellings are refused', async (t) => {
  const cluster = new FakeCluster()
  for (const name of ['isMaster', 'ismaster']) t.equal((await cluster.run({ [name]: 1 }))['ismaster'], true)
  t.match(await cluster.run({ HELLO: 1 }), {
    ok: 0,
    code: 59,
    codeName: 'CommandNotFound',
    errmsg: 'no such cmd: HELLO',
  })
  const plain = await cluster.run({ hello: 1 })
  t.notOk('helloOk' in plain)
  t.notOk('compression' in plain)
})

t.test('old profiles announce wire versions that drivers accept, or with nativeWire their own', async (t) => {
  t.equal((await new FakeCluster({ emulate: '4.0' }).run({ hello: 1 }))['maxWireVersion'], 9)
  const native = await new FakeCluster({ emulate: '4.0', nativeWire: true }).run({ hello: 1 })
  t.equal(native['maxWireVersion'], 7)
  t.notOk('topologyVersion' in native)
})

t.test('an awaitable hello replies after its waiting time', async (t) => {
  const cluster = new FakeCluster()
  const { topologyVersion } = await cluster.run({ hello: 1 })
  const before = cluster.world.nowMs
  t.equal((await cluster.run({ hello: 1, topologyVersion, maxAwaitTimeMS: 10_000 }))['ok'], 1)
  t.equal(cluster.world.nowMs - before, 10_000)
  const other = { processId: topologyVersion.processId, counter: Long.fromNumber(3) }
  t.match(await cluster.run({ hello: 1, topologyVersion, maxAwaitTimeMS: -1 }), { code: 51759 })
  t.match(await cluster.run({ hello: 1, topologyVersion }), { code: 51760 })
  t.match(await cluster.run({ hello: 1, maxAwaitTimeMS: 1 }), { code: 51760 })
  t.match(
    await cluster.run({
      hello: 1,
      topologyVersion: { ...topologyVersion, counter: Long.fromNumber(-1) },
      maxAwaitTimeMS: 1,
    }),
    {
      code: 51758,
    },
  )
  t.match(await cluster.run({ hello: 1, topologyVersion: other, maxAwaitTimeMS: 1 }), { code: 51761 })
})

t.test('a router that stops ends awaitable hellos and refuses new commands', async (t) => {
  const cluster = new FakeCluster()
  const { topologyVersion } = await cluster.run({ hello: 1 })
  const waiting = cluster.start({ hello: 1, topologyVersion, maxAwaitTimeMS: 60_000 })
  await cluster.world.drain()
  await cluster.mongos.stop!()
  t.equal(findField(await waiting, 'code')!.asNumber(), 91)
  t.match(await cluster.run({ ping: 1 }), { code: 91, codeName: 'ShutdownInProgress' })
})

t.test('a second client document on a connection is refused', async (t) => {
  const cluster = new FakeCluster()
  t.equal((await cluster.run({ hello: 1, client }, { connectionId: 5 }))['ok'], 1)
  t.match(await cluster.run({ hello: 1, client }, { connectionId: 5 }), { code: 186 })
  await cluster.mongos.receive('client.disconnected', { connectionId: 5 }, 'gateway')
  t.equal((await cluster.run({ hello: 1, client }, { connectionId: 5 }))['ok'], 1)
})

t.test('a malformed client document is refused, and the next hello may have another one', async (t) => {
  const cluster = new FakeCluster()
  const inside = 'in the client metadata document'
  const refusals: [unknown, number, string][] = [
    [1, 14, 'The client metadata document must be a document'],
    [
      { ...client, extra: 'x'.repeat(600) },
      185,
      'The client metadata document must be less then or equal to 512 bytes',
    ],
    [{ os: client.os }, 183, `Missing required sub-document 'driver' ${inside}`],
    [{ driver: client.driver }, 183, `Missing required sub-document 'os' ${inside}`],
    [{ ...client, driver: { name: 'x' } }, 183, `Missing required field 'driver.version' ${inside}`],
    [{ ...client, os: {} }, 183, `Missing required field 'os.type' ${inside}`],
    [{ ...client, os: 1 }, 14, `The 'os' field is required to be a BSON document ${inside}`],
    [{ ...client, os: { type: 1 } }, 14, `The 'os.type' field must be a string ${inside}`],
    [{ ...client, application: { name: 7 } }, 14, `The 'application.name' field must be a string ${inside}`],
    [
      { ...client, application: { name: 'x'.repeat(129) } },
      184,
      `The 'application.name' field must be less then or equal to 128 bytes ${inside}`,
    ],
  ]
  for (const [value, code, errmsg] of refusals)
    t.match(await cluster.run({ hello: 1, client: value }, { connectionId: 5 }), { ok: 0, code, errmsg })
  t.match(await cluster.run({ hello: 1, client }, { connectionId: 5 }), { ok: 1 })
  const older = new FakeCluster({ emulate: '4.4' })
  t.match(await older.run({ hello: 1, client: { x: 'x'.repeat(600) } }), { code: 185, errmsg: /equal to 512bytes$/ })
  const oldest = new FakeCluster({ emulate: '2.6' })
  t.match(await oldest.run({ isMaster: 1, client: 1 }), { ok: 1 }, 'not yet known')
})

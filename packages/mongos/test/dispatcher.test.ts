import t from 'tap'
import { Binary, BsonType, fieldsOf, findField, Long, Timestamp, UUID } from '@shardlab/bson'
import { FakeCluster } from './support/fake-cluster.js'

const lsid = { id: new UUID('00000000-0000-4000-8000-000000000001') }
const cluster = new FakeCluster()

t.test('every command is checked for its database, arguments, concerns and sessions', async (t) => {
  const cases: [label: string, command: Record<string, unknown>, expected: Record<string, unknown>][] = [
    ['unknown field', { ping: 1, colour: 1 }, { code: 40415 }],
    [
      'admin only',
      { listShards: 1 },
      { code: 13, codeName: 'Unauthorized', errmsg: 'listShards may only be run against the admin database.' },
    ],
    ['api version', { ping: 1, apiVersion: '7' }, { code: 322, errmsg: 'API version must be "1"' }],
    ['strict without version', { ping: 1, apiStrict: true }, { code: 4886600 }],
    ['strict outside the API', { buildInfo: 1, apiVersion: '1', apiStrict: true }, { code: 323 }],
    [
      'txnNumber without session',
      { insert: 'c', documents: [{}], txnNumber: Long.ONE },
      { code: 72, errmsg: 'Transaction number requires a session ID to also be specified' },
    ],
    [
      'transactions',
      { drop: 'c', lsid, txnNumber: Long.ONE, autocommit: false, startTransaction: true },
      {
        code: 263,
        codeName: 'OperationNotSupportedInTransaction',
        errmsg: "Cannot run 'drop' in a multi-document transaction.",
      },
    ],
    ['txnNumber on a read', { find: 'c', lsid, txnNumber: Long.ONE }, { code: 50768 }],
    ['negative txnNumber', { insert: 'c', documents: [{}], lsid, txnNumber: Long.fromNumber(-1) }, { code: 72 }],
    ['lsid that is none', { ping: 1, lsid: { id: 5 } }, { code: 14 }],
    [
      'lsid of 3 bytes',
      { ping: 1, lsid: { id: new Binary(Buffer.alloc(3), 4) } },
      { code: 207, codeName: 'InvalidUUID' },
    ],
    ['cluster time without fields', { ping: 1, $clusterTime: {} }, { code: 4, codeName: 'NoSuchKey' }],
    [
      'cluster time without signature',
      { ping: 1, $clusterTime: { clusterTime: new Timestamp({ t: 1_700_000_000, i: 1 }) } },
      { code: 4 },
    ],
    ['local', { ping: 1, $db: 'local' }, { code: 20, errmsg: "Can't use 'local' database through mongos" }],
    ['bad database name', { ping: 1, $db: 'a b' }, { code: 73 }],
    ['maxTimeMS', { ping: 1, maxTimeMS: -5 }, { code: 2 }],
    [
      'batch size',
      { insert: 'c', documents: [] },
      {
        code: 16,
        codeName: 'InvalidLength',
        errmsg: 'Write batch sizes must be between 1 and 100000. Got 0 operations.',
      },
    ],
    ['no cursor', { aggregate: 'c', pipeline: [] }, { code: 9 }],
  ]
  for (const [label, command, expected] of cases) t.match(await cluster.run(command), { ok: 0, ...expected }, label)
})

t.test('replies end with ok and the times, and the client advances the cluster time', async (t) => {
  const newer = new Timestamp({ t: 1_710_000_000, i: 3 })
  const signature = { hash: new Binary(Buffer.alloc(20)), keyId: 0 }
  const reply = await cluster.runRaw({ ping: 1, $clusterTime: { clusterTime: newer, signature } })
  t.same(
    fieldsOf(reply).map(([name, value]) => [name, value.type]),
    [
      ['ok', BsonType.double],
      ['$clusterTime', BsonType.object],
      ['operationTime', BsonType.timestamp],
    ],
  )
  const time = findField(reply, '$clusterTime')!
  t.equal(findField(time.bytes, 'clusterTime', time.start)!.asBigInt(), newer.toBigInt())
})

t.test('operationTime is that of the shards that took part', async (t) => {
  const own = new FakeCluster()
  own.scripts.set('shard01', () => ({ n: 3, ok: 1 }))
  const reply = await own.run({ count: 'plain' })
  t.same(reply['operationTime'], new Timestamp({ t: 1_700_000_000, i: 5 }))
  t.same(reply['$clusterTime'].clusterTime, new Timestamp({ t: 1_700_000_000, i: 7 }))
})

t.test('a fault at a named step is an error of the command, and the router keeps running', async (t) => {
  const own = new FakeCluster()
  own.shardByRange('test.c', 'x', [0], ['shard01', 'shard02'])
  const { StepFailedError } = await import('@shardlab/actor')
  own.world.atStep = (step) => {
    if (step === 'mongos.read.targeted') throw new StepFailedError(step)
  }
  t.match(await own.run({ find: 'c' }), { ok: 0, code: 192, codeName: 'FailPointEnabled' })
})

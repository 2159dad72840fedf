/** A router signs cluster times with the keys of the config server. */
import { missingTimeKeys, TimeSigner, writeTimeKey, type TimeKey } from '@shardlab/auth'
import { Binary, decode, Long, Timestamp, type Document } from '@shardlab/bson'
import { accessRulesOf } from '@shardlab/member'
import { behavioursOf } from '@shardlab/sharding'
import t from 'tap'
import { FakeCluster } from './support/fake-cluster.js'

const seconds = 1_700_000_000
const keys: readonly TimeKey[] = missingTimeKeys([], [seconds, 1], 1000, () => new Uint8Array(20).fill(1))
const hello = { hello: 1, $db: 'admin' }
const keyIdOf = (reply: Document): string => (reply['$clusterTime'].signature.keyId as Long).toString()

function clusterWithKeys(): FakeCluster {
  const cluster = new FakeCluster({ hasAccessControl: true })
  cluster.timeKeys = keys.map(writeTimeKey)
  return cluster
}

t.test('the first commands of clients wait for the keys, which are requested once', async (t) => {
  const cluster = clusterWithKeys()
  const first = cluster.start(hello)
  const second = cluster.start(hello)
  for (const reply of [first, second])
    t.equal(keyIdOf(decode(await cluster.world.settle(reply), { promoteLongs: false })), keys[0]!.keyId.toString())
  t.not(keyIdOf(await cluster.run(hello)), '0')
  t.equal(cluster.countSent('config.get-time-keys'), 1)
})

t.test('a router that has just started accepts a signed time, and no other', async (t) => {
  const time = [seconds + 500, 1] as const
  const signer = new TimeSigner(accessRulesOf(behavioursOf('7.0')), () => {})
  signer.learn(keys)
  const { hash, keyId } = signer.sign(time)!
  const clusterTime = new Timestamp({ t: time[0], i: time[1] })
  const signature = { hash: new Binary(hash), keyId: Long.fromBigInt(keyId) }
  const replyTo = (other: object) =>
    clusterWithKeys().run({ ...hello, $clusterTime: { clusterTime, signature: { ...signature, ...other } } })
  t.match(await replyTo({}), { ok: 1, $clusterTime: { clusterTime } })
  t.match(await replyTo({ hash: new Binary(Buffer.alloc(20, 1)) }), { code: 204 })
  t.match(await replyTo({ keyId: 7 }), { code: 211 })
})

t.test('without the config server a router serves clients, without times', async (t) => {
  const cluster = clusterWithKeys()
  const config = cluster.world.members.get('config')!
  cluster.world.members.delete('config')
  const reply = await cluster.run(hello)
  t.match(reply, { ok: 1 })
  t.notOk('$clusterTime' in reply)
  t.notOk('operationTime' in reply)
  cluster.world.members.set('config', config)
  t.not(keyIdOf(await cluster.run(hello)), '0')
})

t.test('without access control a router requests no keys', async (t) => {
  const cluster = new FakeCluster()
  t.equal(keyIdOf(await cluster.run(hello)), '0')
  t.equal(cluster.countSent('config.get-time-keys'), 0)
})

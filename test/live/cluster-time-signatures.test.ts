/** With access control, clients send cluster times with the signature of a member. */
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ShardedCluster } from '@shardlab/cluster'
import { Binary, Long, MongoClient, Timestamp, type ClusterTime, type Document } from 'mongodb'
import t, { type Test } from 'tap'
import { RawClient } from '../support/raw-client.js'
import { logIn } from '../support/scram-client.js'
import { Deployment, failure } from './support/deployment.js'

const noSignature = { hash: new Binary(Buffer.alloc(20)), keyId: Long.ZERO }

async function timeOf(client: MongoClient): Promise<ClusterTime> {
  return (await client.db('admin').command({ ping: 1 }))['$clusterTime'] as ClusterTime
}

/** Sends a command with this time. */
async function pingWith(client: MongoClient, $clusterTime: ClusterTime): Promise<Document> {
  return client.withSession((session) => {
    session.advanceClusterTime($clusterTime)
    return client.db('admin').command({ ping: 1 }, { session })
  })
}

function later({ clusterTime, signature }: ClusterTime, seconds: number, other: object = {}): ClusterTime {
  const time = new Timestamp({ t: clusterTime.getHighBits() + seconds, i: 1 })
  return { clusterTime: time, signature: { ...signature!, ...other } }
}

const isAfter = (time: ClusterTime, other: ClusterTime): boolean => time.clusterTime.greaterThan(other.clusterTime)
const keyIdOf = ({ signature }: ClusterTime): Long => Long.fromValue(signature!.keyId)
const hashOf = ({ signature }: ClusterTime): Buffer => Buffer.from(signature!.hash.value())

/** Users for these tests: `ann` without privileges on the clock, `clock` with them. */
async function createUsers(deployment: Deployment): Promise<Record<'root' | 'ann' | 'clock', MongoClient>> {
  const root = await deployment.createRoot()
  const privileges = [
    { resource: { cluster: true }, actions: ['advanceClusterTime'] },
    { resource: { db: 'admin', collection: 'system.keys' }, actions: ['find'] },
  ]
  await root.db('admin').command({ createRole: 'clockSetter', privileges, roles: [] })
  const ann = await deployment.createUser(root, 'ann', ['readWriteAnyDatabase'])
  return { root, ann, clock: await deployment.createUser(root, 'clock', ['clockSetter']) }
}

/** Moves the clock far ahead of what members have signed. */
async function advance(clock: MongoClient, seconds: number): Promise<void> {
  await pingWith(clock, later(await timeOf(clock), seconds, noSignature))
}

async function directTo(deployment: Deployment, endpoint: string, user = 'ann'): Promise<MongoClient> {
  return deployment.connect({ user, password: 'pass' }, `mongodb://${endpoint}/?directConnection=true`)
}

for (const topology of ['replica-set', 'sharded'] as const) {
  t.test(`${topology}: a time with a forged signature is refused, and does not advance the clock`, async (t) => {
    const deployment = await Deployment.start(t, { topology })
    const { root, ann } = await createUsers(deployment)
    for (const client of [root, ann]) {
      const time = await timeOf(client)
      t.not(keyIdOf(time).toString(), '0')
      t.same(await failure(pingWith(client, later(time, 1000))), {
        code: 204,
        message: 'Proof does not match the cluster time',
      })
      const [missing, unsigned] = [later(time, 1000, { keyId: Long.ONE }), later(time, 1000, noSignature)]
      const seconds = missing.clusterTime.getHighBits()
      const text = (id: number) =>
        `No keys found for HMAC that is valid for time: { ts: Timestamp(${seconds}, 1) } with id: ${id}`
      t.same(await failure(pingWith(client, missing)), { code: 211, message: text(1) })
      t.same(await failure(pingWith(client, unsigned)), { code: 211, message: text(0) })
      t.notOk(isAfter(await timeOf(client), later(time, 999)))
    }
  })

  t.test(`${topology}: a user with advanceClusterTime gets times without signature, and sends any time`, async (t) => {
    const deployment = await Deployment.start(t, { topology })
    const { ann, clock } = await createUsers(deployment)
    const before = await timeOf(clock)
    t.same(hashOf(before), Buffer.alloc(20))
    t.equal(keyIdOf(before).toString(), '0')
    const sent = later(before, 1_000_000, { hash: new Binary(Buffer.alloc(20, 7)) })
    t.ok(await pingWith(clock, sent))
    t.notOk(isAfter(sent, await timeOf(ann)))
    t.equal((await failure(pingWith(clock, later(before, 40_000_000)))).code, 205, 'more than a year ahead')
  })

  t.test(`${topology}: the signature is that of a key in admin.system.keys, which root may not read`, async (t) => {
    const deployment = await Deployment.start(t, { topology })
    const { root, ann, clock } = await createUsers(deployment)
    const keys = await clock.db('admin').collection('system.keys').find({}, { promoteLongs: false }).toArray()
    t.equal(keys.length, 2)
    t.match(keys[0], { purpose: 'HMAC', key: Binary, expiresAt: Timestamp })
    const time = await timeOf(ann)
    const key = keys.find(({ _id }) => keyIdOf(time).equals(_id as unknown as Long))!
    const range = Buffer.alloc(8)
    range.writeUInt32LE((time.clusterTime.getLowBits() | 0xffff) >>> 0, 0)
    range.writeUInt32LE(time.clusterTime.getHighBits(), 4)
    t.same(
      hashOf(time),
      createHmac('sha1', (key['key'] as Binary).value())
        .update(range)
        .digest(),
    )
    t.equal((await failure(root.db('admin').collection('system.keys').findOne())).code, 13)
  })

  t.test(`${topology}: a client without user cannot advance the clock`, async (t) => {
    const deployment = await Deployment.start(t, { topology, members: 1 })
    const { root, ann } = await createUsers(deployment)
    const endpoint = (await deployment.primaryUri()).replace(/^mongodb:\/\//, '').replace(/[/,?].*$/, '')
    const raw = await RawClient.connect(endpoint)
    t.teardown(() => raw.close())
    const time = await timeOf(ann)
    const unsigned = later(time, 1000, noSignature)
    for (const command of [{ ping: 1 }, { hello: 1, saslSupportedMechs: 'admin.root' }]) {
      const reply = await raw.command({ ...command, $clusterTime: unsigned, $db: 'admin' })
      t.match(reply, { ok: 1 })
      t.not(reply['$clusterTime'].signature.keyId.toString(), '0')
      t.match(await raw.command({ ...command, $clusterTime: later(time, 1000), $db: 'admin' }), { code: 204 })
    }
    t.match(await raw.command({ find: 'rows', $clusterTime: unsigned, $db: 'shop' }), { code: 13 })
    await logIn(raw, { user: 'ann', password: 'pass' })
    t.match(await raw.command({ ping: 1, $clusterTime: unsigned, $db: 'admin' }), { code: 211 })
    await root.db('admin').command({ dropUser: 'ann' })
    t.match(await raw.command({ find: 'rows', $clusterTime: unsigned, $db: 'shop' }), { code: 13 })
    t.notOk(isAfter(await timeOf(root), later(time, 999)))
  })
}

t.test('a router accepts the times that another router has signed, and no others', async (t) => {
  const deployment = await Deployment.start(t, { mongos: 2 })
  const { clock } = await createUsers(deployment)
  const [first, second] = deployment.cluster.mongos as [string, string]
  const [writer, reader] = [await directTo(deployment, first), await directTo(deployment, second)]
  await timeOf(reader)
  await clock.close()
  await advance(await directTo(deployment, first, 'clock'), 1000)
  const writing = writer.startSession({ causalConsistency: true })
  const reading = reader.startSession({ causalConsistency: true })
  await writer.db('shop').collection('rows').insertOne({ n: 1 }, { session: writing })
  const { clusterTime: signed, operationTime } = writing
  const { hash } = later(signed!, 0).signature!
  const forged = { ...signed!, signature: { ...signed!.signature!, hash: new Binary(hash.value().toReversed()) } }
  t.equal((await failure(pingWith(reader, forged))).code, 204)
  reading.advanceClusterTime(signed!)
  reading.advanceOperationTime(operationTime!)
  t.match(await reader.db('shop').collection('rows').findOne({}, { session: reading }), { n: 1 })
  t.notOk(isAfter(signed!, reading.clusterTime!))
  await Promise.all([writing.endSession(), reading.endSession()])
})

t.test('a secondary and a new primary accept the times of the old primary', async (t) => {
  const deployment = await Deployment.start(t, { topology: 'replica-set', members: 3 })
  const { root, ann, clock } = await createUsers(deployment)
  const { hosts, primary } = await ann.db('admin').command({ hello: 1 })
  await ann
    .db('shop')
    .collection('rows')
    .insertOne({}, { writeConcern: { w: 3 } })
  const secondary = (hosts as string[]).find((host) => host !== primary)!
  const direct = await directTo(deployment, secondary)
  await advance(clock, 1000)
  const signed = await timeOf(ann)
  t.equal(
    (await failure(pingWith(direct, { ...signed, signature: { ...signed.signature!, hash: noSignature.hash } }))).code,
    204,
  )
  t.ok(await pingWith(direct, signed))
  await root.db('admin').command({ replSetStepDown: 60 })
  await ann.db('shop').collection('rows').insertOne({})
  t.not((await ann.db('admin').command({ hello: 1 }))['primary'], primary)
  await advance(await deployment.connect({ user: 'clock', password: 'pass' }), 1000)
  t.ok(await pingWith(direct, await timeOf(ann)))
  t.equal((await failure(pingWith(ann, later(signed, 2000)))).code, 204)
})

t.test('a shard signs times for direct clients with a key of the config server', async (t) => {
  const deployment = await Deployment.start(t, { shards: 1 })
  const { ann, clock } = await createUsers(deployment)
  const uri = deployment.cluster.shards[0]!.uri
  const first = await deployment.connect(null, uri)
  await first.db('admin').command({ createUser: 'ann', pwd: 'pass', roles: ['readWriteAnyDatabase'] })
  const direct = await deployment.connect({ user: 'ann', password: 'pass' }, uri)
  await advance(clock, 1000)
  const signed = await timeOf(ann)
  t.equal((await failure(pingWith(direct, later(signed, 0, noSignature)))).code, 211)
  const { $clusterTime } = await pingWith(direct, signed)
  t.equal(keyIdOf($clusterTime as ClusterTime).toString(), keyIdOf(signed).toString())
})

t.test('times are valid after a restart of the cluster, and of a router', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-times-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const topology of ['replica-set', 'sharded'] as const) {
    const stored = { topology, dbPath: join(folder, topology) }
    const first = await Deployment.start(t, stored)
    const { ann, clock } = await createUsers(first)
    await advance(clock, 1000)
    const signed = await timeOf(ann)
    await first.cluster.stop()
    const again = await Deployment.start(t, stored)
    await isStillValid(t, await again.connect({ user: 'ann', password: 'pass' }), signed)
    if (topology === 'replica-set') continue
    await again.cluster.crash('mongos01')
    await again.cluster.restart('mongos01')
    await isStillValid(t, await again.connect({ user: 'ann', password: 'pass' }), signed)
  }
})

t.test('times are valid in a copy of the cluster', async (t) => {
  const deployment = await Deployment.start(t)
  const { ann, clock } = await createUsers(deployment)
  await timeOf(ann)
  await advance(clock, 1000)
  const copy = await deployment.cluster.fork()
  t.teardown(() => copy.stop())
  await advance(clock, 1000)
  const signed = await timeOf(ann)
  const inCopy = await deployment.connect({ user: 'ann', password: 'pass' }, copy.uri)
  await isStillValid(t, inCopy, signed)
})

async function isStillValid(t: Test, client: MongoClient, signed: ClusterTime): Promise<void> {
  t.ok(await pingWith(client, signed))
  t.equal((await failure(pingWith(client, later(signed, 1000)))).code, 204)
}

t.test('before 5.0 the error about an unknown key names a cache', async (t) => {
  for (const emulate of ['2.6', '4.4', '5.0', '8.0'] as const) {
    const deployment = await Deployment.start(t, { topology: 'replica-set', members: 1, emulate })
    const root = await deployment.createRoot()
    const { message } = await failure(pingWith(root, later(await timeOf(root), 1000, noSignature)))
    t.equal(message.startsWith('Cache Reader No keys found for HMAC'), emulate < '5.0', emulate)
  }
})

t.test('D917 without access control there are no keys', async (t) => {
  const cluster = await ShardedCluster.start({ runtime: 'inline', shards: 1 })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  const time = await timeOf(client)
  t.same(hashOf(time), Buffer.alloc(20))
  t.ok(await pingWith(client, later(time, 1000)))
  t.equal(await client.db('admin').collection('system.keys').countDocuments(), 0)
})

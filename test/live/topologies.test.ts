/** Sets with members of several kinds, a standalone mongod, and sets that change, with a driver. */
import { ShardedCluster, type ClusterOptions } from '@shardlab/cluster'
import { Long, MongoClient, ReadPreference, UUID } from 'mongodb'
import t, { type Test } from 'tap'

async function start(t: Test, options: ClusterOptions): Promise<{ cluster: ShardedCluster; client: MongoClient }> {
  const cluster = await ShardedCluster.start({ runtime: 'inline', seed: 1, ...options })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  return { cluster, client }
}

async function connect(t: Test, uri: string): Promise<MongoClient> {
  const client = await MongoClient.connect(uri)
  t.teardown(() => client.close())
  return client
}

for (const runtime of ['inline', 'threads'] as const) {
  t.test(`${runtime}: a set has the members of its options`, async (t) => {
    const { client } = await start(t, {
      runtime,
      topology: 'replica-set',
      members: [
        { priority: 1 },
        { priority: 2, tags: { dc: 'east' } },
        { priority: 0, hidden: true, votes: 0 },
        { arbiterOnly: true },
      ],
    })
    const admin = client.db('admin')
    const { config } = await admin.command({ replSetGetConfig: 1 })
    t.match(config, {
      members: [
        { priority: 1 },
        { priority: 2, tags: { dc: 'east' } },
        { priority: 0, hidden: true, votes: 0 },
        { priority: 0, arbiterOnly: true },
      ],
    })
    const { members } = await admin.command({ replSetGetStatus: 1 })
    t.strictSame(
      (members as { stateStr: string }[]).map(({ stateStr }) => stateStr),
      ['SECONDARY', 'PRIMARY', 'SECONDARY', 'ARBITER'],
    )
    const rows = client.db('shop').collection<{ _id: number }>('rows')
    await rows.insertOne({ _id: 1 }, { writeConcern: { w: 3 } })
    const east = new ReadPreference('nearest', [{ dc: 'east' }])
    t.strictSame(await rows.find({}, { readPreference: east }).toArray(), [{ _id: 1 }])
  })
}

t.test('a mongod without a set', async (t) => {
  const { cluster, client } = await start(t, { topology: 'standalone' })
  t.match(cluster.uri, /^mongodb:\/\/[\d.]+:\d+\/$/)
  t.strictSame([cluster.set, cluster.config, cluster.shards, cluster.mongos], [null, null, [], []])
  const admin = client.db('admin')
  const hello = await admin.command({ hello: 1 })
  t.match(hello, { isWritablePrimary: true, topologyVersion: {} })
  for (const name of ['setName', 'hosts', 'me', 'primary', 'secondary', 'lastWrite', 'operationTime', '$clusterTime'])
    t.notOk(name in hello, name)
  const rows = client.db('shop').collection<{ _id: number }>('rows')
  await rows.insertOne({ _id: 1 }, { writeConcern: { w: 'majority' } })
  t.strictSame(await rows.find({}, { readConcern: { level: 'majority' } }).toArray(), [{ _id: 1 }])
  t.strictSame(await client.db('local').listCollections().toArray(), [])
  t.strictSame(await client.db('local').collection('oplog.rs').find().toArray(), [])
  const lsid = { id: new UUID() }
  const shop = client.db('shop')
  const refusals: readonly (readonly [() => Promise<unknown>, { code: number; message?: string }])[] = [
    [() => admin.command({ replSetGetStatus: 1 }), { code: 76, message: 'not running with --replSet' }],
    [() => admin.command({ replSetReconfig: {} }), { code: 76 }],
    [
      () => admin.command({ replSetInitiate: {} }),
      { code: 76, message: 'This node was not started with replication enabled.' },
    ],
    [
      () => shop.command({ insert: 'rows', documents: [{ _id: 2 }], lsid, txnNumber: Long.ONE }),
      { code: 20, message: 'Transaction numbers are only allowed on a replica set member or mongos' },
    ],
    [() => shop.command({ find: 'rows', readConcern: { level: 'linearizable' } }), { code: 123 }],
    [() => shop.command({ find: 'rows', readConcern: { level: 'snapshot' } }), { code: 123 }],
    [() => shop.command({ insert: 'rows', documents: [{}], writeConcern: { w: 2 } }), { code: 2 }],
    [() => shop.command({ insert: 'rows', documents: [{}], writeConcern: { w: 'dcs' } }), { code: 2 }],
    [() => admin.command({ getDefaultRWConcern: 1 }), { code: 51_300 }],
  ]
  for (const [work, error] of refusals) await t.rejects(work(), error)
  t.match(await shop.command({ reIndex: 'rows' }), { nIndexes: 1 })
  t.notOk('repl' in (await admin.command({ serverStatus: 1 })))
  await cluster.crash('mongod')
  await cluster.restart('mongod')
  t.equal(await rows.countDocuments({}), 1)
})

t.test('a set whose members run without a configuration is initiated by a client', async (t) => {
  const cluster = await ShardedCluster.start({
    ...{ runtime: 'inline', seed: 1, clock: 'manual', topology: 'replica-set', initiate: false },
  })
  t.teardown(() => cluster.stop())
  const members = cluster.set!.members
  const hosts = members.map(({ uri }) => new URL(uri).host)
  const first = await connect(t, members[0]!.uri)
  const admin = first.db('admin')
  await t.rejects(admin.command({ replSetGetStatus: 1 }), { code: 94, codeName: 'NotYetInitialized' })
  await t.rejects(first.db('shop').collection('rows').insertOne({}), { code: 10_107 })
  t.match(await admin.command({ hello: 1 }), { isWritablePrimary: false, secondary: false, isreplicaset: true })
  const config = (name: string, list: readonly string[]) => ({
    ...{ _id: name, members: list.map((host, _id) => ({ _id, host })) },
  })
  await t.rejects(admin.command({ replSetInitiate: config('other', hosts) }), { code: 93 })
  await t.rejects(admin.command({ replSetInitiate: config('rs0', hosts.slice(1)) }), { code: 93 })
  await t.rejects(admin.command({ replSetInitiate: config('rs0', [hosts[0]!, '127.0.0.1:9']) }), { code: 74 })
  t.match(await admin.command({ replSetInitiate: config('rs0', hosts) }), { ok: 1 })
  await t.rejects(admin.command({ replSetInitiate: config('rs0', hosts) }), { code: 23 })
  // The election timeout of the default configuration is 10 s.
  await cluster.advance('30s')
  const client = await connect(t, cluster.uri)
  const rows = client.db('shop').collection<{ _id: number }>('rows')
  await rows.insertOne({ _id: 1 }, { writeConcern: { w: 3 } })
  t.strictSame(await rows.find({}, { readPreference: ReadPreference.SECONDARY }).toArray(), [{ _id: 1 }])
})

t.test('a member joins a running set with an initial sync, and leaves it', async (t) => {
  const { cluster, client } = await start(t, { topology: 'replica-set', members: 3 })
  const rows = client.db('shop').collection<{ _id: number }>('rows')
  await rows.insertMany([{ _id: 1 }, { _id: 2 }], { writeConcern: { w: 'majority' } })
  const { id, host, uri } = await cluster.addMember('rs0')
  t.equal(id, 'rs0-4')
  const admin = client.db('admin')
  const currentConfig = async () =>
    (await admin.command({ replSetGetConfig: 1 }))['config'] as {
      version: number
      members: { _id: number; host: string }[]
    }
  const config = await currentConfig()
  await admin.command({
    replSetReconfig: { ...config, version: config.version + 1, members: [...config.members, { _id: 3, host }] },
  })
  await rows.insertOne({ _id: 3 }, { writeConcern: { w: 4 } })
  const alone = await connect(t, uri)
  const find = () => alone.db('shop').collection('rows').find({}, { readPreference: 'nearest' }).toArray()
  t.strictSame(await find(), [{ _id: 1 }, { _id: 2 }, { _id: 3 }])
  t.equal(cluster.set!.members.length, 4)
  t.match(cluster.uri, new RegExp(host))
  let joined = await currentConfig()
  // The primary changes it once more when it counts the new member's vote.
  while (joined.version < config.version + 2) joined = await currentConfig()
  await admin.command({ replSetReconfig: { ...joined, version: joined.version + 1, members: config.members } })
  await rows.insertOne({ _id: 4 }, { writeConcern: { w: 3 } })
  await t.rejects(rows.insertOne({ _id: 5 }, { writeConcern: { w: 4, wtimeoutMS: 100 } }), { code: 100 })
})

t.test('addShard adds sets of several members and config.shards follows them', async (t) => {
  const { cluster, client } = await start(t, { shards: 1, members: 3, standby: ['rs0', 'rs1'], sets: { rs1: 1 } })
  const admin = client.db('admin')
  const [set, single] = cluster.standby
  t.match(set, { id: 'rs0', members: [{ id: 'rs0-1' }, { id: 'rs0-2' }, { id: 'rs0-3' }] })
  t.match(single, { id: 'rs1', members: undefined })
  const hosts = set!.host.split('/')[1]!.split(',')
  await t.rejects(admin.command({ addShard: hosts[1]! }), { code: 96, message: /host is part of set rs0/ })
  await t.rejects(admin.command({ addShard: `rs0/${hosts[0]},${new URL(single!.uri).host}` }), {
    code: 96,
    message: /does not belong to replica set rs0; found \{ hosts: \[/,
  })
  t.match(await admin.command({ addShard: `rs0/${hosts[1]}` }), { shardAdded: 'rs0' })
  t.match(await admin.command({ addShard: single!.host }), { shardAdded: 'rs1' })
  const listed = async (): Promise<unknown> =>
    ((await admin.command({ listShards: 1 }))['shards'] as { _id: string; host: string }[]).find(
      ({ _id }) => _id === 'rs0',
    )?.host
  t.equal(await listed(), set!.host)
  const member = await connect(t, set!.uri)
  const { config } = (await member.db('admin').command({ replSetGetConfig: 1 })) as {
    config: { version: number; members: { host: string }[] }
  }
  await member.db('admin').command({
    replSetReconfig: { ...config, version: config.version + 1, members: config.members.slice(0, 2) },
  })
  while ((await listed()) !== `rs0/${hosts.slice(0, 2).join(',')}`);
  t.equal((await cluster.addShard()).members?.length, 3)
  t.equal((await cluster.addShard({ members: 1 })).members, undefined)
  await admin.command({ enableSharding: 'shop', primaryShard: 'shard01' })
  await admin.command({ shardCollection: 'shop.rows', key: { _id: 'hashed' } })
  await client
    .db('shop')
    .collection('rows')
    .insertMany(Array.from({ length: 100 }, (_, x) => ({ x })))
  t.match(await admin.command({ removeShard: 'rs0' }), { state: 'started' })
  await cluster.balancer.settle()
  t.match(await admin.command({ removeShard: 'rs0' }), { state: 'completed' })
  t.equal(await client.db('shop').collection('rows').countDocuments(), 100)
})

t.test('a set with too many arbiters becomes a shard once a default write concern is set', async (t) => {
  const psa = [{}, {}, { arbiterOnly: true }]
  const { cluster, client } = await start(t, { shards: 1, standby: ['rs0'], sets: { rs0: psa } })
  const admin = client.db('admin')
  await t.rejects(admin.command({ addShard: cluster.standby[0]!.host }), {
    code: 96,
    message: /implicit default write concern on this shard is set to \{w : 1\}/,
  })
  await admin.command({ setDefaultRWConcern: 1, defaultWriteConcern: { w: 'majority' } })
  t.match(await admin.command({ addShard: cluster.standby[0]!.host }), { shardAdded: 'rs0' })
})

for (const emulate of ['4.4', '7.0', '8.0'] as const)
  t.test(`hello of ${emulate} shows the default write concern of each kind of member`, async (t) => {
    const { cluster, client } = await start(t, { emulate, shards: 1, standby: ['rs0'] })
    const clients = {
      config: await connect(t, cluster.config!.uri),
      shard: await connect(t, cluster.shards[0]!.uri),
      standby: await connect(t, cluster.standby[0]!.uri),
    }
    const shown = async (member: MongoClient): Promise<unknown> => {
      const { cwwc = null, isImplicitDefaultMajorityWC = null } = await member.db('admin').command({ hello: 1 })
      const { repl } = await member.db('admin').command({ serverStatus: 1 })
      t.strictSame(repl.cwwc ?? null, cwwc)
      return [isImplicitDefaultMajorityWC, cwwc]
    }
    const all = async (): Promise<unknown> => ({
      config: await shown(clients.config),
      shard: await shown(clients.shard),
      standby: await shown(clients.standby),
    })
    const none = [null, null]
    const noDefault = emulate === '4.4' ? none : [true, null]
    const configNoDefault = emulate === '8.0' ? [true, null] : none
    t.strictSame(await all(), { config: configNoDefault, shard: noDefault, standby: noDefault })

    // As left by setDefaultRWConcern before the members of a set had the role of shards.
    const write = { w: 1, wtimeout: 0 }
    await clients.standby
      .db('config')
      .collection<{ _id: string }>('settings')
      .insertOne({ _id: 'ReadWriteConcernDefaults', defaultWriteConcern: write } as { _id: string })
    const standby = emulate === '4.4' ? none : [true, write]
    t.strictSame(await all(), { config: configNoDefault, shard: noDefault, standby })
    const admin = client.db('admin')
    const { host } = cluster.standby[0]!
    if (emulate !== '4.4')
      await t.rejects(admin.command({ addShard: host }), { code: 96, message: /is set on the shard and not set/ })
    await admin.command({ setDefaultRWConcern: 1, defaultWriteConcern: { w: 'majority' } })
    const config = emulate === '8.0' ? [true, { w: 'majority', wtimeout: 0 }] : none
    t.strictSame(await all(), { config, shard: noDefault, standby })
    if (emulate !== '4.4')
      await t.rejects(admin.command({ addShard: host }), {
        code: 96,
        message: /doesn't match the one set on the cluster/,
      })
    await admin.command({ setDefaultRWConcern: 1, defaultWriteConcern: { w: 1 } })
    t.match(await admin.command({ addShard: host }), { shardAdded: 'rs0' })
  })

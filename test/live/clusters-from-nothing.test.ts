import { ShardedCluster, type EmulatedVersion } from '@shardlab/cluster'
import { MongoClient, type Db, type Document } from 'mongodb'
import t from 'tap'
import { connected, type Connected } from '../support/connected.js'
import { areSets } from '../support/members.js'

async function refusal(db: Db, command: Document): Promise<Document | null> {
  return db.command(command).then(
    () => null,
    (error: unknown) => ({ ...(error as Document), message: (error as Error).message }),
  )
}

const connect = (standby: readonly string[], emulate: EmulatedVersion = '7.0', shards = 0): Promise<Connected> =>
  connected({ shards, standby, emulate, seed: 5 })

/** As a shard stores it. */
function shardIdentity(shard: MongoClient): Promise<Document | null> {
  return shard.db('admin').collection<{ _id: string }>('system.version').findOne({ _id: 'shardIdentity' })
}

const versions = ['2.6', '4.0', '4.4', '5.0', '6.0', '7.0', '8.0'] as const
const legacyReason =
  "error creating initial database config information :: caused by :: can't find a shard to put new db on"
const notCreated = 'Database shop could not be created :: caused by :: '
const contexts = {
  '2.6': '',
  '4.0': 'Database shop not found :: caused by :: ',
  '4.4': notCreated,
  '5.0': notCreated,
  '6.0': notCreated,
  '7.0': notCreated,
  '8.0': notCreated,
}

t.test('a cluster without shards answers reads with nothing, and refuses writes and databases', async (t) => {
  for (const emulate of versions) {
    await using started = await connect([], emulate)
    const { client, admin, cluster } = started
    const shop = client.db('shop')
    t.same(cluster.shards, [])
    t.same(await shop.collection('orders').find().toArray(), [], `${emulate}: find`)
    t.same(
      await shop
        .collection('orders')
        .aggregate([{ $match: { a: 1 } }])
        .toArray(),
      [],
    )
    t.equal((await shop.command({ count: 'orders' }))['n'], 0)
    t.same((await shop.command({ distinct: 'orders', key: 'a' }))['values'], [])
    t.same((await admin.command({ listShards: 1 }))['shards'], [])
    const [code, reason] = emulate === '2.6' ? [10_185, legacyReason] : [70, 'No shards found']
    const implicit = `${contexts[emulate]}${reason}`
    const targeter = 'unable to initialize targeter for write op for collection shop.orders :: caused by :: '
    const written = emulate === '4.0' || emulate === '4.4' ? `${targeter}${implicit}` : implicit
    t.match(await refusal(admin, { enableSharding: 'shop' }), { code, message: reason }, `${emulate}: enableSharding`)
    t.match(await refusal(shop, { create: 'orders' }), { code, message: implicit }, `${emulate}: create`)
    const insert = { insert: 'orders', documents: [{ a: 1 }] }
    t.match(await refusal(shop, insert), { code, message: written }, `${emulate}: insert`)
    const change = { findAndModify: 'orders', query: {}, update: { $set: { a: 1 } }, upsert: true }
    t.match(await refusal(shop, change), { code, message: implicit }, `${emulate}: findAndModify`)
    const { databases } = await admin.command({ listDatabases: 1 })
    t.same(
      databases.filter(({ name }: Document) => !['admin', 'config'].includes(name)),
      [],
    )
  }
})

t.test('no command of a router without shards crashes a member', async (t) => {
  for (const emulate of ['4.0', '8.0'] as const) {
    await using started = await connect([], emulate)
    const { client, admin, cluster } = started
    const { commands } = await admin.command({ listCommands: 1 })
    const unexpected: unknown[] = []
    // Shutdown ends the router, as it should.
    for (const name of Object.keys(commands as Document).filter((each) => each !== 'shutdown')) {
      for (const [db, argument] of [
        ['shop', 'orders'],
        ['admin', 'shop.orders'],
        ['admin', 1],
      ] as const) {
        const failed = await refusal(client.db(db), { [name]: argument, cursor: {}, maxTimeMS: 2000 })
        if (failed?.['code'] === 1 || failed?.['code'] === 50) unexpected.push([name, db, argument, failed['message']])
      }
    }
    t.same(unexpected, [], emulate)
    t.same(
      cluster.members().filter(({ state }) => state !== 'running'),
      [],
    )
    t.same(
      (await admin.aggregate([{ $currentOp: {} }]).toArray()).filter((op) => 'shard' in op),
      [],
    )
  }
})

t.test(
  'an administrator adds a standby with the name of its set, or another one',
  { skip: areSets && 'about the address of the only member' },
  async (t) => {
    for (const emulate of ['4.0', '7.0', '8.0'] as const) {
      await using started = await connect(['rs0', 'rs1'], emulate)
      const { client, admin, cluster } = started
      const [rs0, rs1] = cluster.standby
      t.match(rs0, { id: 'rs0', host: /^rs0\/127\.0\.0\.1:\d+$/, uri: /^mongodb:\/\/127\.0\.0\.1:\d+\// })
      t.match(await admin.command({ addShard: rs0!.host }), { shardAdded: 'rs0' }, emulate)
      t.match(await admin.command({ addShard: rs1!.host, name: 'east' }), { shardAdded: 'east' })
      const { shards } = await admin.command({ listShards: 1 })
      t.match(shards, [
        { _id: 'east', host: rs1!.host, state: 1 },
        { _id: 'rs0', host: rs0!.host, state: 1 },
      ])
      t.match(await admin.command({ addShard: rs1!.host, name: 'east' }), { shardAdded: 'east' }, 'again is no change')
      t.match(await refusal(admin, { addShard: rs1!.host, name: 'west' }), {
        code: 20,
        message: "A shard already exists containing the replica set 'rs1'",
      })
      await admin.command({ enableSharding: 'shop', ...(emulate === '4.0' ? {} : { primaryShard: 'east' }) })
      await admin.command({ shardCollection: 'shop.orders', key: { customer: 1 } })
      const orders = client.db('shop').collection('orders')
      await orders.insertMany(Array.from({ length: 100 }, (_, i) => ({ customer: i })))
      await admin.command({ split: 'shop.orders', middle: { customer: 50 } })
      const first = (await client.db('shop').command({ explain: { find: 'orders', filter: { customer: 1 } } }))[
        'queryPlanner'
      ].winningPlan.shards[0].shardName as string
      const other = first === 'east' ? 'rs0' : 'east'
      await admin.command({ moveChunk: 'shop.orders', find: { customer: 60 }, to: other, _waitForDelete: true })
      t.equal(await orders.countDocuments(), 100, `${emulate}: documents on both shards`)
      const counts = await client
        .db('shop')
        .collection('orders')
        .aggregate([{ $collStats: { count: {} } }, { $project: { shard: 1, count: 1 } }])
        .toArray()
      t.same(
        counts.sort((a, b) => (a['shard'] < b['shard'] ? -1 : 1)),
        [
          { shard: 'east', count: 50 },
          { shard: 'rs0', count: 50 },
        ],
        'each shard reports its own id',
      )
      const direct = await MongoClient.connect(rs1!.uri)
      t.match(await direct.db('admin').command({ hello: 1 }), { setName: 'rs1' })
      t.match(await shardIdentity(direct), { shardName: 'east' })
      await direct.close()
      await cluster.crash('rs1')
      await cluster.restart('rs1')
      t.equal(await orders.countDocuments(), 100, 'after a restart of the named shard')
      await cluster.crash('config')
      await cluster.restart('config')
      await admin.command({ flushRouterConfig: 1 })
      t.equal(await orders.countDocuments(), 100, 'after a restart of the config server')
    }
  },
)

t.test('a standby is a replica set member for its clients before it joins', async (t) => {
  await using started = await connect(['rs0'], '7.0', 1)
  const { cluster, admin, client } = started
  const direct = await MongoClient.connect(cluster.standby[0]!.uri)
  t.match(await direct.db('admin').command({ hello: 1 }), { setName: 'rs0', isWritablePrimary: true })
  await direct.db('own').collection('c').insertOne({ a: 1 })
  await client.db('taken').collection('c').insertOne({ a: 1 })
  await direct.db('taken').collection('c').insertOne({ a: 1 })
  const { host } = cluster.standby[0]!
  t.match(await refusal(admin, { addShard: host }), {
    code: 96,
    message: `can't add shard '${host}' because a local database 'taken' exists in another shard01`,
  })
  await direct.db('taken').dropDatabase()
  t.match(await admin.command({ addShard: host }), { shardAdded: 'rs0' })
  t.match(await client.db('own').collection('c').findOne(), { a: 1 }, 'its databases join with it')
  await direct.close()
})

t.test(
  'D840: addShard refuses unknown hosts, and names of other members',
  { skip: areSets && 'about the address of the only member' },
  async (t) => {
    const standby = ['rs0', 'rs1']
    await using started = await connected({ shards: 0, standby, seed: 5, findReplicaSetHostTimeoutMs: 200 })
    const { cluster, admin } = started
    const [rs0, rs1] = cluster.standby
    const hostOf = (info: { host: string }) => info.host.split('/')[1]!
    const noPrimary = (set: string) => `Could not find host matching read preference { mode: "primary" } for set ${set}`
    const refused: [Document, number, string | RegExp][] = [
      [{ addShard: 'rs9/127.0.0.1:1' }, 133, noPrimary('rs9')],
      [{ addShard: 'rs0/127.0.0.1:1' }, 133, noPrimary('rs0')],
      [{ addShard: `rs9/${hostOf(rs0!)}` }, 133, noPrimary('rs9')],
      [
        { addShard: `rs0/${hostOf(rs0!)},${hostOf(rs1!)}` },
        96,
        /^in seed list rs0\/.* does not belong to replica set rs0; found /,
      ],
      [
        { addShard: hostOf(rs0!) },
        96,
        'host is part of set rs0; use replica set url format <setname>/<server1>,<server2>, ...',
      ],
      [{ addShard: '127.0.0.1:1' }, 96, /^failed to run command .* :: caused by :: HostUnreachable: /],
      [{ addShard: rs0!.host, name: '' }, 2, 'shard name cannot be empty'],
      [{ addShard: rs0!.host, name: 'config' }, 2, /is not allowed$/],
      [{ addShard: rs0!.host, name: 'mongos01' }, 115, /another member of this process is mongos01$/],
      [{ addShard: rs0!.host, name: 'rs1' }, 115, /another member of this process is rs1$/],
    ]
    // Together, because some wait for a primary.
    const refusals = await Promise.all(refused.map(([command]) => refusal(admin, command)))
    for (const [i, [command, code, message]] of refused.entries())
      t.match(refusals[i], { code, message }, JSON.stringify(command))
    t.same((await admin.command({ listShards: 1 }))['shards'], [], 'nothing was added')
    await admin.command({ addShard: rs0!.host, name: 'rs0' })
    t.match(await refusal(admin, { addShard: rs1!.host, name: 'rs0' }), {
      code: 20,
      message: 'A shard named rs0 already exists',
    })
  },
)

t.test('a removed shard keeps its identity, and joins again under the same name only', async (t) => {
  await using started = await connect(['rs0', 'rs1'])
  const { cluster, admin } = started
  const [rs0, rs1] = cluster.standby
  await admin.command({ addShard: rs0!.host })
  await admin.command({ addShard: rs1!.host, name: 'east' })
  t.match(await admin.command({ removeShard: 'east' }), { state: 'started' })
  t.match(await admin.command({ removeShard: 'east' }), { state: 'completed' })
  const direct = await MongoClient.connect(rs1!.uri)
  await direct.db('own').collection('c').insertOne({ a: 1 })
  t.match(await shardIdentity(direct), { shardName: 'east' })
  await direct.close()
  t.match(await refusal(admin, { addShard: rs1!.host, name: 'west' }), {
    code: 11_000,
    message: /dup key: \{ _id: "shardIdentity" \}$/,
  })
  t.match(await admin.command({ addShard: rs1!.host, name: 'east' }), { shardAdded: 'east' })
})

t.test('shards with other names than their sets work on threads, in copies and from files', async (t) => {
  const fill = async (cluster: ShardedCluster) => {
    const client = await MongoClient.connect(cluster.uri)
    await client.db('admin').command({ addShard: cluster.standby[0]!.host, name: 'east' })
    await client
      .db('shop')
      .collection('c')
      .insertMany([{ a: 1 }, { a: 2 }])
    await client.close()
  }
  const count = async (cluster: ShardedCluster) => {
    const client = await MongoClient.connect(cluster.uri)
    const n = await client.db('shop').collection('c').countDocuments()
    await client.close()
    return n
  }
  await using threads = await ShardedCluster.start({ shards: 0, standby: ['rs0'] })
  await fill(threads)
  t.equal(await count(threads), 2, 'threads')
  t.equal((await threads.addShard()).id, 'shard01', 'the API adds a shard next to it')
  await using inline = await ShardedCluster.start({ shards: 0, standby: ['rs0'], runtime: 'inline' })
  await fill(inline)
  await using fork = await inline.fork()
  t.equal(await count(fork), 2, 'a fork')
  t.match(fork.standby, [{ id: 'rs0' }])
  const path = `${t.testdir()}/named.snapshot`
  await (await inline.snapshot()).save(path)
  await using loaded = await ShardedCluster.start({ from: path })
  t.equal(await count(loaded), 2, 'from a file')
})

t.test('names of standby members are checked', async (t) => {
  for (const [standby, message] of [
    [['mongos01'], /reserved/],
    [['shards'], /reserved/],
    [['shard01'], /taken/],
    [['rs0', 'rs0'], /taken/],
    [['a/b'], /cannot be the name of a replica set/],
    [[''], /cannot be the name of a replica set/],
  ] as const)
    await t.rejects(ShardedCluster.start({ shards: 1, standby }), { message }, JSON.stringify(standby))
})

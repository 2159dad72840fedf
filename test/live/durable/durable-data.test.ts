/** Clusters with the option `dbPath`: what survives, and what is refused. */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { OptionError, ShardedCluster, type ClusterEvents, type ClusterOptions } from '@shardlab/cluster'
import { MongoClient } from 'mongodb'
import t, { type Test } from 'tap'
import { connected } from '../../support/connected.js'

async function newDirectory(test: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'shardlab-durable-'))
  test.teardown(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'data')
}

/** Starts a cluster, works with it and stops it. */
async function during<T>(options: ClusterOptions, work: (made: Awaited<ReturnType<typeof connected>>) => Promise<T>) {
  // Not the number of members that the fixture sets: the directory has its own.
  await using made = await connected({ ...options, members: options.members } as ClusterOptions)
  return await work(made)
}

const topologies: readonly ClusterOptions[] = [
  { shards: 2, members: 1 },
  { shards: 1, members: 3 },
  { topology: 'replica-set', members: 3 },
  { topology: 'standalone' },
]

for (const options of topologies)
  t.test(`${JSON.stringify(options)} continues with its data after a stop`, async (test) => {
    const dbPath = await newDirectory(test)
    const ids = await during({ ...options, dbPath }, async ({ cluster, client, admin }) => {
      const isSharded = cluster.config !== null
      if (isSharded) await admin.command({ shardCollection: 'shop.orders', key: { customer: 'hashed' } })
      const orders = client.db('shop').collection('orders')
      await orders.insertMany(Array.from({ length: 200 }, (_, customer) => ({ customer })))
      await orders.createIndex({ customer: 1, item: 1 }, { name: 'by item' })
      await orders.updateOne({ customer: 7 }, { $set: { item: 'lamp' } })
      await admin.command({ createUser: 'anna', pwd: 'secret', roles: ['root'] })
      return cluster
        .members()
        .filter(({ role }) => role !== 'balancer')
        .map(({ address }) => address)
    })
    for (let round = 0; round < 2; round++)
      await during({ dbPath }, async ({ cluster, client, admin }) => {
        test.same(
          cluster
            .members()
            .filter(({ role }) => role !== 'balancer')
            .map(({ address }) => address)
            .toSorted(),
          ids.toSorted(),
        )
        const orders = client.db('shop').collection('orders')
        test.equal(await orders.countDocuments(), 200 + round)
        test.equal((await orders.findOne({ customer: 7 }))!['item'], 'lamp')
        test.ok((await orders.indexes()).some(({ name }) => name === 'by item'))
        test.equal((await admin.command({ usersInfo: 'anna' }))['users'].length, 1)
        await orders.insertOne({ customer: 1000 + round })
      })
  })

t.test('options that contradict the directory are refused with both values', async (test) => {
  const dbPath = await newDirectory(test)
  await during({ dbPath, shards: 2, emulate: '6.0', chunkSize: '1MB' }, async () => {})
  const refused: readonly [ClusterOptions, RegExp][] = [
    [{ emulate: '8.0' }, /emulate is 8\.0, but .*data holds a cluster with 6\.0/],
    [{ shards: 3 }, /shards is 3, but .*data holds a cluster with 2/],
    [{ topology: 'standalone' }, /topology is standalone, but .*data holds a cluster with sharded/],
    [{ topology: 'replica-set', members: 5 }, /topology is replica-set, but .* with sharded/],
    [{ members: 3 }, /members is 3, but .* with 1/],
    [{ members: [{ priority: 5 }, {}] }, /members is \[\{"priority":5\},\{\}\], but .* with 1/],
    [{ chunkSize: '2MB' }, /chunkSize is 2 MB, but .* with 1 MB/],
  ]
  for (const [options, message] of refused)
    await test.rejects(ShardedCluster.start({ runtime: 'inline', dbPath, ...options }), message)
  await during({ dbPath, shards: 2, emulate: '6.0' }, async ({ admin }) =>
    test.match((await admin.command({ buildInfo: 1 }))['version'], /^6\.0/),
  )
})

t.test('a directory that cannot be used is refused in one sentence', async (test) => {
  const dbPath = await newDirectory(test)
  const start = (options: ClusterOptions) => ShardedCluster.start({ runtime: 'inline', ...options })
  await test.rejects(start({ dbPath: '' }), OptionError)
  const file = `${dbPath}.file`
  await writeFile(file, '')
  await test.rejects(start({ dbPath: file }), /\.file is not a directory: choose another path/)
  await test.rejects(start({ dbPath, clock: 'manual' }), /dbPath needs clock: 'real'/)
  await during({ dbPath }, async ({ cluster }) => {
    await test.rejects(start({ dbPath }), /data is in use by process \d+: stop it first/)
    await test.rejects(cluster.snapshot(), /a cluster with dbPath cannot be copied/)
  })
  await test.rejects(start({ dbPath: join(dbPath, 'members') }), /has no cluster\.json, and other files such as/)
  const manifest = join(dbPath, 'cluster.json')
  const text = await readFile(manifest, 'utf8')
  await writeFile(manifest, text.replace('"7.0"', '"8.0"'))
  await test.rejects(start({ dbPath }), /cluster\.json is damaged: the checksum is wrong/)
})

t.test('the lock of a process that was killed is taken over', async (test) => {
  const dbPath = await newDirectory(test)
  await during({ dbPath, shards: 1 }, async () => {})
  const { ino: inode } = await stat(dbPath)
  const lockedBy = (holder: object) =>
    writeFile(
      join(dbPath, 'lock'),
      `${JSON.stringify({ startedAt: null, host: hostname(), namespace: null, inode, ...holder })}\n`,
    )
  await lockedBy({ pid: 2 ** 22 + 1 })
  await during({ dbPath }, async () => {})
  await writeFile(join(dbPath, 'lock'), '')
  await during({ dbPath }, async () => {})
  await lockedBy({ pid: process.ppid })
  await test.rejects(ShardedCluster.start({ dbPath }), new RegExp(`in use by process ${process.ppid}: stop it first`))
  await lockedBy({ pid: 1, host: 'elsewhere' })
  await test.rejects(
    ShardedCluster.start({ dbPath }),
    /in use by process 1 on elsewhere: stop it first, or delete .*lock/,
  )
})

t.test('a damaged file is named, and the cluster does not start', async (test) => {
  const dbPath = await newDirectory(test)
  await during({ dbPath, shards: 1 }, async ({ client }) => {
    for (let i = 0; i < 5; i++) await client.db('app').collection('a').insertOne({ i })
  })
  const log = join(dbPath, 'members/shard01/log-00000001')
  const good = await readFile(log)
  const bad = Buffer.from(good)
  bad[good.indexOf('app.a') + 1] = 0
  await writeFile(log, bad)
  await test.rejects(ShardedCluster.start({ runtime: 'inline', dbPath }), {
    name: 'OptionError',
    message: /shard01\/log-00000001 is damaged at byte \d+: a record has a wrong checksum/,
  })
  await writeFile(log, good)
  await during({ dbPath }, async ({ client }) => test.equal(await client.db('app').collection('a').countDocuments(), 5))
})

t.test('a write that a crash has torn is dropped, and an event names it', async (test) => {
  const dbPath = await newDirectory(test)
  await during({ dbPath, shards: 1 }, async ({ client }) => void (await client.db('app').collection('a').insertOne({})))
  const folder = join(dbPath, 'members/shard01')
  await rm(join(folder, 'closed'))
  const log = join(folder, 'log-00000001')
  const bytes = await readFile(log)
  // The last frame: the shutdown writes nothing after it.
  const last = bytes.lastIndexOf(Buffer.from([0xf7, 0x46, 0x52, 0x4d]))
  bytes[last + 30] = bytes[last + 30]! ^ 1
  await writeFile(log, bytes)
  const cluster = await ShardedCluster.start({ runtime: 'inline', dbPath })
  test.teardown(() => cluster.stop())
  const event = await new Promise<ClusterEvents['log'][0]>((resolve) => cluster.once('log', resolve))
  test.equal(event.member, 'shard01')
  test.match(
    event.message,
    new RegExp(`log-00000001 ends with a write that was not completed: .* from byte ${last} on`),
  )
})

for (const runtime of ['inline', 'threads'] as const)
  t.test(`${runtime}: a member that crashes continues on its files`, async (test) => {
    const dbPath = await newDirectory(test)
    await during({ dbPath, shards: 2, runtime }, async ({ cluster, client }) => {
      const a = client.db('app').collection('a')
      for (let i = 0; i < 4; i++) {
        await a.insertMany(Array.from({ length: 20 }, () => ({ i })))
        for (const member of ['shard01', 'shard02', 'config']) {
          await cluster.crash(member)
          await cluster.restart(member)
        }
        test.equal(await a.countDocuments(), 20 * (i + 1))
      }
    })
    await during({ dbPath, runtime }, async ({ client }) =>
      test.equal(await client.db('app').collection('a').countDocuments(), 80),
    )
  })

t.test('shards and members that were added are there after a restart, and removed ones are not', async (test) => {
  const dbPath = await newDirectory(test)
  await during({ dbPath, shards: 1, members: [{}, {}] }, async ({ cluster }) => {
    await cluster.addShard()
    const { host } = await cluster.addMember('shard01')
    const primary = await MongoClient.connect(cluster.shards[0]!.uri)
    const { config } = await primary.db('admin').command({ replSetGetConfig: 1 })
    const members = [...config.members, { _id: 9, host, priority: 0, votes: 0 }]
    await primary.db('admin').command({ replSetReconfig: { ...config, version: config.version + 1, members } })
    await cluster.addMember('config')
    await cluster.removeMember('config-3')
    await primary.close()
  })
  await during({ dbPath }, async ({ cluster, client }) => {
    test.same(
      cluster.shards.map(({ id }) => id),
      ['shard01', 'shard02'],
    )
    test.equal(cluster.shards[0]!.members!.length, 3)
    test.notOk(cluster.members().some(({ address }) => address === 'config-3'))
    await client
      .db('app')
      .collection('a')
      .insertOne({}, { writeConcern: { w: 'majority' } })
  })
  test.notOk((await readdir(join(dbPath, 'members'))).includes('config-3'))
})

t.test('a directory of another version of the format is refused', async (test) => {
  const dbPath = await newDirectory(test)
  await during({ dbPath, shards: 1 }, async () => {})
  const { crc32 } = await import('node:zlib')
  const line = (await readFile(join(dbPath, 'cluster.json'), 'utf8'))
    .split('\n')[0]!
    .replace('"format":2', '"format":9')
  await writeFile(join(dbPath, 'cluster.json'), `${line}\n${crc32(`${line}\n`).toString(16).padStart(8, '0')}\n`)
  await test.rejects(ShardedCluster.start({ dbPath }), /has version 9 of the format, and this Shardlab reads version 2/)
})

/** Members that join and leave the sets of a running cluster: API, command line, control port. */
import { createSimulatedCluster, ShardedCluster, type ClusterOptions } from '@shardlab/cluster'
import { MongoClient, type Db } from 'mongodb'
import t, { type Test } from 'tap'
import { shardlab, up } from '../support/up.js'

interface Config {
  readonly version: number
  readonly members: readonly { readonly _id: number; readonly host: string }[]
}

const isLong = process.env['SHARDLAB_LONG'] === '1'

async function start(t: Test, options: ClusterOptions): Promise<ShardedCluster> {
  const cluster = await ShardedCluster.start({ runtime: 'inline', seed: 1, ...options })
  t.teardown(() => cluster.stop())
  return cluster
}

async function connect(t: Test, uri: string): Promise<MongoClient> {
  const client = await MongoClient.connect(uri)
  t.teardown(() => client.close())
  return client
}

const configOf = async (admin: Db): Promise<Config> =>
  (await admin.command({ replSetGetConfig: 1 }))['config'] as Config

async function add(admin: Db, host: string): Promise<void> {
  const { members, version, ...config } = await configOf(admin)
  const added = [...members, { _id: members.length, host }]
  await admin.command({ replSetReconfig: { ...config, version: version + 1, members: added } })
}

async function remove(admin: Db, host: string): Promise<void> {
  for (;;) {
    const { members, version, ...config } = await configOf(admin)
    const kept = members.filter((member) => member.host !== host)
    // The primary may change it once more when it counts a new member's vote.
    const command = { replSetReconfig: { ...config, version: version + 1, members: kept } }
    if (await admin.command(command).then(Boolean, ({ code }: { code: number }) => code !== 103)) return
  }
}

t.test('a member that has left its set is forgotten, and its name is free', async (t) => {
  const cluster = await start(t, { topology: 'replica-set', members: 3 })
  const client = await connect(t, cluster.uri)
  const admin = client.db('admin')
  const rows = client.db('shop').collection<{ _id: number }>('rows')
  const { host } = await cluster.addMember('rs0')
  await add(admin, host)
  await rows.insertOne({ _id: 1 }, { writeConcern: { w: 4 } })
  await t.rejects(cluster.removeMember('rs0-4'), {
    name: 'OptionError',
    message: `cannot remove rs0-4: the configuration of rs0 has ${host}; run rs.remove('${host}') on the primary first.`,
  })
  await remove(admin, host)
  await cluster.faults.apply('delay replication of rs0-4 by 1h')
  await cluster.faults.apply('crash rs0-4')
  await cluster.removeMember('rs0-4')
  t.strictSame(cluster.faults.list(), [], 'its faults are over')
  t.notMatch(cluster.uri, new RegExp(host))
  t.strictSame(
    cluster.set!.members.map(({ id }) => id),
    ['rs0-1', 'rs0-2', 'rs0-3'],
  )
  await t.rejects(cluster.restart('rs0-4'), { name: 'OptionError' })
  await t.rejects(MongoClient.connect(`mongodb://${host}/?serverSelectionTimeoutMS=200&directConnection=true`))
  const again = await cluster.addMember('rs0')
  t.equal(again.id, 'rs0-4')
  await add(admin, again.host)
  await rows.insertOne({ _id: 2 }, { writeConcern: { w: 4 } })
  t.strictSame(await (await connect(t, again.uri)).db('shop').collection('rows').find().toArray(), [
    { _id: 1 },
    { _id: 2 },
  ])
})

t.test('faults of links and steps end with the last member that they name', async (t) => {
  await using cluster = await createSimulatedCluster({ shards: 1, members: 3, seed: 5 })
  const { faults } = cluster
  const { id } = await cluster.addMember('shard01')
  const ended = [
    'partition shard01-4 from shard01-1',
    'delay from members to shard01-4 by 5ms',
    'drop 5% between shard01-4 and clients',
    'at 1h crash shard01-4',
    'at 1h partition shard01-4 from routers',
    'hold at shard.migration.committing on shard01-4',
  ]
  for (const fault of ended) await faults.apply(fault)
  const lasting = [
    'partition the secondaries of config from the primary of config',
    'hold at shard.migration.committing on shard01',
    'partition shard01 from routers',
    'delay between everybody and shard01-2 by 5ms',
  ]
  for (const fault of lasting) await faults.apply(fault)
  const healed: string[] = []
  cluster.onEvent((event) => event.type === 'fault-healed' && healed.push(event.fault))
  await cluster.removeMember(id)
  const texts = faults.list().map(({ fault }) => fault)
  t.equal(texts.length, lasting.length, texts.join('; '))
  t.match(texts, lasting)
  t.equal(healed.length, 4, 'those that had begun')
  t.notOk(faults.list().some(({ members }) => members.includes(id)))
  t.strictSame(faults.list()[2]!.members, ['shard01-1', 'shard01-2', 'shard01-3'])
  await faults.heal()
})

t.test('a wrong removal is one sentence and changes nothing', async (t) => {
  const cluster = await start(t, { shards: 1, members: 3, sets: { config: 1 } })
  const before = cluster.members()
  const refused = async (member: string, message: RegExp | string) =>
    t.rejects(cluster.removeMember(member), { name: 'OptionError', message }, member)
  await refused('shard01', /^shard01 is not a member of this cluster; its members are /)
  await refused('mongos01', 'cannot remove mongos01: it is not one of several members of a set.')
  await refused('config', 'cannot remove config: it is not one of several members of a set.')
  await refused('shard01-2', /^cannot remove shard01-2: the configuration of shard01 has /)
  await refused('shard1-2', /^cannot remove shard01-2: the configuration of shard01 has /)
  await cluster.crash('shard01-2')
  await cluster.crash('shard01-3')
  await refused(
    'shard01-1',
    'cannot remove shard01-1: no other member of shard01 runs and knows its configuration; restart one first.',
  )
  await cluster.restart('shard01')
  t.match(
    cluster.members(),
    before.map(({ address }) => ({ address, state: 'running' })),
  )
  await cluster.stop()
  await t.rejects(cluster.removeMember('shard01-1'), /the cluster has been stopped/)
})

t.test('a primary that is down leaves its set, which forgets it', async (t) => {
  const cluster = await start(t, { topology: 'replica-set', members: 3 })
  const elected = new Promise((resolve) => cluster.on('election', ({ outcome }) => outcome === 'won' && resolve(null)))
  const { uri } = cluster
  const host = new URL(cluster.set!.members[0]!.uri).host
  await cluster.crash('rs0-1')
  await elected
  const client = await connect(t, uri)
  await remove(client.db('admin'), host)
  await cluster.removeMember('rs0-1')
  await client
    .db('shop')
    .collection('rows')
    .insertOne({}, { writeConcern: { w: 2 } })
  t.strictSame(
    cluster.members().map(({ address }) => address),
    ['rs0-2', 'rs0-3'],
  )
})

t.test('the command line adds and removes members of threads and of one thread', { timeout: 60_000 }, async (t) => {
  for (const runtime of isLong ? (['inline', 'threads'] as const) : (['threads'] as const)) {
    const cluster = await start(t, { runtime, topology: 'replica-set', members: 3 })
    const uri = cluster.set!.members[0]!.uri
    const admin = (await connect(t, cluster.uri)).db('admin')
    const member = (...args: string[]) => shardlab('member', ...args, '--uri', uri)
    t.match(await member('add', 'rs0'), {
      code: 0,
      stdout:
        /^Started rs0-4 {2}mongodb:\/\/127\.0\.0\.1:\d+\/\?directConnection=true\nRun rs\.add\('127\.0\.0\.1:\d+'\) on the primary of rs0\.\n$/,
      stderr: '',
    })
    const host = cluster.members().find(({ address }) => address === 'rs0-4')!.endpoint
    await add(admin, host)
    t.match(await member('remove', 'rs0-4'), {
      code: 2,
      stdout: '',
      stderr: /^shardlab: cannot remove rs0-4: the conf.*\n$/,
    })
    await remove(admin, host)
    t.match(await member('remove', 'rs0-4', '--json'), { code: 0, stdout: '{"removed":"rs0-4","ok":1}\n' })
    t.match(await member('add', 'rs9'), {
      code: 2,
      stderr: /^shardlab: cannot add a member: rs9 is not a set .*rs0.*\n$/,
    })
    t.match(await member('remove', 'rs0-9'), { code: 2, stderr: /^shardlab: rs0-9 is not a member .*\n$/ })
    t.match(await member('remove', 'rs0-1'), {
      code: 2,
      stderr: /^shardlab: cannot remove rs0-1 by its own reply: .*\n$/,
    })
    t.equal(cluster.members().length, 3)
    await cluster.stop()
  }
})

t.test('the control port adds and removes members', { timeout: 60_000 }, async (t) => {
  const started = await up('--port', '0', '--topology', 'replica-set', '--members', '3', '--control-port', '0')
  t.teardown(() => started.stop())
  const main = `${(started.ready as unknown as { control: string }).control}/clusters/main`
  const call = async (path: string, method: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${main}/${path}`, { method, body: body === undefined ? null : JSON.stringify(body) })
    return [response.status, await response.json()]
  }
  t.match(await call('members', 'POST', { set: 'rs0' }), [200, { id: 'rs0-4', host: /^127\.0\.0\.1:\d+$/ }])
  t.match(await call('members', 'POST', {}), [400, { error: 'addMember: set is missing: send { "set": "shard02" }.' }])
  t.match(await call('members/rs0-3', 'DELETE'), [
    400,
    { error: /^cannot remove rs0-3: the configuration of rs0 has / },
  ])
  t.strictSame(await call('members/rs0-4', 'DELETE'), [200, {}])
  t.match(await call('members/rs0-4', 'DELETE'), [400, { error: /^rs0-4 is not a member of this cluster/ }])
})

t.test('members of a simulated set join and leave, and equal seeds give equal runs', async (t) => {
  const run = async (): Promise<string> => {
    await using cluster = await createSimulatedCluster({ shards: 1, members: 3, seed: 5 })
    const { id } = await cluster.addMember('shard01')
    t.equal(id, 'shard01-4')
    await t.rejects(cluster.removeMember('shard01-2'), { message: /^cannot remove shard01-2: the configuration / })
    await cluster.removeMember(id)
    t.strictSame(cluster.membersOf('shard01'), ['shard01-1', 'shard01-2', 'shard01-3'])
    await cluster.advance(10_000)
    return cluster.traceHash()
  }
  t.equal(await run(), await run())
})

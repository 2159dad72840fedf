/** Faults with an unchanged driver, and the command line that applies them to a running cluster. */
import { MongoClient } from 'mongodb'
import { ShardedCluster, type FaultAppliedEvent } from 'shardlab'
import t from 'tap'
import { shardlab } from '../support/up.js'

for (const runtime of ['inline', 'threads'] as const) {
  t.test(`a test waits until a migration is held at a step (${runtime})`, async (t) => {
    await using cluster = await ShardedCluster.start({ shards: 2, runtime })
    await using client = await MongoClient.connect(cluster.uri)
    const struck: unknown[] = []
    cluster.on('fault-struck', ({ id, fault, member, step }) => struck.push({ id, fault, member, step }))
    const admin = client.db('admin')
    await admin.command({ enableSharding: 'app', primaryShard: 'shard01' })
    await admin.command({ shardCollection: 'app.c', key: { x: 1 } })
    const step = 'shard.migration.caught-up'
    const { id } = await cluster.faults.apply(`hold at ${step}`)
    const reached = cluster.faults.reached(id)
    let isMoved = false
    const moving = admin.command({ moveChunk: 'app.c', find: { x: 1 }, to: 'shard02' }).then(() => (isMoved = true))
    t.same(await reached, { member: 'shard01', step })
    t.same(await cluster.faults.reached(id), { member: 'shard01', step }, 'at once, when it was reached before')
    t.notOk(isMoved)
    await cluster.faults.heal(id)
    await moving
    t.same(struck, [{ id, fault: `hold at ${step}`, member: 'shard01', step }])
    const never = await cluster.faults.apply(`fail at ${step}`)
    const unreached = t.rejects(cluster.faults.reached(never.id), { name: 'OptionError', message: /was healed/ })
    await cluster.faults.heal()
    await unreached
    const slow = await cluster.faults.apply('slow shard02 by 2x')
    await t.rejects(cluster.faults.reached(slow.id), { name: 'OptionError', message: /is not at a step/ })
    await t.rejects(cluster.faults.reached('nothing'), { name: 'OptionError', message: /there is no fault nothing/ })
  })
}

for (const runtime of ['inline', 'threads'] as const) {
  t.test(`the only router answers before a fault silences it (${runtime})`, async (t) => {
    await using cluster = await ShardedCluster.start({ shards: 1, runtime })
    for (const fault of [
      'restart mongos01',
      'crash mongos01 for 50ms',
      'stop mongos01 for 50ms',
      'pause mongos01 for 50ms',
    ])
      for (let i = 0; i < 3; i++) {
        const begun = new Promise((resolve) => void cluster.once('fault-applied', resolve))
        const healed = new Promise((resolve) => void cluster.once('fault-healed', resolve))
        await using client = await MongoClient.connect(cluster.uri, { retryReads: false, retryWrites: false })
        t.match(await client.db('admin').command({ shardlab: 'apply', fault }), { ok: 1, id: /^[2-9a-z]{8}$/ }, fault)
        t.match(await begun, { members: ['mongos01'] })
        await healed
      }
    await t.rejects(cluster.faults.apply('pause shard09'), { name: 'OptionError' })
    t.same(cluster.faults.list(), [])
  })
}

t.test('a driver survives faults, and the command line applies, lists and heals them', async (t) => {
  const cluster = await ShardedCluster.start({
    shards: 2,
    runtime: 'inline',
    seed: 3,
    findReplicaSetHostTimeoutMs: 200,
  })
  const client = await MongoClient.connect(cluster.uri)
  t.teardown(async () => {
    await client.close()
    await cluster.stop()
  })
  const things = client.db('app').collection<{ _id: number }>('things')
  await things.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3 }])
  const fault = (...args: string[]) => shardlab('fault', '--uri', cluster.uri, ...args)

  await t.test('a driver retries when one reply is lost', async (t) => {
    await cluster.faults.apply('cut replies of mongos01 to clients only client.command first 1')
    t.same(await things.findOne({ _id: 1 }), { _id: 1 }, 'a retryable read')
    await cluster.faults.apply('drop from mongos01 to clients only client.command first 1')
    t.match(await things.insertOne({ _id: 4 }), { acknowledged: true }, 'a retryable write')
    t.equal(await things.countDocuments({ _id: 4 }), 1, 'the retry did not write again')
    t.match(cluster.faults.list(), [{ state: 'exhausted' }, { state: 'exhausted', strikes: 1 }])
    await cluster.faults.heal()
  })

  await t.test('a driver sees no error when a shard steps down', async (t) => {
    const primary = (await client
      .db('config')
      .collection<{ _id: string; primary: string }>('databases')
      .findOne({ _id: 'app' }))!.primary
    await cluster.faults.apply(`step down ${primary} for 100ms`)
    t.match(await things.insertOne({ _id: 5 }), { acknowledged: true }, 'the router waits for the election')
    t.same(cluster.faults.list(), [])
  })

  await t.test('the command line applies, lists and heals, and refuses wrong input with exit code 2', async (t) => {
    const applied: FaultAppliedEvent[] = []
    cluster.on('fault-applied', (event) => applied.push(event))
    t.match(await fault('crash shard02 for 1h'), { code: 0, stdout: /^Fault [2-9a-z]{8}\n$/, stderr: '' })
    t.match(applied, [{ fault: 'crash shard02 for 1h', members: ['shard02'] }])
    const { id } = applied[0]!
    t.match(
      (await fault('--list')).stdout,
      new RegExp(`^${id}  crash shard02 for 1h, since \\S+, heals itself \\S+\\n$`),
    )
    t.match(JSON.parse((await fault('--list', '--json')).stdout), {
      faults: [{ id, state: 'active' }],
      ok: 1,
    })
    t.equal((await fault('--heal', id)).stdout, `Healed ${id}\n`)
    t.equal((await fault('--heal')).stdout, 'There were no faults.\n')
    t.equal(cluster.members().find(({ address }) => address === 'shard02')!.state, 'running')
    const wrong: readonly (readonly [string[], RegExp])[] = [
      [['crash shard09'], /^shardlab: shard09 is not a member of this cluster; its members are /],
      [['crach shard02'], /did you mean .crash shard02.\?/],
      [['--heal', '99'], /there is no fault 99; nothing is broken\./],
      [['--heal', 'all'], /there is no fault all; nothing is broken\./],
      [[], /give one of these: a fault such as 'crash shard02 for 5s', --list, --heal, or --reached/],
      [['crash shard02', '--list'], /give one of these/],
    ]
    for (const [args, message] of wrong) {
      const { code, stdout, stderr } = await fault(...args)
      t.equal(code, 2, args.join(' '))
      t.match(stderr, message)
      t.equal(stdout, '')
    }
  })
})

t.test('the command line breaks a replica set through its members, each fault once', async (t) => {
  await using cluster = await ShardedCluster.start({ topology: 'replica-set', members: 3, runtime: 'inline', seed: 3 })
  const fault = (...args: string[]) => shardlab('fault', '--uri', cluster.uri, ...args)
  const applied: FaultAppliedEvent[] = []
  cluster.on('fault-applied', (event) => applied.push(event))
  for (const text of ['crash the primary of rs0', 'step down the primary of rs0 for 1m', 'pause the primary of rs0'])
    t.match(await fault(text), { code: 0, stdout: /^Fault [2-9a-z]{8}\n$/, stderr: '' }, text)
  t.equal(applied.length, 3)
  t.same(applied[0]!.members, ['rs0-1'])
  const down = cluster.members().filter(({ state }) => state !== 'running')
  t.same(
    down.map(({ address }) => address),
    ['rs0-1'],
  )
  t.match((await fault('--list')).stdout, /crash the primary of rs0, on rs0-1, since /)
  t.match(await fault('--heal'), { code: 0 })
  t.match(await shardlab('rollback-files', '--uri', cluster.uri), { code: 0, stdout: /^(No rollback|rs0-)/ })
})

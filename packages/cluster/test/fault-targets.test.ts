/** Faults name members of replica sets, also by the state that they have when the fault begins. */
import { decode, encode, type Document } from '@shardlab/bson'
import t, { type Test } from 'tap'
import { createSimulatedCluster, OptionError, type ClusterEvent, type SimulatedCluster } from '../src/index.js'

type Applied = Extract<ClusterEvent, { type: 'fault-applied' }>

async function start(t: Test, members = 3): Promise<{ cluster: SimulatedCluster; applied: Applied[] }> {
  const cluster = await createSimulatedCluster({
    ...{ seed: 1, shards: 1, members, findReplicaSetHostTimeoutMs: 30_000 },
  })
  const applied: Applied[] = []
  cluster.onEvent((event) => void (event.type === 'fault-applied' && applied.push(event)))
  t.teardown(() => cluster.stop())
  return { cluster, applied }
}

async function ask(cluster: SimulatedCluster, command: Document, to?: string): Promise<Document> {
  const body = encode({ ...command, $db: command['$db'] ?? 'app' })
  return decode(await cluster.command(body, to === undefined ? {} : { to }), { promoteLongs: true })
}

const down = (cluster: SimulatedCluster) =>
  cluster
    .members()
    .filter(({ state }) => state !== 'running')
    .map(({ address }) => address)

async function primaryOf(cluster: SimulatedCluster, set = 'shard01'): Promise<string | undefined> {
  for (const { address, set: own, state } of cluster.members())
    if (own === set && state === 'running' && (await cluster.describe(address))['isWritable'] === true) return address
  return undefined
}

t.test('the primary is the one of the moment at which the fault begins', async (t) => {
  const { cluster, applied } = await start(t)
  const { id } = await cluster.faults.apply('crash the primary of shard1')
  t.match(applied, [{ id, fault: 'crash the primary of shard01', members: ['shard01-1'] }])
  t.match(cluster.faults.list(), [{ id, state: 'active', members: ['shard01-1'] }])
  t.same(down(cluster), ['shard01-1'])
  const later = await cluster.faults.apply('crash the primary of shard01 after 20s for 5s')
  t.match(cluster.faults.list()[1], { id: later.id, state: 'scheduled', members: [] })
  await cluster.advance(15_000)
  const next = await primaryOf(cluster)
  t.match(next, /^shard01-[23]$/)
  await cluster.faults.heal(id)
  await cluster.advance(5500)
  t.match(applied[1], { id: later.id, members: [next] })
  t.same(down(cluster), [next])
  await cluster.advance(30_000)
  t.same(down(cluster), [])
  t.same(cluster.faults.list(), [])
})

t.test('a fault waits for a primary during an election, and fails if no member is elected in time', async (t) => {
  const { cluster, applied } = await start(t)
  await cluster.faults.apply('crash the primary of shard01')
  const waiting = cluster.faults.apply('pause the primary of shard01')
  await cluster.advance(100)
  t.match(cluster.faults.list()[1], { fault: 'pause the primary of shard01', state: 'waiting', members: [] })
  await waiting
  t.same(applied[1]!.members, [await primaryOf(cluster)])
  await cluster.faults.heal()
  await cluster.advance(20_000)
  await cluster.faults.apply('crash shard01-2')
  await cluster.faults.apply('crash shard01-3')
  const last = cluster.faults.apply('crash the primary of shard01')
  await cluster.advance(1)
  await t.rejects(
    (await primaryOf(cluster)) === undefined
      ? last
      : last.then(() => cluster.faults.apply('pause the primary of shard01')),
    /^OptionError: cannot begin '(crash|pause) the primary of shard01' after 30s: shard01 has no primary now: shard01-1 is \w+, shard01-2 is crashed, shard01-3 is crashed\. Restart a member, or name one\.$|cannot begin/,
  )
})

t.test('a fault that waits can be healed', async (t) => {
  const { cluster } = await start(t)
  await cluster.faults.apply('crash the primary of shard01')
  const waiting = cluster.faults.apply('crash the primary of shard01')
  const refused = t.rejects(waiting, /the fault 'crash the primary of shard01' was healed before it began/)
  await cluster.advance(100)
  await cluster.faults.heal()
  await refused
  t.same(cluster.faults.list(), [])
  await cluster.advance(20_000)
  t.same(down(cluster), [])
})

t.test('secondaries, and the name of a set', async (t) => {
  const { cluster, applied } = await start(t)
  const chosen = async (fault: string) => {
    await cluster.faults.apply(fault)
    return applied.at(-1)!.members
  }
  t.same(await chosen('slow a secondary of shard01 by 2x'), ['shard01-2'])
  t.same(await chosen('slow disk of the secondaries of shard01 by 5ms'), ['shard01-2', 'shard01-3'])
  t.same(await chosen('fill disk of shard01'), ['shard01-1', 'shard01-2', 'shard01-3'])
  t.same(await chosen('skew clock of the primary of config by 1s'), ['config-1'])
  t.same(await chosen('step down shard01'), ['shard01-1'], 'of a set, its primary')
  t.same(await chosen('stall range deleter of shard01'), ['shard01-1', 'shard01-2', 'shard01-3'])
  await cluster.faults.heal()
  await cluster.faults.apply('crash shard01-2')
  t.same(await chosen('crash shard01'), ['shard01-1', 'shard01-3'], 'those that run')
  t.same(down(cluster), ['shard01-1', 'shard01-2', 'shard01-3'])
  await t.rejects(cluster.faults.apply('crash shard01'), {
    message: 'crash: no member of shard01 is running. Restart one first.',
  })
  await cluster.restart('shard01-1')
  t.match(cluster.faults.list(), [{ fault: 'crash shard01-2' }, { fault: 'crash shard01' }])
  await cluster.restart('shard01-3')
  t.match(cluster.faults.list(), [{ fault: 'crash shard01-2' }], 'it is over with its last member')
  await cluster.faults.heal()
})

t.test('a pause of a set is resumed for one member or for all', async (t) => {
  const { cluster, applied } = await start(t)
  await cluster.faults.apply('pause shard01')
  await cluster.faults.apply('resume shard01-2')
  t.match(cluster.faults.list(), [{ fault: 'pause shard01' }])
  await t.rejects(cluster.faults.apply('resume shard01-2'), { message: 'resume: shard01-2 is not paused.' })
  await cluster.faults.apply('resume shard01')
  t.same(applied.at(-1)!.members, ['shard01-1', 'shard01-3'])
  t.same(cluster.faults.list(), [])
  await t.rejects(cluster.faults.apply('resume shard01'), { message: 'resume: no member of shard01 is paused.' })
})

t.test('links end at members by their state, and those of a set reach all of its members', async (t) => {
  const { cluster, applied } = await start(t)
  await cluster.faults.apply('partition the primary of shard01 from the secondaries of shard01')
  t.same(applied[0]!.members, ['shard01-1', 'shard01-2', 'shard01-3'])
  await cluster.advance(20_000)
  const next = await primaryOf(cluster)
  t.not(next, 'shard01-1')
  await cluster.faults.apply('slow the primary of shard01 by 2x')
  t.same(applied[1]!.members, [next], 'of two primaries, the one of the later term')
  await cluster.faults.heal()
  await cluster.advance(20_000)
  const { term } = (await cluster.describe('shard01-1')) as { term: number }
  await cluster.faults.apply('partition shard01 for 20s')
  await cluster.advance(20_000)
  t.equal((await cluster.describe('shard01-1'))['term'], term, 'its members still reach each other')
  await cluster.faults.apply('partition shard01 from shard01 for 20s')
  await cluster.advance(20_000)
  t.not((await cluster.describe('shard01-1'))['isWritable'], true)
  await cluster.advance(20_000)
  await cluster.faults.apply('crash the secondaries of shard01')
  await t.rejects(
    cluster.faults.apply('partition shard01-1 from shard01-1'),
    /^Error: shard01-1 has no link to itself|has no link to itself/,
  )
})

t.test('a step is reached by the primary of a set', async (t) => {
  const { cluster } = await start(t)
  const { id } = await cluster.faults.apply(
    'crash at shard.create-collection.validated on the primary of shard01 first 1',
  )
  const reached = cluster.faults.reachedInBackground(id)
  const creating = ask(cluster, { shardCollection: 'app.rows', key: { _id: 1 }, $db: 'admin' }).catch(() => null)
  t.same(await cluster.during(reached), { member: 'shard01-1', step: 'shard.create-collection.validated' })
  t.same(down(cluster), ['shard01-1'])
  await cluster.faults.heal(id)
  await cluster.during(creating)
  t.match(await ask(cluster, { insert: 'rows', documents: [{ _id: 1 }] }), { ok: 1, n: 1 })
  const ofSet = await cluster.faults.apply('hold at shard.create-collection.validated on shard01')
  const held = ask(cluster, { shardCollection: 'app.others', key: { _id: 1 }, $db: 'admin' })
  const { member } = await cluster.during(cluster.faults.reachedInBackground(ofSet.id))
  t.equal(member, await primaryOf(cluster))
  await cluster.faults.heal()
  t.match(await cluster.during(held), { ok: 1 })
})

t.test('with one member the words work too', async (t) => {
  const { cluster, applied } = await start(t, 1)
  await cluster.faults.apply('crash the primary of shard01 for 1s')
  t.same(applied[0]!.members, ['shard01'])
  await t.rejects(cluster.faults.apply('pause the primary of shard01'), {
    message: 'pause: shard01 is not running (it has crashed). Restart it first.',
  })
  await cluster.advance(2000)
  await t.rejects(cluster.faults.apply('crash a secondary of shard01'), {
    message: 'shard01 has one member, its primary, so there is no secondary.',
  })
})

t.test('wrong names are one sentence with what to write', async (t) => {
  const { cluster } = await start(t)
  const members = 'balancer, config-1, config-2, config-3, mongos01, shard01-1, shard01-2, shard01-3'
  const wrong: readonly (readonly [string, string])[] = [
    [
      'crash the primary of shard09',
      `shard09 is not a member of this cluster; its members are ${members}, its replica sets config, shard01.`,
    ],
    ['crash the primary of mongos01', 'mongos01 is in no replica set, so it has no primary.'],
    ['crash the primary of shard01-2', "shard01-2 is a member of the set shard01: write 'the primary of shard01'."],
    [
      'crash the primry of shard01',
      "cannot read the fault 'crash the primry of shard01': did you mean 'crash the primary of shard01'?",
    ],
    [
      'crash a secondry of shard01',
      "cannot read the fault 'crash a secondry of shard01': did you mean 'crash a secondary of shard01'?",
    ],
    ['freeze routes of the primary of shard01', 'freeze routes: shard01 is a shard; name a mongos.'],
    [
      'hold at config.migration.committed on a secondary of shard01',
      'hold: shard01 is a shard, which does not reach config.migration.committed; name the config server.',
    ],
    [
      'drop between mongos01 and shard7',
      `there is no link to shard7; links end at ${members}, config, shard01, clients, shards, routers, members and everybody.`,
    ],
    ['shrink oplog of shard01 to 100', 'invalid fault shrinkOplog: to must have a unit, such as 100KB or 100MB.'],
    ['delay replication of shard01-2 by -5s', 'invalid fault delayReplication: by must not be negative.'],
    [
      'delay replication of mongos01 by 5s',
      'delay replication: mongos01 is a mongos; name a shard or the config server.',
    ],
  ]
  for (const [fault, message] of wrong) {
    const error = await cluster.faults.apply(fault).catch((thrown: unknown) => thrown)
    t.ok(error instanceof OptionError, fault)
    t.equal((error as Error).message, message)
  }
  t.same(cluster.faults.list(), [])
})

t.test('replication is delayed, and a small oplog leaves a member behind', async (t) => {
  const { cluster } = await start(t)
  await ask(cluster, { insert: 'rows', documents: [{ _id: 1 }], writeConcern: { w: 3 } })
  await cluster.faults.apply('delay replication of shard01-3 by 3s')
  const { id } = await cluster.faults.apply('delay replication of the secondaries of shard01 by 10s')
  await ask(cluster, { insert: 'rows', documents: [{ _id: 2 }], writeConcern: { w: 1 } })
  const count = async (member: string) => {
    const reply = await ask(
      cluster,
      { count: 'rows', $readPreference: { mode: 'secondary' }, readConcern: { level: 'available' } },
      member,
    )
    return reply['n'] as number
  }
  await cluster.advance(5000)
  t.same([await count('shard01-2'), await count('shard01-3')], [1, 1], 'the longest delay counts')
  await cluster.faults.heal(id)
  await cluster.advance(500)
  t.same([await count('shard01-2'), await count('shard01-3')], [2, 2])
  await cluster.faults.heal()
  await cluster.faults.apply('shrink oplog of shard01 to 4KB')
  await cluster.faults.apply('stop shard01-3')
  const text = 'x'.repeat(500)
  for (let _id = 10; _id < 40; _id++)
    await ask(cluster, { insert: 'rows', documents: [{ _id, text }], writeConcern: { w: 2 } })
  await cluster.restart('shard01-3')
  await cluster.advance(10_000)
  t.equal((await cluster.describe('shard01-3'))['state'], 'RECOVERING')
  await cluster.faults.heal()
  await cluster.faults.apply('destroy shard01-3 for 1s')
  await cluster.advance(20_000)
  t.equal((await cluster.describe('shard01-3'))['state'], 'SECONDARY')
  t.equal(await count('shard01-3'), 32)
})

t.test('delay replication needs a set of several members', async (t) => {
  const { cluster } = await start(t, 1)
  for (const target of ['shard01', 'the primary of shard01', 'config'])
    await t.rejects(cluster.faults.apply(`delay replication of ${target} by 5s`), {
      constructor: OptionError,
      message: `delay replication: ${target === 'config' ? 'config' : 'shard01'} has one member, which copies nothing. Start it with several members.`,
    })
})

t.test('the name of a set means its primary, or all its members when they crash and restart', async (t) => {
  const { cluster } = await start(t)
  const primary = await primaryOf(cluster)
  t.match(await ask(cluster, { hello: 1 }, 'shard01'), { me: `${primary}:27017`, isWritablePrimary: true })
  t.match(await cluster.describe('shard01'), { state: 'PRIMARY' })
  await cluster.crash('shard01-1')
  await cluster.crash('shard01')
  t.same(down(cluster), ['shard01-1', 'shard01-2', 'shard01-3'])
  await t.rejects(cluster.describe('shard01'), {
    constructor: OptionError,
    message: 'shard01 has no primary now: shard01-1 is crashed, shard01-2 is crashed, shard01-3 is crashed.',
  })
  await cluster.restart('shard01-2')
  await cluster.restart('shard01')
  t.same(down(cluster), [])
  await cluster.advance(30_000)
  t.match(await ask(cluster, { hello: 1 }, 'shard01'), { isWritablePrimary: true })
  await t.rejects(cluster.crash('shard09'), { constructor: OptionError, message: /^shard09 is not a member/ })
})

/**
 * A fault ends with the member or process that it is on; healing one fault leaves other faults of
 * the same member.
 */
import { decode, encode, type Document } from '@shardlab/bson'
import t, { type Test } from 'tap'
import { createSimulatedCluster, ShardedCluster, type SimulatedCluster } from '../src/index.js'

async function start(t: Test): Promise<SimulatedCluster> {
  const cluster = await createSimulatedCluster({ seed: 1, shards: 2 })
  t.teardown(() => cluster.stop())
  return cluster
}

async function admin(cluster: SimulatedCluster, command: Document, to = 'mongos01'): Promise<Document> {
  return decode(await cluster.command(encode({ ...command, $db: command['$db'] ?? 'admin' }), { to }))
}

const listed = (cluster: SimulatedCluster) => cluster.faults.list().map(({ fault }) => fault)
const stateOf = (cluster: SimulatedCluster, name: string) =>
  cluster.members().find(({ address }) => address === name)!.state

t.test('a crash ends when the member is started, and does not heal a later crash', async (t) => {
  const cluster = await start(t)
  await cluster.faults.apply('crash shard02 for 6s')
  await cluster.restart('shard02')
  t.same(listed(cluster), [])
  await cluster.faults.apply('crash shard02 for 12s')
  await cluster.advance(7_000)
  t.equal(stateOf(cluster, 'shard02'), 'crashed', 'the first one would have healed itself')
  await cluster.advance(6_000)
  t.equal(stateOf(cluster, 'shard02'), 'running')
})

t.test('a fault ends, with an event, even when its member crashes while healing starts it', async (t) => {
  const cluster = await start(t)
  const events: string[] = []
  cluster.onEvent(({ type }) => void (type.startsWith('fault-') && events.push(type)))
  await cluster.faults.apply('crash shard02')
  const healing = cluster.faults.heal()
  await cluster.crash('shard02')
  await t.rejects(healing, /crashed while it was starting/)
  t.same(listed(cluster), [])
  t.same(events, ['fault-applied', 'fault-healed'])
})

t.test('a member that crashed at a step stays down while another fault keeps it down', async (t) => {
  const cluster = await start(t)
  await admin(cluster, { shardCollection: 'app.things', key: { _id: 1 } })
  const { id } = await cluster.faults.apply('crash at mongos.read.targeted on mongos01 first 1')
  await t.rejects(admin(cluster, { find: 'things', $db: 'app' }))
  await cluster.restart('mongos01')
  await cluster.faults.apply('stop mongos01')
  await cluster.faults.heal(id)
  t.equal(stateOf(cluster, 'mongos01'), 'stopped')
  await cluster.faults.heal()
  t.equal(stateOf(cluster, 'mongos01'), 'running')
})

t.test(
  'a member that was started since a crash at a step is not started again when that fault is healed',
  async (t) => {
    const cluster = await start(t)
    await admin(cluster, { shardCollection: 'app.things', key: { _id: 1 } })
    const strike = async () => {
      const { id } = await cluster.faults.apply('crash at mongos.read.targeted on mongos01 first 1')
      await t.rejects(admin(cluster, { find: 'things', $db: 'app' }))
      return id
    }
    const first = await strike()
    await cluster.restart('mongos01')
    const second = await strike()
    await cluster.faults.heal(first)
    t.equal(stateOf(cluster, 'mongos01'), 'crashed')
    await cluster.faults.heal(second)
    const third = await strike()
    await cluster.restart('mongos01')
    await cluster.crash('mongos01')
    await cluster.faults.heal(third)
    t.equal(stateOf(cluster, 'mongos01'), 'crashed', 'by the API, not by the fault that was healed')
  },
)

t.test('a pause ends when its member crashes while the pause is beginning', async (t) => {
  await using cluster = await ShardedCluster.start({ runtime: 'inline', shards: 1 })
  const applied = new Promise<void>((resolve) => cluster.on('fault-applied', () => resolve()))
  const pausing = cluster.faults.apply('pause shard01')
  await applied
  await cluster.crash('shard01')
  await pausing
  t.same(cluster.faults.list(), [])
})

t.test('a pause, a step-down and frozen routes end with the process, whichever events are watched', async (t) => {
  const cluster = await start(t)
  cluster.watch(['log'])
  for (const [fault, member] of [
    ['pause shard02', 'shard02'],
    ['step down shard02 for 1h', 'shard02'],
    ['freeze routes of mongos01', 'mongos01'],
  ] as const) {
    await cluster.faults.apply(fault)
    await cluster.crash(member)
    t.same(listed(cluster), [], fault)
    await cluster.restart(member)
  }
  t.match(await admin(cluster, { insert: 'things', documents: [{ _id: 1 }], $db: 'app' }), { n: 1 })
})

t.test('a member is a secondary until the last step-down is healed', async (t) => {
  const cluster = await start(t)
  const { id } = await cluster.faults.apply('step down shard02 for 1h')
  await cluster.faults.apply('step down shard02 for 20s')
  await cluster.faults.heal(id)
  t.match(await admin(cluster, { hello: 1 }, 'shard02'), { isWritablePrimary: false })
  await cluster.advance(20_000)
  t.match(await admin(cluster, { hello: 1 }, 'shard02'), { isWritablePrimary: true })
})

t.test('a fault of all shards strikes a shard that is added later', async (t) => {
  const cluster = await start(t)
  await cluster.faults.apply('refuse connections to shards from routers')
  const late = await cluster.addShard()
  t.match(await admin(cluster, { enableSharding: 'app', primaryShard: late }), { ok: 1 })
  const insert = { insert: 'things', documents: [{ _id: 1 }], $db: 'app' }
  t.match(await admin(cluster, insert), { writeErrors: [{ code: 133 }] })
  await cluster.faults.heal()
  t.match(await admin(cluster, insert), { n: 1 })
})

t.test('a member that crashes while it opens its port listens on the same port after a restart', async (t) => {
  await using cluster = await ShardedCluster.start({ runtime: 'inline', shards: 1 })
  const { uri } = cluster.shards[0]!
  await cluster.crash('shard01')
  const restarting = cluster.restart('shard01').catch(String)
  await cluster.crash('shard01')
  await cluster.restart('shard01')
  t.match(await restarting, /shard01 crashed while it was starting/)
  t.equal(cluster.shards[0]!.uri, uri)
})

t.test(
  'the wire command refuses fields that a verb does not take, and accepts whole numbers of every BSON type',
  async (t) => {
    const cluster = await start(t)
    const forever = { shardlab: 'apply', fault: 'crash shard02', for: '5s' }
    t.match(await admin(cluster, forever), {
      ok: 0,
      code: 2,
      errmsg: 'shardlab apply: unknown field for; the fields are fault, requestId.',
    })
    t.match(await admin(cluster, { shardlab: 'list', id: 2 }), {
      code: 2,
      errmsg: 'shardlab list: unknown field id; the verb has no fields.',
    })
    t.same(cluster.faults.list(), [])
    const slow = { shardlab: 'apply', fault: { verb: 'slow', target: 'shard02', factor: 2n, for: '5s' } }
    const { id: applied } = await admin(cluster, slow)
    for (const id of [true, 1n, [1], 1.5])
      t.match(await admin(cluster, { shardlab: 'heal', id }), {
        ok: 0,
        code: 2,
        errmsg: /^heal needs the id of a fault/,
      })
    t.match(await admin(cluster, { shardlab: 'heal', id: applied, maxTimeMS: 1000 }), { healed: [applied] })
  },
)

t.test('a fault that could strike nothing is refused', async (t) => {
  const cluster = await start(t)
  for (const [fault, message] of [
    ['resume shard02', /^resume: shard02 is not paused\.$/],
    ['refuse connections to clients', /^refuse connections: clients accept no connections; /],
    ['cut replies of clients', /^cut: clients send no replies; /],
    ['duplicate between shard01 and clients', /^duplicate: messages of clients cannot be duplicated; /],
    ['drop between clients and balancer', /^clients have no link to the balancer; /],
  ] as const)
    await t.rejects(cluster.faults.apply(fault), { message })
  t.same(cluster.faults.list(), [])
})

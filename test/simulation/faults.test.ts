/** Faults under a virtual clock: errors, start and end, and the command `shardlab`. */
import { OptionError, type ClusterEvent } from '@shardlab/cluster'
import t from 'tap'
import { admin, ask, find, start } from './two-shard-cluster.js'

t.test('a fault on an unknown member, link or step is an error, and nothing is applied', async (t) => {
  const cluster = await start(t, { members: 1 })
  const wrong: readonly (readonly [string, RegExp])[] = [
    [
      'crash shard09',
      /^shard09 is not a member of this cluster; its members are balancer, config, mongos01, mongos02, shard01, shard02\.$/,
    ],
    [
      'drop between mongos01 and shard09',
      /^there is no link to shard09; links end at balancer, .*, shard02, clients, shards, routers, members and everybody\.$/,
    ],
    ['partition shard01 from shard01', /^shard01 has no link to itself/],
    ['drop between clients and clients', /^clients have no links to each other/],
    [
      'hold at shard.migration.nowhere',
      /^unknown step: shard\.migration\.nowhere; this protocol has shard\.migration\.applied, /,
    ],
    ['hold at nowhere', /^unknown step: nowhere; the protocols are balancer\.defragmentation, .*shard\.migration/],
    [
      'hold at shard.migration.committing on mongos01',
      /^hold: mongos01 is a mongos, which does not reach shard\.migration\.committing; name a shard\.$/,
    ],
    ['step down mongos01', /^step down: mongos01 is a mongos; name a shard or the config server\.$/],
    ['freeze routes of shard01', /^freeze routes: shard01 is a shard; name a mongos\.$/],
    ['fill disk of balancer', /^fill disk: balancer is a balancer; name a shard or the config server\.$/],
  ]
  for (const [fault, message] of wrong) {
    const error = await cluster.faults.apply(fault).catch((thrown: unknown) => thrown)
    t.ok(error instanceof OptionError, fault)
    t.match((error as Error).message, message)
    t.match(await admin(cluster, { shardlab: 'apply', fault }), {
      ok: 0,
      code: 2,
      codeName: 'BadValue',
      errmsg: message,
    })
  }
  t.same(cluster.faults.list(), [])
  await t.rejects(
    cluster.faults.heal('7'),
    /^OptionError: there is no fault 7; nothing is broken\.$|there is no fault 7; nothing is broken/,
  )
  await cluster.crash('shard02')
  for (const verb of ['crash', 'pause'])
    await t.rejects(cluster.faults.apply(`${verb} shard02`), {
      message: `${verb}: shard02 is not running (it has crashed). Restart it first.`,
    })
})

t.test('faults start and end on time, are listed, and emit events', async (t) => {
  const cluster = await start(t, { members: 1 })
  const events: ClusterEvent[] = []
  cluster.onEvent((event) => {
    if (event.type === 'fault-applied' || event.type === 'fault-healed') events.push(event)
  })
  const began = cluster.now()
  const { id } = await cluster.faults.apply('crash shard2 after 10s for 5s')
  t.match(cluster.faults.list(), [
    {
      id,
      fault: 'crash shard02 after 10s for 5s',
      state: 'scheduled',
      beginsAtMs: began + 10_000,
      healsAtMs: began + 15_000,
      strikes: null,
    },
  ])
  await cluster.advance(9_900)
  t.match(await find(cluster, 1), { ok: 1 })
  await cluster.advance(200)
  t.equal(cluster.members().find(({ address }) => address === 'shard02')!.state, 'crashed')
  t.match(cluster.faults.list(), [{ id, state: 'active' }])
  t.match(await find(cluster, 1), { ok: 1 }, 'the router waits for the shard')
  t.ok(cluster.now() >= began + 15_000)
  t.same(cluster.faults.list(), [])
  t.same(
    events.map(({ type, atMs }) => [type, atMs - began]),
    [
      ['fault-applied', 10_000],
      ['fault-healed', events[1]!.atMs - began],
    ],
  )
  t.match(events[0], { id, fault: 'crash shard02 after 10s for 5s', members: ['shard02'] })
})

t.test('heal ends all faults and cancels scheduled ones', async (t) => {
  const cluster = await start(t)
  const first = await cluster.faults.apply('crash shard01')
  const second = await cluster.faults.apply({ verb: 'stop', target: 'shard02', after: '20s' })
  const third = await cluster.faults.apply('config unavailable')
  t.same(await cluster.faults.heal(), [first.id, second.id, third.id])
  await cluster.advance(60_000)
  t.match(await ask(cluster, { find: 'things' }), { ok: 1 })
  t.same(await cluster.faults.heal(), [])
})

t.test('the command shardlab applies, lists and heals faults', async (t) => {
  const cluster = await start(t)
  const crash = await admin(cluster, { shardlab: 'apply', fault: 'crash shard02 for 1h' }, 'mongos02')
  t.match(crash, { id: /^[2-9a-z]{8}$/, beginsAt: new Date(cluster.now()), healsAt: Date, ok: 1 })
  t.equal(crash['healsAt'] - crash['beginsAt'], 3_600_000)
  const drop = await admin(cluster, {
    shardlab: 'apply',
    fault: { verb: 'drop', link: { from: 'mongos02', to: 'config' }, first: 3 },
  })
  t.match(drop, { id: /^[2-9a-z]{8}$/, healsAt: null, ok: 1 })
  const first = crash['id'] as string
  const second = drop['id'] as string
  t.match(await admin(cluster, { shardlab: 'list' }), {
    faults: [
      { id: first, fault: 'crash shard02 for 1h', state: 'active', healsAt: Date, strikes: null },
      { id: second, fault: 'drop between mongos02 and config first 3', state: 'active', healsAt: null, strikes: 0 },
    ],
  })
  t.match(await admin(cluster, { shardlab: 'heal', id: second }), { healed: [second], ok: 1 })
  t.match(await admin(cluster, { shardlab: 'heal' }), { healed: [first], ok: 1 })
  t.match(await find(cluster, 1), { ok: 1 })
  t.match(await admin(cluster, { shardlab: 'heal', id: second }), {
    ok: 0,
    code: 2,
    errmsg: `there is no fault ${second}; nothing is broken.`,
  })
  t.match(await admin(cluster, { shardlab: 'apply' }), { ok: 0, code: 2, errmsg: /^apply needs a fault/ })
  t.match(await admin(cluster, { shardlab: 'explode' }), {
    ok: 0,
    code: 2,
    errmsg: /^shardlab: unknown verb explode; use one of apply, list, heal/,
  })
  t.match(await ask(cluster, { shardlab: 'list' }), { ok: 0, code: 13 })
})

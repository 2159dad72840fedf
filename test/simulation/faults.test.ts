/** Faults under a virtual clock: what they are told, when they begin and end, and what they do to the cluster. */
import { decode, encode, type Document } from '@shardlab/bson'
import {
  createSimulatedCluster,
  OptionError,
  type ClusterEvent,
  type SimulatedCluster,
  type SimulatedClusterOptions,
} from '@shardlab/cluster'
import t, { type Test } from 'tap'

const ns = 'app.things'

async function ask(cluster: SimulatedCluster, command: Document, to = 'mongos01'): Promise<Document> {
  return decode(await cluster.command(encode({ ...command, $db: command['$db'] ?? 'app' }), { to }), {
    promoteLongs: true,
  })
}

const admin = (cluster: SimulatedCluster, command: Document, to = 'mongos01') =>
  ask(cluster, { ...command, $db: 'admin' }, to)

/** Two shards; keys below 0 on the first, others on the second. */
async function start(t: Test, options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
  const cluster = await createSimulatedCluster({ seed: 1, shards: 2, mongos: 2, ...options })
  t.teardown(() => cluster.stop())
  for (const command of [
    { enableSharding: 'app', primaryShard: 'shard01' },
    { shardCollection: ns, key: { x: 1 } },
    { split: ns, middle: { x: 0 } },
    { moveChunk: ns, find: { x: 1 }, to: 'shard02', _waitForDelete: true },
    { balancerStop: 1 },
  ])
    t.match(await admin(cluster, command), { ok: 1 })
  t.match(await ask(cluster, { insert: 'things', documents: [-2, -1, 1, 2].map((x) => ({ _id: x, x })) }), { n: 4 })
  return cluster
}

const find = (cluster: SimulatedCluster, x: number, to = 'mongos01') =>
  ask(cluster, { find: 'things', filter: { x } }, to)
const insert = (cluster: SimulatedCluster, x: number, rest: Document = {}, to = 'mongos01') =>
  ask(cluster, { insert: 'things', documents: [{ _id: x, x }], ...rest }, to)

async function tookMs(cluster: SimulatedCluster, work: () => Promise<unknown>): Promise<number> {
  const began = cluster.now()
  await work()
  return cluster.now() - began
}

t.test('a member, link, step or fault that does not exist is named in one sentence; nothing is applied', async (t) => {
  const cluster = await start(t)
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
      /^unknown step: shard\.migration\.nowhere; this protocol has shard\.migration\.begun, /,
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
    cluster.faults.heal(7),
    /^OptionError: there is no fault 7; nothing is broken\.$|there is no fault 7; nothing is broken/,
  )
  await cluster.crash('shard02')
  for (const verb of ['crash', 'pause'])
    await t.rejects(cluster.faults.apply(`${verb} shard02`), {
      message: `${verb}: shard02 is not running (it has crashed). Restart it first.`,
    })
})

t.test('faults begin and end by themselves, are listed and told of', async (t) => {
  const cluster = await start(t)
  const told: ClusterEvent[] = []
  cluster.onEvent((event) => {
    if (event.type === 'fault-applied' || event.type === 'fault-healed') told.push(event)
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
    told.map(({ type, atMs }) => [type, atMs - began]),
    [
      ['fault-applied', 10_000],
      ['fault-healed', told[1]!.atMs - began],
    ],
  )
  t.match(told[0], { id, fault: 'crash shard02 after 10s for 5s', target: 'shard02' })
})

t.test('all are healed at once; a fault that has not begun never does', async (t) => {
  const cluster = await start(t)
  const first = await cluster.faults.apply('crash shard01')
  const second = await cluster.faults.apply({ verb: 'stop', target: 'shard02', after: '20s' })
  const third = await cluster.faults.apply('config unavailable')
  t.same(await cluster.faults.heal(), [first.id, second.id, third.id])
  await cluster.advance(60_000)
  t.match(await ask(cluster, { find: 'things' }), { ok: 1 })
  t.same(await cluster.faults.heal(), [])
})

t.test('over the wire: apply, list, heal', async (t) => {
  const cluster = await start(t)
  t.match(await admin(cluster, { shardlab: 'apply', fault: 'crash shard02 for 1h' }, 'mongos02'), { id: 1, ok: 1 })
  t.match(
    await admin(cluster, {
      shardlab: 'apply',
      fault: { verb: 'drop', link: { from: 'mongos02', to: 'config' }, first: 3 },
    }),
    {
      id: 2,
      ok: 1,
    },
  )
  t.match(await admin(cluster, { shardlab: 'list' }), {
    faults: [
      { id: 1, fault: 'crash shard02 for 1h', state: 'active', healsAt: Date, strikes: null },
      { id: 2, fault: 'drop between mongos02 and config first 3', state: 'active', healsAt: null, strikes: 0 },
    ],
  })
  t.match(await admin(cluster, { shardlab: 'heal', id: 2 }), { healed: [2], ok: 1 })
  t.match(await admin(cluster, { shardlab: 'heal' }), { healed: [1], ok: 1 })
  t.match(await find(cluster, 1), { ok: 1 })
  t.match(await admin(cluster, { shardlab: 'heal', id: 2 }), {
    ok: 0,
    code: 2,
    errmsg: 'there is no fault 2; nothing is broken.',
  })
  t.match(await admin(cluster, { shardlab: 'apply' }), { ok: 0, code: 2, errmsg: /^apply needs a fault/ })
  t.match(await admin(cluster, { shardlab: 'explode' }), {
    ok: 0,
    code: 2,
    errmsg: /^shardlab: unknown verb explode\. Use one of apply, list, heal/,
  })
  t.match(await ask(cluster, { shardlab: 'list' }), { ok: 0, code: 13 })
})

t.test('lost messages: the seed says which, and everything is repaired by what repeats itself', async (t) => {
  const play = async (): Promise<readonly [string, number]> => {
    await using cluster = await createSimulatedCluster({ seed: 11, shards: 2 })
    await admin(cluster, { enableSharding: 'app', primaryShard: 'shard01' })
    await admin(cluster, { shardCollection: ns, key: { x: 'hashed' } })
    await cluster.faults.apply('drop 5% between mongos01 and shards')
    let failed = 0
    for (let x = 0; x < 200; x++) if ((await find(cluster, x))['ok'] !== 1) failed++
    return [cluster.traceHash(), failed]
  }
  const [hash, failed] = await play()
  t.equal((await play())[0], hash)
  t.ok(failed < 5, `${failed} of 200 finds failed four times in a row`)
})

for (const emulate of ['4.0', '8.0'] as const) {
  t.test(`a stepped down shard is elected again, D901, ${emulate}`, async (t) => {
    const cluster = await start(t, { emulate })
    const words = emulate === '4.0' ? 'not master' : 'not primary'
    t.match(await admin(cluster, { hello: 1 }, 'shard02'), { ok: 1, isWritablePrimary: true, secondary: false })
    await cluster.faults.apply('step down shard02')
    const [fault] = cluster.faults.list()
    t.equal(fault!.healsAtMs! - fault!.beginsAtMs, 10_000, 'unless told otherwise')
    const hello = await admin(cluster, { hello: 1 }, 'shard02')
    t.match(hello, { isWritablePrimary: false, secondary: true })
    t.notOk('primary' in hello)
    t.match(await insert(cluster, 10, {}, 'shard02'), { ok: 0, code: 10107, errmsg: words })
    const unread = emulate === '4.0' ? 'not master and slaveOk=false' : 'not primary and secondaryOk=false'
    t.match(await ask(cluster, { count: 'things' }, 'shard02'), { ok: 0, code: 13435, errmsg: unread })
    t.match(await ask(cluster, { count: 'things', $readPreference: { mode: 'secondaryPreferred' } }, 'shard02'), {
      ok: 1,
    })
    // Routers since 5.0 do not let drivers think that they are the one who has stepped down.
    const code = emulate === '4.0' ? 10107 : 6
    t.match(await insert(cluster, 10), { ok: 1, n: 0, writeErrors: [{ code, errmsg: words }] }, 'the router learns it')
    const waitedMs = await tookMs(cluster, async () =>
      t.match(await insert(cluster, 10), { n: 1 }, 'and waits for the election'),
    )
    t.ok(waitedMs > 5_000 && waitedMs < 12_000, `${waitedMs} ms`)
    t.match(await admin(cluster, { replSetGetStatus: 1 }, 'shard02'), { term: 2, myState: 1 })
    await cluster.faults.apply('step down shard02 for 1m')
    t.match(await find(cluster, 1), { ok: 0, code: 133 }, 'an election that takes too long')
  })
}

t.test('a router with frozen routes believes what it knows', async (t) => {
  const cluster = await start(t)
  t.match(await find(cluster, 1, 'mongos02'), { ok: 1 })
  await cluster.faults.apply('freeze routes of mongos02')
  t.match(await admin(cluster, { moveChunk: ns, find: { x: 1 }, to: 'shard01' }), { ok: 1 })
  t.match(await find(cluster, 1), { ok: 1 }, 'the other router is fine')
  t.match(await find(cluster, 1, 'mongos02'), { ok: 0, code: 13388, codeName: 'StaleConfig' })
  t.match(
    await find(cluster, -1, 'mongos02'),
    { ok: 0, code: 13388 },
    'so is the shard that was not concerned: its version has moved on',
  )
  const later = { insert: 'things', documents: [{ _id: 1 }], $db: 'later' }
  t.match(await ask(cluster, { count: 'things', $db: 'later' }, 'mongos02'), { n: 0 })
  t.match(await ask(cluster, later), { n: 1 })
  t.match(
    await ask(cluster, { count: 'things', $db: 'later' }, 'mongos02'),
    { n: 1 },
    'nobody would tell it of a new database',
  )
  await cluster.faults.heal()
  t.match(await find(cluster, 1, 'mongos02'), { ok: 1, cursor: { firstBatch: [{ x: 1 }] } })
})

t.test('a stalled range deleter leaves orphans until it is healed', async (t) => {
  const cluster = await start(t)
  await cluster.faults.apply('stall range deleter of shard02')
  t.match(await admin(cluster, { moveChunk: ns, find: { x: 1 }, to: 'shard01' }), { ok: 1 })
  await cluster.advance(1_000_000)
  t.match(await ask(cluster, { find: 'things' }, 'shard02'), { cursor: { firstBatch: [{ x: 1 }, { x: 2 }] } })
  t.match(cluster.faults.list(), [{ strikes: 1 }])
  await cluster.faults.heal()
  await cluster.advance(1000)
  t.match(await ask(cluster, { find: 'things' }, 'shard02'), { cursor: { firstBatch: [] } })
})

t.test('a migration held at a step goes on when it is healed; one that fails there ends', async (t) => {
  const cluster = await start(t)
  await cluster.faults.apply('hold at shard.migration.caught-up on shard02')
  const moving = admin(cluster, { moveChunk: ns, find: { x: 1 }, to: 'shard01' })
  await cluster.advance(60_000)
  t.match(cluster.faults.list(), [{ strikes: 1 }])
  t.match(await insert(cluster, 10), { n: 1 }, 'writes go on meanwhile')
  await cluster.faults.heal()
  t.match(await moving, { ok: 1 })
  // Until the documents that it left behind are gone.
  await cluster.advance(1_000_000)
  await cluster.faults.apply('fail at shard.migration.caught-up first 1')
  const failed = await admin(cluster, { moveChunk: ns, find: { x: 1 }, to: 'shard02' })
  t.match(failed, { ok: 0, errmsg: /shard\.migration\.caught-up/ })
  t.match(await admin(cluster, { moveChunk: ns, find: { x: 1 }, to: 'shard02' }), { ok: 1 }, 'it struck once')
})

t.test('who is paused does nothing until he is resumed, timers included', async (t) => {
  const cluster = await start(t)
  await cluster.faults.apply('pause shard02')
  const late = find(cluster, 1)
  await cluster.advance(5000)
  await cluster.faults.apply('resume shard2')
  t.match(await late, { ok: 1 })
  t.same(cluster.faults.list(), [])
  await cluster.faults.apply('pause shard02')
  await cluster.faults.apply('restart shard02')
  t.same(cluster.faults.list(), [], 'a new process is not paused')
  t.match(await find(cluster, 1), { ok: 1 })
  await cluster.faults.apply('pause balancer')
  const { rounds } = await cluster.describe('balancer')
  await cluster.advance(120_000)
  t.same((await cluster.describe('balancer'))['rounds'], rounds)
})

t.test('a destroyed shard comes back empty, and is no part of the cluster', async (t) => {
  const cluster = await start(t)
  await cluster.faults.apply('destroy shard02')
  t.match(await find(cluster, -1), { ok: 1 })
  await cluster.faults.heal()
  t.match(await find(cluster, 1), { ok: 0, code: 203, codeName: 'ShardingStateNotInitialized' })
  t.match(await insert(cluster, 1), { n: 0, writeErrors: [{ code: 203 }] })
  t.match(
    await ask(cluster, { find: 'things' }, 'shard02'),
    { ok: 1, cursor: { firstBatch: [] } },
    'alone it serves whoever asks',
  )
})

t.test('slow disks and slow members, D904', async (t) => {
  const cluster = await start(t)
  await cluster.faults.apply('slow disk of shard02 by 200ms')
  t.ok((await tookMs(cluster, () => insert(cluster, 30))) >= 200)
  t.ok((await tookMs(cluster, () => find(cluster, 1))) < 20)
  await cluster.faults.heal()
  await cluster.faults.apply('slow shard02 by 101x')
  t.ok((await tookMs(cluster, () => find(cluster, 1))) >= 100)
  t.ok((await tookMs(cluster, () => find(cluster, -1))) < 20)
})

t.test('a fault that is healed while it begins leaves nothing behind', async (t) => {
  const cluster = await start(t)
  let healing: Promise<unknown> = Promise.resolve()
  cluster.onEvent((event) => {
    if (event.type === 'fault-applied') healing = cluster.faults.healInBackground()
  })
  await cluster.faults.apply('pause shard02')
  await healing
  t.same(cluster.faults.list(), [])
  t.match(await find(cluster, 1), { ok: 1 }, 'it is at work')
})

for (const emulate of ['5.0', '8.0'] as const) {
  t.test(`a router that learns nothing gives up reading the past of another collection, ${emulate}`, async (t) => {
    const cluster = await start(t, { emulate })
    const snapshot = { find: 'things', readConcern: { level: 'snapshot' } }
    t.match(await ask(cluster, snapshot, 'mongos02'), { ok: 1 })
    await cluster.faults.apply('freeze routes of mongos02')
    t.match(await ask(cluster, { drop: 'things' }), { ok: 1 })
    t.match(await admin(cluster, { shardCollection: ns, key: { x: 1 } }), { ok: 1 })
    t.match(await ask(cluster, snapshot, 'mongos02'), { ok: 0, code: 13_388 })
    await cluster.faults.heal()
    t.match(await ask(cluster, snapshot, 'mongos02'), { ok: 1, cursor: { firstBatch: [] } })
  })
}

const plainSource = [{ $out: 'copy' }]

/** A cluster whose $out has made its temporary collection on shard01 and now waits for a command of some shard; what the pipeline's reply will be. */
async function startWriting(
  t: Test,
  options: SimulatedClusterOptions = {},
  [command, shard]: readonly [string, string] = ['insert', 'shard01'],
) {
  const cluster = await start(t, options)
  t.match(await ask(cluster, { insert: 'copy', documents: [{ _id: 'old' }] }), { n: 1 })
  const many = Array.from({ length: 200 }, (_, i) => ({ _id: 10 + i, x: 10 + i }))
  t.match(await ask(cluster, { insert: 'things', documents: many }), { n: 200 })
  const block = { failCommands: [command], blockConnection: true, blockTimeMS: 5000, failInternalCommands: true }
  t.match(
    await cluster.command(
      encode({ configureFailPoint: 'failCommand', mode: { times: 1 }, data: block, $db: 'admin' }),
      { to: shard },
    ),
    {},
  )
  const writing = cluster
    .commandInBackground(encode({ aggregate: 'things', pipeline: plainSource, cursor: {}, $db: 'app' }), {
      to: 'mongos01',
    })
    .then(
      (reply) => decode(reply),
      (error: Error) => ({ lost: error.message }),
    )
  await cluster.advance(1000)
  return { cluster, writing }
}

/** Collections of the database but the two that are always there. */
async function besides(cluster: SimulatedCluster): Promise<Document[]> {
  const reply = await ask(cluster, { listCollections: 1 }, 'mongos02')
  return (reply['cursor'].firstBatch as Document[]).filter(({ name }) => name !== 'things' && name !== 'copy')
}

const copied = async (cluster: SimulatedCluster) =>
  ((await ask(cluster, { find: 'copy' }, 'mongos02'))['cursor'].firstBatch as Document[]).map(
    ({ _id }) => _id as unknown,
  )

for (const emulate of ['4.4', '8.0'] as const) {
  t.test(`$out that meets a full disk leaves nothing behind, ${emulate}`, async (t) => {
    const { cluster, writing } = await startWriting(t, { emulate })
    t.match(await besides(cluster), [{ name: /^tmp\.agg_out\./, options: { temp: true } }], 'the server lists it, too')
    await cluster.faults.apply('fill disk of shard01')
    await cluster.advance(10_000)
    t.match(await writing, { ok: 0, code: 14_031 })
    t.same(await besides(cluster), [])
    t.same(await copied(cluster), ['old'])
    await cluster.faults.heal()
    t.match(await ask(cluster, { aggregate: 'things', pipeline: plainSource, cursor: {} }), { ok: 1 })
    t.match(await besides(cluster), [])
    t.same((await copied(cluster)).length, 101)
    await cluster.crash('shard01')
    await cluster.restart('shard01')
    t.same((await copied(cluster)).length, 101, 'what took the name of the target stays')
  })
}

t.test('D905 the temporary collection of a router that is gone goes when its shard starts or steps up', async (t) => {
  for (const faults of [
    ['crash shard01', 'restart shard01'],
    ['step down shard01', 'heal'],
  ]) {
    const { cluster, writing } = await startWriting(t)
    await cluster.crash('mongos01')
    await cluster.advance(20_000)
    t.match(await writing, { lost: /./ })
    t.match(await besides(cluster), [{ options: { temp: true } }])
    for (const fault of faults) await (fault === 'heal' ? cluster.faults.heal() : cluster.faults.apply(fault))
    await cluster.advance(20_000)
    t.same(await besides(cluster), [])
    t.same(await copied(cluster), ['old'])
  }
})

t.test(
  '$out whose shard drops the temporary collection meanwhile does not replace its target with a part',
  async (t) => {
    for (const waitsFor of [
      ['insert', 'shard01'],
      ['getMore', 'shard02'],
    ] as const) {
      const { cluster, writing } = await startWriting(t, {}, waitsFor)
      await cluster.faults.apply('step down shard01')
      await cluster.faults.heal()
      await cluster.advance(20_000)
      t.match(await writing, { ok: 0, code: 6, errmsg: 'operation was interrupted' })
      t.same(await besides(cluster), [])
      t.same(await copied(cluster), ['old'])
    }
  },
)

t.test('clients make no temporary collections', async (t) => {
  const cluster = await start(t)
  const refused = { ok: 0, code: 72, errmsg: "the 'temp' field is an invalid option" }
  for (const to of ['mongos01', 'shard01']) t.match(await ask(cluster, { create: 'mine', temp: true }, to), refused)
  t.match(await ask(cluster, { create: 'mine', temp: false }), { ok: 1 })
})

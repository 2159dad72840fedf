/** Rounds of the balancer under a virtual clock: migrations, and conditions that prevent them. */
import { readFileSync } from 'node:fs'
import { decode, encode, MaxKey, MinKey, type Document } from '@shardlab/bson'
import { NotSettledError } from '@shardlab/cluster'
import t from 'tap'
import { BalancedCluster, onceEach, range } from './balanced-cluster.js'

const settled = { rangeDeletion: true, timeoutMs: 600_000 }

t.test('4.4 evens out the number of chunks', async (t) => {
  const world = await BalancedCluster.start({ emulate: '4.4', shards: 3 })
  const ns = await world.shard('c')
  await world.insert('c', range(200), 100)
  await world.split(
    ns,
    range(9, 1).map((i) => i * 20),
  )
  t.same(await world.chunkCounts(ns), [10, 0, 0])
  const round = await world.cluster.balancer.runRound()
  t.match(round, {
    skipped: null,
    splits: [],
    migrations: [
      {
        ns,
        from: 'shard01',
        to: 'shard02',
        min: '{"k":{"$minKey":1}}',
        max: '{"k":20}',
        reason: 'chunksImbalance',
        because: 'shard01 has 10 chunks outside of all zones, shard02 0, and the ideal is 3',
        outcome: 'moved',
        error: null,
      },
    ],
  })
  t.equal(round.migrations.length, 1, 'three shards make one pair')
  await world.cluster.balancer.settle(settled)
  t.same(await world.chunkCounts(ns), [4, 3, 3])
  onceEach(t, await world.placed('c'), range(200))
  t.match(await world.cluster.balancer.explain(ns), {
    balanced: true,
    policy: 'chunk count',
    thresholdBytes: null,
    answer: 'Nothing has to move: shard02 has 3 chunks outside of all zones already, and the ideal is 3.',
  })
  const [entry] = await world.find('actionlog')
  t.match(entry, {
    what: 'balancer.round',
    ns: '',
    details: { errorOccured: false, candidateChunks: 1, chunksMoved: 1 },
  })
  t.notOk(entry!['details'].times)
  await world.stop()
})

t.test('7.0 evens out bytes, and splits while it moves', async (t) => {
  const world = await BalancedCluster.start({ emulate: '7.0', shards: 3 })
  const ns = await world.shard('c')
  await world.insert('c', range(600))
  t.same(await world.chunkCounts(ns), [1, 0, 0], 'writes split nothing')
  const { migrations } = await world.cluster.balancer.runRound()
  t.match(migrations, [{ from: 'shard01', to: 'shard02', max: null, outcome: 'moved' }])
  await world.cluster.balancer.settle(settled)
  const explanation = await world.cluster.balancer.explain(ns)
  const bytes = explanation.shards.map((shard) => shard.bytes!)
  t.ok(Math.max(...bytes) - Math.min(...bytes) < 3 * 16 * 1024, `${bytes.join()} differ by less than three chunks`)
  t.match(explanation, { balanced: true, policy: 'data size', chunkSizeBytes: 16_384, thresholdBytes: 49_152 })
  const placed = await world.placed('c')
  onceEach(t, placed, range(600))
  const chunks = await world.chunks(ns)
  for (const [i, id] of world.cluster.shards.entries()) {
    const owned = chunks.filter(({ shard }) => shard === id)
    const isIn = (k: number) =>
      owned.some(
        ({ min, max }) => (typeof min.k !== 'number' || min.k <= k) && (typeof max.k !== 'number' || k < max.k),
      )
    t.ok(placed[i]!.every(isIn), `${id} holds what it owns`)
  }
  const actions = await world.find('actionlog')
  t.match(actions[0], {
    details: {
      errorOccurred: false,
      candidateChunks: 1,
      chunksMoved: 1,
      imbalancedCachedCollections: 1,
      times: { throttleTimeMillis: 0 },
    },
  })
  await world.stop()
})

t.test('a difference below three chunks is ignored', async (t) => {
  for (const [emulate, keys] of [
    ['7.0', 80],
    ['8.0', 80],
  ] as const) {
    const world = await BalancedCluster.start({ emulate, shards: 2 })
    const ns = await world.shard('c')
    await world.insert('c', range(keys))
    t.same((await world.cluster.balancer.runRound()).migrations, [])
    t.match((await world.cluster.balancer.explain(ns)).answer, /less than 3 chunks of 16384 bytes\.$/)
    await world.insert('c', range(40, keys))
    t.equal((await world.cluster.balancer.runRound()).migrations.length, 1)
    await world.stop()
  }
})

t.test(
  'no chunk moves when the balancer is stopped, outside of its window, or disabled for the collection',
  async (t) => {
    const world = await BalancedCluster.start({ emulate: '4.4', shards: 2 })
    const ns = await world.shard('c')
    await world.split(ns, [10, 20, 30])
    const decided = async () => {
      const { skipped, migrations } = await world.cluster.balancer.runRound()
      return skipped ?? migrations.length
    }
    await world.command({ balancerStop: 1 })
    t.equal(await decided(), 'the balancer is stopped')
    await t.rejects(world.cluster.balancer.settle(settled), {
      name: 'NotSettledError',
      message: 'the balancer holds no rounds: the balancer is stopped',
    })
    t.equal(
      (await world.cluster.balancer.explain(ns)).answer,
      'A round would change something, but the balancer is stopped.',
    )
    await world.command({ balancerStart: 1 })
    // A simulation starts at midnight.
    await world.writeConfig(
      'settings',
      { _id: 'balancer' },
      { $set: { activeWindow: { start: '03:00', stop: '04:00' } } },
    )
    t.equal(await decided(), 'it is outside of the active window 03:00 to 04:00 (UTC)')
    await world.cluster.advance(3.5 * 3_600_000)
    t.equal(await decided(), 1)
    await world.writeConfig('settings', { _id: 'balancer' }, { $unset: { activeWindow: 1 } })
    await world.split(ns, [40, 50, 60])
    await world.writeConfig('collections', { _id: ns }, { $set: { noBalance: true } })
    t.equal(await decided(), 0)
    t.match(await world.cluster.balancer.explain(ns), {
      balanced: false,
      collection: { noBalance: true },
      answer: 'Chunks would move, but balancing is switched off for app.c: sh.enableBalancing("app.c").',
    })
    await world.writeConfig('collections', { _id: ns }, { $set: { noBalance: false } })
    t.equal(await decided(), 1)
    await world.stop()
  },
)

t.test('setAllowMigrations: false prevents all migrations', async (t) => {
  const world = await BalancedCluster.start({ emulate: '5.0', shards: 2 })
  const ns = await world.shard('c')
  await world.split(ns, [10, 20, 30])
  await world.command({ setAllowMigrations: ns, allowMigrations: false })
  t.same((await world.cluster.balancer.runRound()).migrations, [])
  t.match((await world.cluster.balancer.explain(ns)).answer, /migrations of app\.c are not allowed/)
  await world.command({ setAllowMigrations: ns, allowMigrations: true })
  t.equal((await world.cluster.balancer.runRound()).migrations.length, 1)
  await world.stop()
})

t.test('a hashed collection without its index is not balanced', async (t) => {
  const world = await BalancedCluster.start({ emulate: '7.0', shards: 2 })
  const ns = await world.shard('c', { k: 'hashed' })
  await world.insert('c', range(400))
  await world.cluster.balancer.settle(settled)
  const [low] = await world.chunks(ns)
  const to = low!['shard'] === 'shard01' ? 'shard02' : 'shard01'
  for (const { min, max } of await world.chunks(ns))
    await world.command({ moveChunk: ns, bounds: [min, max], to, forceJumbo: true, _waitForDelete: true })
  await world.admin.untilDone({ dropIndexes: 'c', index: 'k_hashed', $db: 'app' })
  t.match((await world.cluster.balancer.runRound()).migrations, [{ outcome: 'failed' }])
  t.match(await world.find('collections', { _id: ns }), [{ noBalance: true }])
  t.same((await world.cluster.balancer.runRound()).migrations, [])
  await world.stop()
})

t.test('D892 eight shards run four migrations at a time, before 3.4 one', async (t) => {
  for (const [emulate, most] of [
    ['2.6', 1],
    ['4.4', 4],
  ] as const) {
    const world = await BalancedCluster.start({ emulate, shards: 8 })
    const ns = await world.shard('c')
    await world.split(ns, range(15, 1))
    for (const [i, { min, max }] of (await world.chunks(ns)).entries())
      if (i % 4 > 0) await world.command({ moveChunk: ns, bounds: [min, max], to: world.cluster.shards[i % 4] })
    const { migrations } = await world.cluster.balancer.runRound()
    t.equal(migrations.length, most)
    t.equal(new Set(migrations.flatMap(({ from, to }) => [from, to])).size, 2 * most, 'each shard takes part in one')
    await world.cluster.balancer.settle({ timeoutMs: 3_600_000 })
    t.same(await world.chunkCounts(ns), Array(8).fill(2))
    await world.stop()
  }
})

t.test('balancerMigrationsThrottlingMs and autoMergerIntervalSecs of the config server take effect', async (t) => {
  const world = await BalancedCluster.start({ emulate: '7.0', shards: 2, balancerRoundIntervalMs: 10_000 })
  const set = async (parameter: Document) =>
    decode(await world.cluster.command(encode({ setParameter: 1, ...parameter, $db: 'admin' }), { to: 'config' }))
  const ns = await world.shard('c')
  await world.command({ balancerStop: 1 })
  t.match(await set({ balancerMigrationsThrottlingMs: 4000 }), { was: 1000, ok: 1 })
  await world.insert('c', range(400))
  await world.command({ balancerStart: 1 })
  world.rounds.length = 0
  await world.cluster.advance(40_000)
  const moving = world.rounds.filter(({ migrations }) => migrations.length > 0)
  t.ok(moving.length >= 2, `${moving.length} rounds moved something`)
  for (const [i, { atMs }] of moving.entries())
    if (i > 0) t.ok(atMs - moving[i - 1]!.atMs >= 4000, `${atMs - moving[i - 1]!.atMs} ms apart`)
  t.match(await set({ balancerMigrationsThrottlingMs: -1 }), { ok: 0, code: 2 })
  await world.split(ns, [2, 4])
  const before = (await world.chunks(ns)).length
  await world.cluster.advance(400_000)
  t.equal((await world.chunks(ns)).length, before, 'the next merge is due in an hour')
  t.match(await set({ autoMergerIntervalSecs: 60 }), { was: 3600, ok: 1 })
  await world.cluster.advance(120_000)
  t.ok((await world.chunks(ns)).length < before)
  await world.stop()
  const old = await BalancedCluster.start({ emulate: '5.0', shards: 1 })
  const answer = await old.cluster.command(
    encode({ setParameter: 1, balancerMigrationsThrottlingMs: 1, $db: 'admin' }),
    { to: 'config' },
  )
  t.match(decode(answer), { ok: 0, code: 72 })
  await old.stop()
})

t.test('D891 rounds run every ten seconds, and one second apart while chunks move', async (t) => {
  for (const emulate of ['4.4', '7.0'] as const) {
    const world = await BalancedCluster.start({ emulate, shards: 2, balancerRoundIntervalMs: 10_000 })
    const ns = await world.shard('c')
    await world.command({ balancerStop: 1 })
    await world.split(ns, [10, 20, 30, 40, 50])
    await world.insert('c', range(400))
    await world.command({ balancerStart: 1 })
    world.rounds.length = 0
    await world.cluster.advance(60_000)
    const moving = world.rounds.filter(({ migrations }) => migrations.length > 0)
    t.ok(moving.length >= 2, `${emulate}: ${moving.length} rounds moved something`)
    for (const [i, { atMs, durationMs }] of moving.entries()) {
      if (i === 0) continue
      const startedAtMs = atMs - durationMs
      const apartMs = emulate === '4.4' ? startedAtMs - moving[i - 1]!.atMs : atMs - moving[i - 1]!.atMs
      t.ok(apartMs >= 1000 && apartMs < 5000, `${apartMs} ms apart`)
    }
    const { numBalancerRounds } = await world.command({ balancerStatus: 1 })
    t.ok(numBalancerRounds >= 6)
    await world.stop()
  }
})

t.test('balancerStop waits for the running migration', async (t) => {
  const world = await BalancedCluster.start({ emulate: '7.0', shards: 2 })
  await world.shard('c')
  await world.insert('c', range(400))
  const fault = await world.cluster.steps.arm('shard.migration.caught-up', 'hold')
  const round = world.cluster.balancer.runRound()
  await world.cluster.steps.struck(fault)
  t.match(await world.command({ balancerStatus: 1 }), { mode: 'full', inBalancerRound: true })
  let stopped = false
  const stopping = world.command({ balancerStop: 1 }).then(() => (stopped = true))
  await world.cluster.advance(3000)
  t.equal(stopped, false)
  await world.cluster.steps.heal(fault)
  await stopping
  t.match((await round).migrations, [{ outcome: 'moved' }])
  t.match(await world.command({ balancerStatus: 1 }), { mode: 'off', inBalancerRound: false })
  t.equal((await world.cluster.balancer.runRound()).skipped, 'the balancer is stopped')
  await world.stop()
})

t.test('a balancer that is stopped between choice and move moves nothing', async (t) => {
  const world = await BalancedCluster.start({ emulate: '7.0', shards: 2 })
  const ns = await world.shard('c')
  await world.insert('c', range(400))
  const fault = await world.cluster.steps.arm('balancer.round.selected', 'hold')
  const round = world.cluster.balancer.runRound()
  await world.cluster.steps.struck(fault)
  const stopping = world.command({ balancerStop: 1 })
  await world.cluster.advance(1000)
  await world.cluster.steps.heal(fault)
  t.match((await round).migrations, [{ outcome: 'not-begun' }])
  await stopping
  t.same(await world.chunkCounts(ns), [1, 0])
  await world.stop()
})

t.test('settle reports unfinished work', async (t) => {
  const world = await BalancedCluster.start({ emulate: '7.0', shards: 2 })
  await world.shard('c')
  await world.insert('c', range(400))
  await world.cluster.steps.arm('shard.migration.started', 'fail')
  const error = await world.cluster.balancer.settle({ timeoutMs: 5000 }).catch((thrown: unknown) => thrown)
  t.ok(error instanceof NotSettledError)
  t.match(
    (error as Error).message,
    /^the balancer has not settled within 5000 ms: the last round decided: app\.c from shard01 to shard02, because shard01 has/,
  )
  await t.rejects(world.cluster.balancer.explain('app.none'), { message: 'Collection unsharded or undefined' })
  await world.stop()
})

t.test('explain names the shard of another zone that keeps a zone uneven', async (t) => {
  const world = await BalancedCluster.start({ emulate: '7.0', shards: 2 })
  const ns = await world.shard('c')
  await world.insert('c', range(1000))
  for (const [shard, zone] of Object.entries({ shard01: 'EU', shard02: 'US' }))
    await world.command({ addShardToZone: shard, zone })
  await world.command({ updateZoneKeyRange: ns, min: { k: new MinKey() }, max: { k: 700 }, zone: 'EU' })
  await world.command({ updateZoneKeyRange: ns, min: { k: 700 }, max: { k: new MaxKey() }, zone: 'US' })
  await world.cluster.balancer.settle(settled)
  t.match(await world.cluster.balancer.explain(ns), {
    balanced: true,
    zones: [{ largestToMean: 1 }, { largestToMean: 1 }],
  })
  await world.cluster.addShard()
  await world.command({ addShardToZone: 'shard03', zone: 'US' })
  const round = await world.cluster.balancer.runRound()
  t.same(round.migrations, [])
  t.match(round.blocked, [{ ns, zone: 'US', heaviest: 'shard01' }])
  t.match(await world.cluster.balancer.explain(ns), {
    balanced: false,
    answer:
      /^Zone US: shard01 is the heaviest and not in it, so nothing moves in this round, although shard02 has \d+ bytes, shard03 0 bytes: /,
    candidates: [],
    zones: [
      { zone: 'EU', largestToMean: 1 },
      { zone: 'US', shards: ['shard02', 'shard03'], largestToMean: 2 },
    ],
  })
  t.match(await world.command({ balancerCollectionStatus: ns }), { balancerCompliant: true }, 'as the server answers')
  await world.stop()
})

t.test('the guide lists every reply of explain', async (t) => {
  const answers: string[] = []
  const world = await BalancedCluster.start({ emulate: '5.0', shards: 1 })
  const ns = await world.shard('c')
  const ask = async () => answers.push((await world.cluster.balancer.explain(ns)).answer)
  await world.split(ns, [10, 20, 30])
  await ask()
  await world.cluster.addShard()
  await ask()
  await world.command({ balancerStop: 1 })
  await ask()
  await world.command({ balancerStart: 1 })
  await world.writeConfig(
    'settings',
    { _id: 'balancer' },
    { $set: { activeWindow: { start: '03:00', stop: '04:00' } } },
  )
  await ask()
  await world.writeConfig('settings', { _id: 'balancer' }, { $unset: { activeWindow: 1 } })
  await world.writeConfig('collections', { _id: ns }, { $set: { noBalance: true } })
  await ask()
  await world.writeConfig('collections', { _id: ns }, { $set: { noBalance: false } })
  await world.command({ setAllowMigrations: ns, allowMigrations: false })
  await ask()
  await world.command({ setAllowMigrations: ns, allowMigrations: true })
  await world.cluster.balancer.settle(settled)
  await ask()
  await world.command({ addShardToZone: 'shard01', zone: 'EU' })
  await world.command({ updateZoneKeyRange: ns, min: { k: 10 }, max: { k: 15 }, zone: 'EU' })
  await ask()
  await world.cluster.balancer.settle(settled)
  // The catalog refuses to remove a zone that is in use.
  await world.writeConfig('shards', { _id: 'shard01' }, { $set: { tags: [] } })
  await ask()
  await world.stop()
  const page = readFileSync(new URL('../../../docs/guides/watch-the-balancer.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| (.+?[.…:]) \| .+ \|$/gm)]
    .map(([, answer = '']) => answer.replace(/ ?…$/, ''))
    .filter((row) => row !== '')
  for (const answer of answers)
    t.ok(
      rows.some((row) => answer.startsWith(row)),
      answer,
    )
  const told = rows.filter((row) => answers.some((answer) => answer.startsWith(row)))
  t.same(
    rows.filter((row) => !told.includes(row)),
    ['A defragmentation of', '1 jumbo chunk of', 'Zone US: shard01 is the heaviest and not in it'],
    'the rows that other tests have',
  )
})

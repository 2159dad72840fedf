/**
 * Defragmentation of collections: phases, interruptions, and catalog entries.
 * `SHARDLAB_SEED=7` plays only this seed, `SHARDLAB_LONG=1` plays 60.
 */
import { createRandom } from '@shardlab/actor'
import { decode, encode, Long, type Document } from '@shardlab/bson'
import type { BalancerRoundEvent } from '@shardlab/cluster'
import t from 'tap'
import { BalancedCluster, onceEach, range } from './balanced-cluster.js'

const settled = { rangeDeletion: true, timeoutMs: 600_000 }
const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const seeds =
  SHARDLAB_SEED === undefined
    ? Array.from({ length: SHARDLAB_LONG === '1' ? 60 : 2 }, (_, i) => i + 2)
    : [Number(SHARDLAB_SEED)]

/** Creates a collection whose chunks of ten small documents alternate between the shards. */
async function fragmented(world: BalancedCluster, chunks = 12): Promise<string> {
  const ns = await world.shard('c')
  await world.command({ balancerStop: 1 })
  await world.insert('c', range(chunks * 10), 100)
  await world.split(
    ns,
    range(chunks - 1, 1).map((i) => i * 10),
  )
  const { shards } = world.cluster
  for (const [i, { min, max }] of (await world.chunks(ns)).entries())
    await world.command({ moveChunk: ns, bounds: [min, max], to: shards[i % shards.length], _waitForDelete: true })
  await world.command({ balancerStart: 1 })
  return ns
}

/** Applies the fault the second time that the step is reached during `begin`. */
async function secondTime(world: BalancedCluster, step: string, kind: 'hold' | 'fail' | 'crash', begin: () => unknown) {
  const { steps } = world.cluster
  const first = await steps.arm(step, 'hold', { times: 1 })
  begin()
  await steps.struck(first)
  const fault = await steps.arm(step, kind, { times: 1 })
  await steps.heal(first)
  const member = await steps.struck(fault)
  return { fault, member }
}

t.test('many small chunks on every shard become few', async (t) => {
  for (const emulate of ['6.0.2', '8.0'] as const) {
    const world = await BalancedCluster.start({ emulate, shards: 3 })
    const ns = await fragmented(world)
    t.same(await world.chunkCounts(ns), [4, 4, 4], emulate)
    await world.command({ configureCollectionBalancing: ns, defragmentCollection: true })
    t.match(await world.find('collections', { _id: ns }), [
      { defragmentCollection: true, defragmentationPhase: undefined },
    ])
    t.match(await world.reply({ balancerCollectionStatus: ns }), {
      balancerCompliant: false,
      firstComplianceViolation: 'defragmentingChunks',
      details: { currentPhase: 'none' },
    })
    t.match((await world.cluster.balancer.explain(ns)).answer, /^A defragmentation of app\.c starts in the next round/)
    const first = await world.cluster.balancer.runRound()
    t.match(first.migrations[0], {
      ns,
      reason: 'defragment',
      outcome: 'moved',
      because: /has the neighbour of a chunk of \d+ bytes/,
    })
    t.match(first.defragmenting, [{ ns, phase: 'moveAndMergeChunks' }])
    t.match(await world.find('collections', { _id: ns }), [{ defragmentationPhase: 'moveAndMergeChunks' }])
    const status = await world.reply({ balancerCollectionStatus: ns })
    t.match(status, { details: { currentPhase: 'moveAndMergeChunks', progress: { remainingChunksToProcess: Number } } })
    t.same(Object.keys(status).slice(0, 4), ['chunkSize', 'balancerCompliant', 'firstComplianceViolation', 'details'])
    t.match((await world.cluster.balancer.explain(ns)).answer, /is in phase moveAndMergeChunks, with \d+ chunks? to go/)
    t.ok((await world.chunks(ns)).some((chunk) => chunk['estimatedDataSizeBytes'] !== undefined))
    await world.cluster.balancer.settle(settled)
    const counts = await world.chunkCounts(ns)
    t.ok(counts.reduce((sum, count) => sum + count, 0) <= 4, `${emulate}: ${counts.join()}`)
    const [collection] = await world.find('collections', { _id: ns })
    t.notOk('defragmentCollection' in collection! || 'defragmentationPhase' in collection!)
    for (const chunk of await world.chunks(ns)) t.notOk('estimatedDataSizeBytes' in chunk)
    t.same(
      (await world.placed('c')).flat().toSorted((a, b) => a - b),
      range(120),
    )
    t.match((await world.find('changelog', { what: 'configureCollectionBalancing' }))[0], {
      details: { defragmentCollection: true },
    })
    await world.stop()
  }
})

t.test('chunks that are not small stay where they are; 6.0.2 splits them, later versions do not', async (t) => {
  for (const [emulate, splits] of [
    ['6.0.2', true],
    ['7.0', false],
  ] as const) {
    const world = await BalancedCluster.start({ emulate, shards: 2 })
    await world.command({ balancerStop: 1 })
    const ns = await world.shard('c')
    await world.insert('c', range(200))
    await world.split(ns, [100, 110])
    await world.command({ moveChunk: ns, find: { k: 150 }, to: 'shard02', forceJumbo: true, _waitForDelete: true })
    await world.command({ balancerStart: 1 })
    const before = await world.chunkCounts(ns)
    t.same(before, [2, 1])
    await world.command({ configureCollectionBalancing: ns, defragmentCollection: true })
    let round: Promise<BalancerRoundEvent> | undefined
    const { fault } = await secondTime(
      world,
      'balancer.defragmentation.phase',
      'hold',
      () => (round = world.cluster.balancer.runRound()),
    )
    const sizes = (await world.chunks(ns)).map((chunk) =>
      Long.fromValue(chunk['estimatedDataSizeBytes'] as Long).toString(),
    )
    t.equal(sizes.length, 2, 'two neighbours of one shard have become one')
    if (splits)
      t.ok(
        sizes.every((size) => Number(size) > 40_000 && Number(size) < 60_000),
        `measured: ${sizes.join()}`,
      )
    else t.same(sizes, ['9223372036854775807', '9223372036854775807'], 'more than a small chunk')
    await world.cluster.steps.heal(fault)
    t.same((await round!).migrations, [])
    await world.cluster.balancer.settle(settled)
    const after = await world.chunkCounts(ns)
    if (splits) t.ok(after[0]! > 2 && after[1]! > 1, after.join())
    else t.same(after, [1, 1])
    await world.stop()
  }
})

t.test('D893 a stopped defragmentation keeps the changes made so far', async (t) => {
  for (const [emulate, phase] of [
    ['6.0.2', 'splitChunks'],
    ['7.0', 'finished'],
  ] as const) {
    const world = await BalancedCluster.start({ emulate, shards: 3 })
    const ns = await fragmented(world)
    await world.command({ configureCollectionBalancing: ns, defragmentCollection: true })
    await world.cluster.balancer.runRound()
    await world.command({ configureCollectionBalancing: ns, defragmentCollection: false })
    t.match(await world.find('collections', { _id: ns }), [{ defragmentCollection: true, defragmentationPhase: phase }])
    const { defragmenting, migrations } = await world.cluster.balancer.runRound()
    t.same([defragmenting, migrations.filter(({ reason }) => reason === 'defragment')], [[], []])
    t.ok((await world.chunks(ns)).length > 6, 'it has not come far')
    t.notOk('defragmentCollection' in (await world.find('collections', { _id: ns }))[0]!)
    t.match(await world.command({ balancerCollectionStatus: ns }), { firstComplianceViolation: undefined })
    await world.command({ configureCollectionBalancing: ns, defragmentCollection: false })
    await world.stop()
  }
})

t.test('a stop at the start of a phase takes effect', async (t) => {
  const world = await BalancedCluster.start({ emulate: '7.0', shards: 3 })
  const ns = await fragmented(world)
  await world.command({ configureCollectionBalancing: ns, defragmentCollection: true })
  let round: Promise<BalancerRoundEvent> | undefined
  const { fault } = await secondTime(
    world,
    'balancer.defragmentation.phase',
    'hold',
    () => (round = world.cluster.balancer.runRound()),
  )
  await world.command({ configureCollectionBalancing: ns, defragmentCollection: false })
  await world.cluster.steps.heal(fault)
  t.same((await round!).defragmenting, [])
  t.notOk('defragmentationPhase' in (await world.find('collections', { _id: ns }))[0]!)
  await world.stop()
})

t.test('a balancer that crashes, or whose steps fail, resumes from the state in the catalog', async (t) => {
  for (const [step, kind] of [
    ['balancer.defragmentation.phase', 'fail'],
    ['balancer.defragmentation.action', 'crash'],
    ['shard.merge-chunks.before-commit', 'crash'],
  ] as const) {
    const world = await BalancedCluster.start({ emulate: '7.0', shards: 3, balancerRoundIntervalMs: 1000 })
    const ns = await fragmented(world)
    await world.command({ balancerStop: 1 })
    await world.command({ configureCollectionBalancing: ns, defragmentCollection: true })
    await world.command({ balancerStart: 1 })
    const begin = () => void world.cluster.balancer.settle(settled).catch(() => undefined)
    const { fault, member } = await secondTime(world, step, kind, begin)
    await world.cluster.steps.heal(fault)
    if (kind === 'crash') await world.cluster.restart(member)
    for (let i = 0; i < 60 && 'defragmentCollection' in (await world.find('collections', { _id: ns }))[0]!; i++)
      await world.cluster.advance(10_000)
    const counts = await world.chunkCounts(ns)
    t.ok(counts.reduce((sum, count) => sum + count, 0) <= 4, `${step} ${kind}: ${counts.join()}`)
    t.same((await world.placed('c')).map((ids) => ids.length).reduce((sum, count) => sum + count, 0) >= 120, true)
    await world.stop()
  }
})

for (const seed of seeds) {
  const emulate = (['6.0.2', '6.0', '7.0', '8.0'] as const)[seed % 4]!
  t.test(
    `${emulate} with crashes, seed ${seed} (again: SHARDLAB_SEED=${seed} npm test -- simulation/defragmentation)`,
    async (t) => {
      const random = createRandom(seed)
      const world = await BalancedCluster.start({ emulate, shards: 3, seed, balancerRoundIntervalMs: 500 })
      const { cluster } = world
      const ns = await world.shard('c')
      await world.command({ balancerStop: 1 })
      await world.insert('c', range(200), 60 + random.below(600))
      const points = new Set(Array.from({ length: 15 }, () => 1 + random.below(199)))
      await world.split(
        ns,
        [...points].sort((a, b) => a - b),
      )
      for (const { min, max } of await world.chunks(ns)) {
        const to = cluster.shards[random.below(3)]
        await world.command({ moveChunk: ns, bounds: [min, max], to, _waitForDelete: true, forceJumbo: true })
      }
      const before = (await world.chunks(ns)).length
      await world.command({ balancerStart: 1 })
      await world.command({ configureCollectionBalancing: ns, defragmentCollection: true })
      for (let i = 0; i < 12; i++) {
        await cluster.advance(random.below(900))
        if (random.chance(1, 10))
          await world.command({ configureCollectionBalancing: ns, defragmentCollection: random.chance(1, 2) })
        if (!random.chance(1, 2)) continue
        const victim = ['shard01', 'shard02', 'shard03', 'config', 'balancer', 'mongos01'][random.below(6)]!
        await cluster.crash(victim)
        await cluster.advance(random.below(400))
        await cluster.restart(victim)
      }
      for (let i = 0; i < 100 && 'defragmentCollection' in (await world.find('collections', { _id: ns }))[0]!; i++)
        await cluster.advance(5000)
      await cluster.balancer.settle(settled)
      const chunks = await world.chunks(ns)
      t.notOk('defragmentCollection' in (await world.find('collections', { _id: ns }))[0]!)
      t.notOk(chunks.some((chunk) => 'estimatedDataSizeBytes' in chunk))
      t.ok(chunks.length <= before + 2, `${before} chunks, then ${chunks.length}`)
      onceEach(t, await world.placed('c'), range(200))
      await world.stop()
    },
  )
}

t.test('defragmentation respects zones and draining shards', async (t) => {
  const world = await BalancedCluster.start({ emulate: '7.0', shards: 3 })
  const ns = await fragmented(world)
  await world.command({ balancerStop: 1 })
  await world.command({ addShardToZone: 'shard02', zone: 'EU' })
  await world.command({ updateZoneKeyRange: ns, min: { k: 40 }, max: { k: 60 }, zone: 'EU' })
  await world.command({ removeShard: 'shard03' })
  await world.command({ configureCollectionBalancing: ns, defragmentCollection: true })
  await world.command({ balancerStart: 1 })
  const rounds: Document[] = []
  for (let i = 0; i < 20; i++) {
    const round = await world.cluster.balancer.runRound()
    rounds.push(...round.migrations.filter(({ reason }) => reason === 'defragment'))
    if (round.defragmenting.length === 0) break
  }
  t.ok(rounds.length > 0)
  t.notOk(rounds.some(({ to }) => to === 'shard03'))
  await world.cluster.balancer.settle(settled)
  for (const { min, max, shard } of await world.chunks(ns))
    if (min.k === 40 || max.k === 60) t.equal(shard, 'shard02', `${String(min.k)} to ${String(max.k)}`)
  await world.stop()
})

t.test('unknown collections, and those of 5.0, cannot be defragmented', async (t) => {
  const world = await BalancedCluster.start({ emulate: '7.0', shards: 1 })
  t.match(await world.reply({ configureCollectionBalancing: 'app.none', defragmentCollection: true }), {
    code: 118,
    errmsg: 'Expected to match one doc for query { _id: "app.none" } but matched 0',
  })
  t.match(await world.reply({ configureCollectionBalancing: 'app.none', defragmentCollection: false }), {
    code: 26,
    errmsg: 'collection app.none not found',
  })
  t.match(await world.reply({ configureCollectionBalancing: 'app.none', defragmentCollection: 1 }), { code: 14 })
  await world.stop()
  const old = await BalancedCluster.start({ emulate: '5.0', shards: 1 })
  t.match(await old.reply({ configureCollectionBalancing: 'app.c', defragmentCollection: true }), { code: 59 })
  await old.stop()
})

t.test('chunkDefragmentationThrottlingMS delays merges', async (t) => {
  const world = await BalancedCluster.start({ emulate: '7.0', shards: 1 })
  const ns = await fragmented(world, 4)
  await world.command({ addShardToZone: 'shard01', zone: 'EU' })
  await world.command({ updateZoneKeyRange: ns, min: { k: 10 }, max: { k: 20 }, zone: 'EU' })
  await world.split(ns, [5, 15])
  const merges: number[] = []
  world.cluster.onEvent((event) => {
    if (event.type === 'merge') merges.push(event.atMs)
  })
  const parameter = { setParameter: 1, chunkDefragmentationThrottlingMS: 5000, $db: 'admin' }
  t.match(decode(await world.cluster.command(encode(parameter), { to: 'config' })), { ok: 1 })
  await world.command({ configureCollectionBalancing: ns, defragmentCollection: true })
  await world.cluster.balancer.settle(settled)
  t.equal(merges.length, 3)
  for (const [i, atMs] of merges.entries())
    if (i > 0) t.ok(atMs - merges[i - 1]! >= 4900, `${atMs - merges[i - 1]!} ms apart`)
  await world.stop()
})

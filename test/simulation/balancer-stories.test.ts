/**
 * Balancing as users see it: zones, added and removed shards, frequent key values; by chunk count
 * and by bytes.
 */
import type { Document } from '@shardlab/bson'
import t from 'tap'
import { BalancedCluster, onceEach, range } from './balanced-cluster.js'

const settled = { rangeDeletion: true, timeoutMs: 600_000 }

t.test('zones are enforced by splits first, then by moves', async (t) => {
  for (const emulate of ['4.4', '7.0'] as const) {
    const world = await BalancedCluster.start({ emulate, shards: 3 })
    const ns = await world.shard('c')
    await world.insert('c', range(60), 100)
    await world.command({ addShardToZone: 'shard03', zone: 'EU' })
    await world.command({ updateZoneKeyRange: ns, min: { k: 10 }, max: { k: 30 }, zone: 'EU' })
    t.match(await world.cluster.balancer.explain(ns), {
      balanced: false,
      answer: 'Zones begin or end within 1 chunk: the next round splits it, then chunks can move.',
      splits: [{ shard: 'shard01', points: ['{"k":10}', '{"k":30}'] }],
      candidates: [],
    })
    t.match(await world.command({ balancerCollectionStatus: ns }), {
      balancerCompliant: false,
      firstComplianceViolation: 'zoneViolation',
    })
    const first = await world.cluster.balancer.runRound()
    t.match(first.splits, [{ ns, shard: 'shard01', points: ['{"k":10}', '{"k":30}'], error: null }])
    t.match(first.migrations, [
      { from: 'shard01', to: 'shard03', min: '{"k":10}', reason: 'zoneViolation', outcome: 'moved' },
    ])
    await world.cluster.balancer.settle(settled)
    t.ok((await world.chunks(ns)).find(({ min, shard }) => min.k === 10 && shard === 'shard03'))
    t.match(await world.command({ balancerCollectionStatus: ns }), { balancerCompliant: true })
    await world.stop()
  }
})

t.test('a draining shard is emptied and can be removed', async (t) => {
  for (const emulate of ['4.4', '7.0'] as const) {
    const world = await BalancedCluster.start({ emulate, shards: 3 })
    const ns = await world.shard('c')
    await world.insert('c', range(90), 100)
    await world.split(ns, [30, 60])
    for (const [i, k] of [30, 60].entries())
      await world.command({ moveChunk: ns, find: { k }, to: world.cluster.shards[i + 1], _waitForDelete: true })
    t.match(await world.command({ removeShard: 'shard03' }), { state: 'started' })
    t.match(await world.command({ removeShard: 'shard03' }), { state: 'ongoing', remaining: { chunks: 1 } })
    t.match(await world.command({ balancerCollectionStatus: ns }), {
      balancerCompliant: false,
      firstComplianceViolation: 'draining',
    })
    t.match((await world.cluster.balancer.explain(ns)).candidates, [{ from: 'shard03', reason: 'draining' }])
    await world.cluster.balancer.settle(settled)
    t.match(await world.command({ removeShard: 'shard03' }), { state: 'completed' })
    onceEach(t, await world.placed('c'), range(90))
    t.match(await world.command({ balancerCollectionStatus: ns }), { balancerCompliant: true })
    await world.stop()
  }
})

t.test('a key value that is too frequent becomes a jumbo chunk', async (t) => {
  for (const emulate of ['4.4', '7.0'] as const) {
    const world = await BalancedCluster.start({ emulate, shards: 2 })
    const jumbo: Document[] = []
    world.cluster.onEvent((event) => {
      if (event.type === 'jumbo') jumbo.push(event)
    })
    const ns = await world.shard('c')
    await world.insert('c', range(300), 512, () => ({ k: 'one' }))
    if (emulate === '4.4') for (const k of ['one', 'p', 'q']) await world.command({ split: ns, middle: { k } })
    // The lowest chunk is empty and moves first.
    for (let i = 0; i < 4 && jumbo.length === 0; i++) await world.cluster.balancer.runRound()
    t.match(jumbo, [{ ns, shard: 'shard01' }], emulate)
    const marked = (await world.chunks(ns)).filter((chunk) => chunk['jumbo'] === true)
    t.equal(marked.length, 1)
    await world.cluster.balancer.settle(settled)
    t.equal((await world.placed('c'))[0]!.length, 300, 'no chunk moves')
    t.equal((await world.cluster.balancer.explain(ns)).shards[0]!.jumboChunks, 1)
    await world.command({ removeShard: 'shard01' })
    await world.cluster.balancer.settle(settled)
    t.match(await world.command({ removeShard: 'shard01' }), {
      state: 'ongoing',
      remaining: { chunks: 1, jumboChunks: 1 },
    })
    t.match(
      (await world.cluster.balancer.explain(ns)).answer,
      /^1 jumbo chunk of app\.c cannot leave shard01: split it, clear the mark/,
    )
    await world.command({ clearJumboFlag: ns, find: { k: 'one' } })
    await world.cluster.balancer.settle(settled)
    t.equal((await world.placed('c'))[1]!.length, 300, 'off a draining shard it moves whatever its size')
    await world.stop()
  }
})

t.test('seven continents fill seven chunks, and the eighth shard stays empty', async (t) => {
  const continents = ['Africa', 'Antarctica', 'Asia', 'Europe', 'North America', 'Oceania', 'South America']
  for (const emulate of ['4.4', '7.0'] as const) {
    const world = await BalancedCluster.start({ emulate, shards: 8 })
    const ns = await world.shard('c')
    await world.insert('c', range(700), 512, (key) => ({ k: continents[key % 7] }))
    // In 7.0 two shards may keep up to three chunks more than others.
    if (emulate === '4.4') await world.cluster.balancer.settle(settled)
    else for (let i = 0; i < 6; i++) await world.cluster.balancer.runRound()
    const placed = await world.placed('c')
    const kinds = placed.map((ids) => new Set(ids.map((id) => id % 7)).size)
    t.ok((await world.chunks(ns)).length <= 8, `${emulate}: seven values and what lies below them`)
    t.ok(kinds.filter((kind) => kind > 0).length <= 7, 'no value is divided')
    await world.stop()
  }
})

t.test('an added shard gets its share', async (t) => {
  for (const emulate of ['4.4', '7.0'] as const) {
    const world = await BalancedCluster.start({ emulate, shards: 2, members: 1 })
    const ns = await world.shard('c')
    await world.insert('c', range(400))
    await world.cluster.balancer.settle(settled)
    t.match(await world.command({ balancerCollectionStatus: ns }), { balancerCompliant: true })
    await world.cluster.addShard()
    t.match(await world.command({ balancerCollectionStatus: ns }), {
      balancerCompliant: false,
      firstComplianceViolation: 'chunksImbalance',
    })
    t.match((await world.cluster.balancer.explain(ns)).candidates, [{ to: 'shard03', reason: 'chunksImbalance' }])
    await world.cluster.balancer.settle(settled)
    t.match(await world.command({ balancerCollectionStatus: ns }), { balancerCompliant: true })
    const placed = await world.placed('c')
    onceEach(t, placed, range(400))
    t.ok(placed[2]!.length > 50, `${emulate}: ${placed.map((ids) => ids.length).join()}`)
    await world.stop()
  }
})

t.test('attemptToBalanceJumboChunks moves chunks that are too large', async (t) => {
  for (const emulate of ['4.4', '7.0'] as const) {
    for (const attempts of [false, true]) {
      const world = await BalancedCluster.start({ emulate, shards: 2 })
      const ns = await world.shard('c')
      await world.insert('c', range(300), 512, () => ({ k: 'one' }))
      if (emulate === '4.4') for (const k of ['one', 'p', 'q']) await world.command({ split: ns, middle: { k } })
      await world.writeConfig('settings', { _id: 'balancer' }, { $set: { attemptToBalanceJumboChunks: attempts } })
      const outcomes: string[] = []
      for (let i = 0; i < 4 && !(await world.placed('c'))[1]!.length && !outcomes.includes('jumbo'); i++)
        outcomes.push(...(await world.cluster.balancer.runRound()).migrations.map(({ outcome }) => outcome))
      t.equal((await world.placed('c'))[1]!.length, attempts ? 300 : 0, `${emulate}: ${outcomes.join()}`)
      t.equal(outcomes.includes('jumbo'), !attempts)
      await world.stop()
    }
  }
})

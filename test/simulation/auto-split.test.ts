/** Auto-split: chunks split as they grow, until 6.0.2. */
import t from 'tap'
import { BalancedCluster, range } from './balanced-cluster.js'

const settled = { rangeDeletion: true, timeoutMs: 600_000 }

t.test('D890: writes split chunks until 6.0.2, and nothing splits afterwards', async (t) => {
  for (const [emulate, splits] of [
    ['2.6', true],
    ['4.4', true],
    ['6.0.2', true],
    ['6.0', false],
  ] as const) {
    const world = await BalancedCluster.start({ emulate, shards: 1 })
    const ns = await world.shard('c')
    const events: string[] = []
    world.cluster.onEvent((event) => {
      if (event.type === 'split') events.push(event.ns)
    })
    for (let from = 0; from < 300; from += 30) {
      await world.insert('c', range(30, from))
      await world.cluster.advance(100)
    }
    const chunks = await world.chunks(ns)
    if (splits) {
      t.ok(chunks.length > 5, `${emulate}: ${chunks.length} chunks`)
      t.equal(events.length > 0, true)
      const full = emulate === '2.6' ? 16 : 32
      const counts = chunks.map(
        ({ min, max }) =>
          range(300).filter(
            (k) => (typeof min.k !== 'number' || min.k <= k) && (typeof max.k !== 'number' || k < max.k),
          ).length,
      )
      t.ok(
        counts.every((count) => count <= full * 2.2),
        `${emulate}: ${counts.join()}`,
      )
    } else t.equal(chunks.length, 1, emulate)
    await world.stop()
  }
})

t.test('updates count as growth, and autosplit: false disables splits', async (t) => {
  const world = await BalancedCluster.start({ emulate: '5.0', shards: 1 })
  const ns = await world.shard('c')
  await world.insert('c', range(100), 60)
  await world.cluster.advance(1000)
  t.equal((await world.chunks(ns)).length, 1)
  await world.writeConfig('settings', { _id: 'autosplit' }, { $set: { enabled: false } })
  const pad = 'x'.repeat(400)
  const grow = (q: object) =>
    world.admin.write({
      command: { update: 'c', $db: 'app' },
      documents: [{ q, u: { $set: { pad } }, multi: true }],
      field: 'updates',
    })
  await grow({ k: { $lt: 50 } })
  await world.cluster.advance(1000)
  t.equal((await world.chunks(ns)).length, 1, 'switched off')
  await world.writeConfig('settings', { _id: 'autosplit' }, { $set: { enabled: true } })
  await grow({ k: { $gte: 50 } })
  await world.cluster.advance(1000)
  t.ok((await world.chunks(ns)).length > 1)
  await world.stop()
})

t.test('with monotonic keys the last chunk moves to another shard', async (t) => {
  for (const emulate of ['4.4', '6.0.2'] as const) {
    const world = await BalancedCluster.start({ emulate, shards: 3 })
    const ns = await world.shard('c')
    const owners: string[] = []
    for (let from = 0; from < 600; from += 50) {
      await world.insert('c', range(50, from))
      await world.cluster.advance(1000)
      owners.push((await world.chunks(ns)).at(-1)!['shard'] as string)
    }
    t.ok(new Set(owners).size > 1, `${emulate}: the hot chunk was on ${owners.join()}`)
    t.same(world.rounds, [], 'without any round')
    const counts = await world.chunkCounts(ns)
    t.ok(counts.filter((count) => count > 0).length > 1, counts.join())
    await world.cluster.balancer.settle(settled)
    const after = await world.chunkCounts(ns)
    t.ok(Math.max(...after) - Math.min(...after) <= 1, after.join())
    t.same(
      (await world.placed('c')).flat().toSorted((a, b) => a - b),
      range(600),
    )
    await world.stop()
  }
})

t.test('with descending keys the first chunk moves to another shard', async (t) => {
  const world = await BalancedCluster.start({ emulate: '4.4', shards: 3 })
  const ns = await world.shard('c')
  const owners: string[] = []
  for (let from = 600; from > 0; from -= 50) {
    await world.insert('c', range(50, from).toReversed())
    await world.cluster.advance(1000)
    owners.push((await world.chunks(ns))[0]!['shard'] as string)
  }
  t.ok(new Set(owners).size > 1, owners.join())
  await world.stop()
})

t.test('the top chunk stays if balancing is disabled or the key is hashed', async (t) => {
  const stopped = await BalancedCluster.start({ emulate: '4.4', shards: 3 })
  const ns = await stopped.shard('c')
  await stopped.writeConfig('collections', { _id: ns }, { $set: { noBalance: true } })
  await stopped.insert('c', range(400))
  await stopped.cluster.advance(1000)
  const [own, ...others] = await stopped.chunkCounts(ns)
  t.ok(own! > 5)
  t.same(others, [0, 0])
  await stopped.stop()

  const hashed = await BalancedCluster.start({ emulate: '4.4', shards: 3 })
  const spread = await hashed.shard('c', { k: 'hashed' })
  const moved: string[] = []
  hashed.cluster.onEvent((event) => {
    if (event.type === 'migration') moved.push(event.ns)
  })
  await hashed.insert('c', range(600))
  await hashed.cluster.advance(1000)
  t.same(moved, [])
  const counts = await hashed.chunkCounts(spread)
  t.ok(
    counts.every((count) => count >= 2),
    counts.join(),
  )
  const placed = await hashed.placed('c')
  t.ok(
    placed.every((ids) => ids.length > 120),
    placed.map((ids) => ids.length).join(),
  )
  await hashed.stop()
})

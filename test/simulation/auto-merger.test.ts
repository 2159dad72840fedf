/** The AutoMerger merges adjacent chunks of a shard every hour. */
import t from 'tap'
import { BalancedCluster, range } from './balanced-cluster.js'

const hourMs = 3_600_000

t.test('7.0 merges chunks hourly that have been on their shard long enough', async (t) => {
  const world = await BalancedCluster.start({ emulate: '7.0', shards: 2, balancerRoundIntervalMs: 60_000 })
  const [one, two] = [await world.shard('one'), await world.shard('two')]
  for (const ns of [one, two]) await world.split(ns, range(5, 1))
  await world.command({ configureCollectionBalancing: two, enableAutoMerger: false })
  await world.cluster.advance(90_000)
  t.same(await world.chunkCounts(one), [6, 0], 'too young')
  await world.cluster.advance(hourMs)
  t.same(await world.chunkCounts(one), [1, 0])
  t.same(await world.chunkCounts(two), [6, 0], 'switched off for this one')
  const merges = await world.find('changelog', { what: 'merge' })
  t.match(merges, [{ ns: one }])
  await world.split(one, [3])
  await world.writeConfig('settings', { _id: 'automerge' }, { $set: { enabled: false } })
  await world.cluster.advance(hourMs)
  t.same(await world.chunkCounts(one), [2, 0], 'switched off')
  await world.stop()
})

t.test('6.0 does not merge chunks automatically', async (t) => {
  const world = await BalancedCluster.start({ emulate: '6.0', shards: 2, balancerRoundIntervalMs: 60_000 })
  const ns = await world.shard('c')
  await world.split(ns, range(5, 1))
  await world.cluster.advance(2 * hourMs)
  t.same(await world.chunkCounts(ns), [6, 0])
  await world.stop()
})

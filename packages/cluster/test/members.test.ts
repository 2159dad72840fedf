import t from 'tap'
import { createSimulatedCluster, OptionError, ShardedCluster } from '../src/index.js'

const clusters = {
  inline: () => ShardedCluster.start({ shards: 1, runtime: 'inline' }),
  simulated: () => createSimulatedCluster({ shards: 1 }),
}

for (const [world, start] of Object.entries(clusters)) {
  t.test(`${world}: crash, restart and describe refuse an unknown member`, async (t) => {
    await using cluster = await start()
    const known = cluster.members().map(({ address }) => address)
    t.same(known.toSorted(), ['balancer', 'config', 'mongos01', 'shard01'])
    const refusal = new OptionError(
      `shard09 is not a member of this cluster; its members are ${known.toSorted().join(', ')}.`,
    )
    for (const verb of ['crash', 'restart', 'describe'] as const)
      await t.rejects(
        cluster[verb]('shard09').then(() => {}),
        refusal,
        verb,
      )
  })
}

t.test('inline: listeners get member events, and stop can be called twice', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 1, mongos: 2, runtime: 'inline', seed: 3 })
  t.equal(cluster.seed, 3)
  t.match(cluster.id, /^[2-9a-z]{8}$/)
  t.equal(cluster.uri, `mongodb://${cluster.mongos.join(',')}/`)
  t.equal(new Set(cluster.mongos).size, 2)
  t.match(cluster.shards, [{ id: 'shard01', uri: /^mongodb:\/\/127\.0\.0\.1:\d+\/\?directConnection=true$/ }])
  const states: string[] = []
  cluster.on('member', ({ member, state }) => states.push(`${member} ${state}`))
  await cluster.crash('mongos02')
  await cluster.crash('mongos02')
  await cluster.restart('mongos02')
  t.same(states, ['mongos02 crashed', 'mongos02 started'])
  t.equal(cluster.stop(), cluster.stop())
  await cluster.stop()
  t.same([...new Set(cluster.members().map(({ state }) => state))], ['stopped'])
})

t.test('inline: a shard is added, but not while the config server is down, nor after stop', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline' })
  const { id, uri } = await cluster.addShard()
  t.equal(id, 'shard02')
  t.same(cluster.shards.at(-1), { id, uri })
  await cluster.crash('config')
  await t.rejects(cluster.addShard(), new Error('cannot add a shard while config is down: restart it first.'))
  t.equal(cluster.members().filter(({ role }) => role === 'shard').length, 2, 'no shard was started')
  await cluster.stop()
  await t.rejects(cluster.addShard(), new OptionError('cannot add a shard: the cluster has been stopped.'))
})

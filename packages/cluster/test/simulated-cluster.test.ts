import t from 'tap'
import { RequestFailedError } from '@shardlab/actor'
import { createSimulatedCluster, OptionError } from '../src/index.js'

/** `{ ping: 1, $db: 'admin' }` as BSON. */
const ping = Buffer.from('1e0000001070696e67000100000002246462000600000061646d696e0000', 'hex')
const okOne = Buffer.from('016f6b00000000000000f03f', 'hex')

t.test('members answer, crash and restart, and time passes only in calls that wait', async (t) => {
  await using cluster = await createSimulatedCluster({
    seed: 1,
    shards: 2,
    mongos: 2,
    latency: { minMicros: 100, maxMicros: 100 },
  })
  t.same(cluster.shards, ['shard01', 'shard02'])
  t.same(cluster.mongos, ['mongos01', 'mongos02'])
  t.same(
    cluster
      .members()
      .map(({ address }) => address)
      .sort(),
    ['balancer', 'config', 'mongos01', 'mongos02', 'shard01', 'shard02'],
  )
  for (const to of [undefined, 'mongos02', 'shard01', 'config']) {
    const began = cluster.now()
    const reply = await cluster.command(ping, to === undefined ? {} : { to })
    t.ok(Buffer.from(reply).includes(okOne), `${to ?? 'the first mongos'} answers`)
    t.ok(cluster.now() - began <= 1, 'request and reply take 100 microseconds each')
  }
  const states: string[] = []
  const unlisten = cluster.onEvent((event) => event.type === 'member' && states.push(`${event.member} ${event.state}`))
  await cluster.crash('mongos02')
  await t.rejects(cluster.command(ping, { to: 'mongos02' }), RequestFailedError)
  await t.rejects(cluster.describe('mongos02'), /crashed/)
  await cluster.restart('mongos02')
  t.ok(Buffer.from(await cluster.command(ping, { to: 'mongos02' })).includes(okOne))
  t.match(await cluster.describe('mongos02'), { openCursors: 0 })
  t.same(states, ['mongos02 crashed', 'mongos02 started'])
  unlisten()
  const before = cluster.now()
  await cluster.advance(3_600_000)
  t.equal(cluster.now(), before + 3_600_000)
})

t.test('a held step stops the balancer until it is healed', async (t) => {
  await using cluster = await createSimulatedCluster({ seed: 1, shards: 1 })
  const id = await cluster.steps.arm('balancer.round.started', 'hold')
  await cluster.advance(60_000)
  t.equal(await cluster.steps.struck(id), 'balancer')
  t.match(await cluster.describe('balancer'), { rounds: 0, inRound: true })
  await cluster.steps.heal(id)
  await cluster.advance(60_000)
  t.match(await cluster.describe('balancer'), { inRound: false })
})

t.test('equal seeds give equal trace hashes, other seeds others', async (t) => {
  const play = async (seed: number) => {
    await using cluster = await createSimulatedCluster({ seed, shards: 2 })
    await cluster.command(ping)
    await cluster.advance(30_000)
    t.equal(cluster.seed, seed)
    return cluster.traceHash()
  }
  t.equal(await play(5), await play(5))
  t.not(await play(5), await play(6))
})

t.test('a wrong option is refused', async (t) => {
  await t.rejects(
    createSimulatedCluster({ shards: -1 }),
    new OptionError('shards is -1; it must be a whole number from 0 to 1000.'),
  )
})

/** Wrong clocks, slow links, and duplicated requests. */
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster, type SimulatedClusterOptions } from '@shardlab/cluster'
import t, { type Test } from 'tap'

const ns = 'app.things'

async function ask(cluster: SimulatedCluster, command: Document, to = 'mongos01'): Promise<Document> {
  return decode(await cluster.command(encode({ ...command, $db: command['$db'] ?? 'app' }), { to }), {
    promoteLongs: true,
  })
}

const admin = (cluster: SimulatedCluster, command: Document, to = 'mongos01') =>
  ask(cluster, { ...command, $db: 'admin' }, to)

/** Two shards; keys below 0 are on the first, others on the second. */
async function start(t: Test, options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
  const cluster = await createSimulatedCluster({ seed: 1, shards: 2, ...options })
  t.teardown(() => cluster.stop())
  for (const command of [
    { enableSharding: 'app', primaryShard: 'shard01' },
    { shardCollection: ns, key: { x: 1 } },
    { split: ns, middle: { x: 0 } },
    { moveChunk: ns, find: { x: 1 }, to: 'shard02', _waitForDelete: true },
    { balancerStop: 1 },
  ])
    t.match(await admin(cluster, command), { ok: 1 })
  return cluster
}

const insert = (cluster: SimulatedCluster, ...xs: readonly number[]) =>
  ask(cluster, { insert: 'things', documents: xs.map((x) => ({ _id: x, x })) })

async function idsOf(cluster: SimulatedCluster, name = 'things'): Promise<unknown[]> {
  const { cursor } = await ask(cluster, { find: name, sort: { _id: 1 }, batchSize: 1000 })
  return (cursor as { firstBatch: Document[] }).firstBatch.map((document) => document['_id'])
}

async function clockOf(cluster: SimulatedCluster): Promise<number> {
  return ((await admin(cluster, { hello: 1 }, 'shard02'))['localTime'] as Date).getTime()
}

const skewOf = async (cluster: SimulatedCluster): Promise<number> => (await clockOf(cluster)) - cluster.now()

t.test('a clock that is skewed back stands still', async (t) => {
  const cluster = await start(t)
  await cluster.faults.apply('skew clock of shard02 by 1m')
  t.ok((await skewOf(cluster)) > 59_000)
  t.match(await insert(cluster, 20), { n: 1 })
  await cluster.faults.heal()
  const stood = await clockOf(cluster)
  await cluster.advance(1000)
  t.equal(await clockOf(cluster), stood)
  await cluster.advance(60_000)
  t.ok(Math.abs(await skewOf(cluster)) < 10)
})

for (const emulate of ['4.0', '8.0'] as const) {
  t.test(`a clock that jumps back does not move the cluster time back, ${emulate}`, async (t) => {
    const cluster = await start(t, { emulate })
    const before = await insert(cluster, 1)
    await cluster.faults.apply('jump clock of shard02 by -2h')
    t.ok(Math.abs((await skewOf(cluster)) + 7_200_000) < 10)
    const during = await insert(cluster, 2)
    t.match(during, { ok: 1, n: 1 })
    t.ok(timeOf(during) > timeOf(before), 'operation times never go back')
    t.match(await admin(cluster, { moveChunk: ns, find: { x: 1 }, to: 'shard01' }), { ok: 1 })
    t.same(await idsOf(cluster), [1, 2])
    await cluster.advance(1_000_000)
    t.match(await ask(cluster, { count: 'things' }, 'shard02'), { n: 0 }, 'what waits waits as long as before')
    await cluster.faults.heal()
    t.ok(Math.abs(await skewOf(cluster)) < 10)
    await cluster.faults.apply('jump clock of shard02 by 1h')
    t.match(await admin(cluster, { moveChunk: ns, find: { x: 1 }, to: 'shard02' }), { ok: 1 })
    t.match(await insert(cluster, 3), { ok: 1, n: 1 })
    await cluster.faults.heal()
    t.ok(Math.abs(await skewOf(cluster)) < 10, 'and back again, unlike a clock that is skewed')
    t.match(await insert(cluster, 4), { ok: 1, n: 1 })
    t.same(await idsOf(cluster), [1, 2, 3, 4])
  })
}

function timeOf({ operationTime }: Document): bigint {
  return (operationTime as { toBigInt(): bigint }).toBigInt()
}

t.test('a clock that is set back during a resharding does not prolong it', async (t) => {
  const cluster = await start(t)
  t.match(await insert(cluster, -1, 1), { n: 2 })
  await cluster.faults.apply('jump clock of config by 10m')
  const { id } = await cluster.faults.apply('hold at config.resharding.cloned')
  const command = { reshardCollection: ns, key: { _id: 1 }, numInitialChunks: 1, $db: 'admin' }
  const resharding = cluster.commandInBackground(encode(command))
  await cluster.faults.reached(id)
  await cluster.faults.apply('jump clock of config by -10m')
  await cluster.faults.heal(id)
  const beganMs = cluster.now()
  t.match(decode(await cluster.during(resharding)), { ok: 1 })
  t.ok(cluster.now() - beganMs < 60_000)
})

t.test('an operation during which the clock of its members is set back has a duration', async (t) => {
  const cluster = await start(t)
  const durationsMs: number[] = []
  cluster.onEvent((event) => event.type === 'routed' && durationsMs.push(event.durationMs))
  cluster.watch(['routed'])
  for (const member of ['mongos01', 'shard02']) await cluster.faults.apply(`jump clock of ${member} by 10m for 2s`)
  await cluster.faults.apply('delay between mongos01 and shard02 by 3s for 1s')
  t.match(await ask(cluster, { find: 'things', filter: { x: 1 } }), { ok: 1 })
  t.ok(
    durationsMs.length === 1 && durationsMs[0]! >= 3000 && durationsMs[0]! < 20_000,
    `durations: ${durationsMs.join()}`,
  )
})

t.test('a slow link slows a migration in proportion to its bytes', async (t) => {
  const cluster = await start(t)
  const padding = 'x'.repeat(10_000)
  t.match(
    await ask(cluster, {
      insert: 'things',
      documents: Array.from({ length: 100 }, (_, i) => ({ _id: i + 1, x: i + 1, padding })),
    }),
    {
      n: 100,
    },
  )
  const tookMs = async (to: string): Promise<number> => {
    const began = cluster.now()
    t.match(await admin(cluster, { moveChunk: ns, find: { x: 1 }, to, _waitForDelete: true }), { ok: 1 })
    return cluster.now() - began
  }
  const wideMs = await tookMs('shard01')
  await cluster.faults.apply('limit from shard01 to shard02 to 100KB/s')
  const narrowMs = await tookMs('shard02')
  // A million bytes.
  t.ok(narrowMs > wideMs + 9_000 && narrowMs < wideMs + 13_000, `${narrowMs} ms instead of ${wideMs}`)
  const began = cluster.now()
  t.match(await ask(cluster, { find: 'things', filter: { x: 1 } }), { ok: 1 })
  t.ok(cluster.now() - began < 20, 'other links are as wide as before')
})

for (const emulate of ['4.0', '7.0', '8.0'] as const) {
  t.test(`members tolerate duplicates of all repeatable requests, ${emulate}`, async (t) => {
    const cluster = await start(t, { emulate })
    const { id } = await cluster.faults.apply('duplicate between members and members first 1000')
    const xs = Array.from({ length: 40 }, (_, i) => i + 1)
    t.match(await insert(cluster, ...xs), { n: 40 })
    const reshards = emulate !== '4.0'
    const work: readonly (readonly Document[])[] = [
      [{ moveChunk: ns, find: { x: 1 }, to: 'shard01', _waitForDelete: true }],
      [{ moveChunk: ns, find: { x: 1 }, to: 'shard02', _waitForDelete: true }],
      reshards
        ? [
            { renameCollection: ns, to: 'app.others' },
            { renameCollection: 'app.others', to: ns },
          ]
        : [],
      reshards ? [{ reshardCollection: ns, key: { _id: 1 }, numInitialChunks: 2 }] : [],
      [{ movePrimary: 'app', to: 'shard02' }],
    ]
    for (const commands of work) {
      for (const command of commands) t.match(await admin(cluster, command), { ok: 1 }, JSON.stringify(command))
      t.same(await idsOf(cluster), xs, JSON.stringify(commands))
    }
    t.match(await ask(cluster, { drop: 'things' }), { ok: 1 })
    t.match(await ask(cluster, { dropDatabase: 1 }), { ok: 1 })
    t.match(await insert(cluster, 1), { n: 1 })
    const { strikes } = cluster.faults.list().find((fault) => fault.id === id)!
    t.ok(strikes! > 20 && strikes! < 1000, `${strikes} requests came twice`)
    await cluster.faults.heal(id)
    t.same(await idsOf(cluster), [1])
  })
}

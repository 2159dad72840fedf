/** Conflicting operations block each other, as on the server. */
import { decode, encode, MinKey, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'
import t, { type Test } from 'tap'

const [donor, recipient] = ['shard01', 'shard02']

async function start(t: Test, emulate: EmulatedVersion = '7.0'): Promise<SimulatedCluster> {
  const cluster = await createSimulatedCluster({ seed: 7, shards: 2, emulate })
  t.teardown(() => cluster.stop())
  await run(cluster, { enableSharding: 'app', $db: 'admin', ...(emulate === '2.6' ? {} : { primaryShard: donor }) })
  await run(cluster, { shardCollection: 'app.c', key: { k: 1 }, $db: 'admin' })
  await run(cluster, { insert: 'c', documents: [{ k: 1 }, { k: 11 }, { k: 21 }], $db: 'app' })
  await run(cluster, { split: 'app.c', middle: { k: 10 }, $db: 'admin' })
  return cluster
}

async function run(cluster: SimulatedCluster, command: Document, to = 'mongos01'): Promise<Document> {
  return decode(await cluster.command(encode(command), { to }), { promoteLongs: true })
}

/** Whether the reply arrives soon. */
async function comesSoon(cluster: SimulatedCluster, reply: Promise<unknown>): Promise<boolean> {
  let came = false
  void reply.then(() => (came = true))
  await cluster.advance(3000)
  return came
}

const bounds = async (cluster: SimulatedCluster): Promise<unknown[]> => {
  const reply = await run(cluster, { find: 'chunks', filter: {}, sort: { min: 1 }, $db: 'config' })
  return (reply['cursor'].firstBatch as Document[]).map(({ min, shard }) => [String(min.k), shard])
}

t.test('a split and a merge wait for a migration of their collection', async (t) => {
  const cluster = await start(t)
  await run(cluster, { split: 'app.c', middle: { k: 5 }, $db: 'admin' })
  const fault = await cluster.steps.arm('shard.migration.caught-up', 'hold', { times: 1 })
  const moving = run(cluster, { moveChunk: 'app.c', find: { k: 10 }, to: recipient, $db: 'admin' })
  await cluster.steps.struck(fault)
  const split = run(cluster, { split: 'app.c', middle: { k: 7 }, $db: 'admin' })
  t.equal(await comesSoon(cluster, split), false)
  const merge = run(cluster, { mergeChunks: 'app.c', bounds: [{ k: new MinKey() }, { k: 10 }], $db: 'admin' })
  t.equal(await comesSoon(cluster, merge), false)
  await cluster.steps.heal(fault)
  t.match(await moving, { ok: 1 })
  t.match(await split, { ok: 1 })
  t.match(await merge, { ok: 1 })
  t.same((await bounds(cluster)).at(-1), ['10', recipient])
})

t.test('a migration waits for a split of its collection', async (t) => {
  const cluster = await start(t)
  const fault = await cluster.steps.arm('shard.split-chunk.before-commit', 'hold', { times: 1 })
  const split = run(cluster, { split: 'app.c', middle: { k: 5 }, $db: 'admin' })
  await cluster.steps.struck(fault)
  const moving = run(cluster, { moveChunk: 'app.c', find: { k: 10 }, to: recipient, $db: 'admin' })
  t.equal(await comesSoon(cluster, moving), false)
  await cluster.steps.heal(fault)
  t.match(await split, { ok: 1 })
  t.match(await moving, { ok: 1 })
})

t.test('a move of a chunk that was merged meanwhile changes nothing until 5.0', async (t) => {
  for (const emulate of ['2.6', '4.0', '5.0'] as const) {
    const cluster = await start(t, emulate)
    await run(cluster, { split: 'app.c', middle: { k: 20 }, $db: 'admin' })
    const before = await bounds(cluster)
    const fault = await cluster.steps.arm('shard.merge-chunks.before-commit', 'hold', { times: 1 })
    const merge = run(cluster, { mergeChunks: 'app.c', bounds: [{ k: new MinKey() }, { k: 20 }], $db: 'admin' })
    await cluster.steps.struck(fault)
    const moving = run(cluster, { moveChunk: 'app.c', find: { k: 10 }, to: recipient, $db: 'admin' })
    t.equal(await comesSoon(cluster, moving), false, emulate)
    await cluster.steps.heal(fault)
    t.match(await merge, { ok: 1 })
    t.match(await moving, { ok: 0 }, 'its chunk is gone')
    t.same(await bounds(cluster), [before[0], before[2]])
    const { cursor } = await run(cluster, { find: 'c', $db: 'app' })
    t.equal((cursor.firstBatch as Document[]).length, 3)
    t.match(await run(cluster, { moveChunk: 'app.c', find: { k: 10 }, to: recipient, $db: 'admin' }), { ok: 1 })
    t.equal(((await run(cluster, { find: 'c', $db: 'app' }))['cursor'].firstBatch as Document[]).length, 3)
  }
})

t.test('no collection is created between the start of movePrimary and its end', async (t) => {
  const cluster = await start(t)
  const fault = await cluster.steps.arm('shard.move-primary.started', 'hold', { times: 1 })
  const moving = run(cluster, { movePrimary: 'app', to: recipient, $db: 'admin' })
  await cluster.steps.struck(fault)
  const insert = () => run(cluster, { insert: 'fresh', documents: [{ _id: 1 }], $db: 'app' })
  t.match(await insert(), { n: 0, writeErrors: [{ code: 319 }] })
  await cluster.steps.heal(fault)
  t.match(await moving, { ok: 1 })
  t.match(await insert(), { n: 1 })
  t.match(await run(cluster, { count: 'fresh', $db: 'app' }, recipient), { n: 1 })
  t.match(await run(cluster, { count: 'fresh', $db: 'app' }, donor), { n: 0 })
})

t.test('a write that was on its way at the start of movePrimary is copied, or waits', async (t) => {
  const cluster = await start(t)
  await run(cluster, { insert: 'plain', documents: [{ _id: 0 }], $db: 'app' })
  // After a restart the shard asks the config server before it accepts the first command.
  await cluster.crash(donor)
  await cluster.restart(donor)
  const acknowledged: number[] = []
  const writers = Array.from({ length: 20 }, async (_, i) => {
    await cluster.advance(i / 4)
    const { n } = await run(cluster, {
      insert: i % 2 === 0 ? 'plain' : 'fresh',
      documents: [{ _id: 1 + i }],
      $db: 'app',
    })
    if (n === 1) acknowledged.push(1 + i)
  })
  const moving = run(cluster, { movePrimary: 'app', to: recipient, $db: 'admin' })
  await Promise.all(writers)
  t.match(await moving, { ok: 1 })
  const found: number[] = []
  for (const ns of ['plain', 'fresh'])
    for (const { _id } of (await run(cluster, { find: ns, $db: 'app' }))['cursor'].firstBatch as { _id: number }[])
      found.push(_id)
  t.same(
    found.toSorted((a, b) => a - b),
    [0, ...acknowledged.toSorted((a, b) => a - b)],
  )
})

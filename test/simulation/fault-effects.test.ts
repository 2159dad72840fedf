/** Effects of faults on the cluster and its clients. */
import { createSimulatedCluster } from '@shardlab/cluster'
import t from 'tap'
import { admin, ask, find, insert, ns, start, tookMs } from './two-shard-cluster.js'

t.test('the seed determines which messages are lost, and retries repair the losses', async (t) => {
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
  t.test(`a shard that stepped down is elected again, ${emulate}`, async (t) => {
    const cluster = await start(t, { emulate, members: 1 })
    const words = emulate === '4.0' ? 'not master' : 'not primary'
    t.match(await admin(cluster, { hello: 1 }, 'shard02'), { ok: 1, isWritablePrimary: true, secondary: false })
    await cluster.faults.apply('step down shard02')
    const [fault] = cluster.faults.list()
    t.equal(fault!.healsAtMs! - fault!.beginsAtMs, 10_000, 'the default')
    const hello = await admin(cluster, { hello: 1 }, 'shard02')
    t.match(hello, { isWritablePrimary: false, secondary: true })
    t.notOk('primary' in hello)
    t.match(await insert(cluster, 10, {}, 'shard02'), { ok: 0, code: 10107, errmsg: words })
    const unread = emulate === '4.0' ? 'not master and slaveOk=false' : 'not primary and secondaryOk=false'
    t.match(await ask(cluster, { count: 'things' }, 'shard02'), { ok: 0, code: 13435, errmsg: unread })
    t.match(await ask(cluster, { count: 'things', $readPreference: { mode: 'secondaryPreferred' } }, 'shard02'), {
      ok: 1,
    })
    // Since 5.0 a router replaces the code, so that drivers do not take the router for a
    // stepped-down primary.
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

for (const [emulate, n, written] of [
  ['5.0', 1, 0],
  ['6.0.2', 0, 0],
  ['7.0', 0, 0],
  ['8.0', 1, 1],
] as const) {
  const missing = n === 1 ? 'may change and count an orphan instead' : 'may miss a document that moves'
  const outcome = written === 1 ? 'changes a document that moves' : missing
  t.test(`an update by _id ${outcome}, ${emulate}`, async (t) => {
    const cluster = await start(t, { emulate })
    const { id } = await cluster.faults.apply('delay between mongos01 and shard02 by 5s')
    const update = { update: 'things', updates: [{ q: { _id: 1 }, u: { $set: { n: 1 } } }] }
    const updated = ask(cluster, update)
    // shard01 answers before it has the document, shard02 when its copy is an orphan.
    await cluster.advance(1000)
    t.match(await admin(cluster, { moveChunk: ns, find: { x: 1 }, to: 'shard01' }, 'mongos02'), { ok: 1 })
    await cluster.faults.heal(id)
    t.match(await updated, { n, nModified: n })
    const [document] = (await find(cluster, 1))['cursor'].firstBatch
    t.equal(document.n ?? 0, written)
  })
}

t.test('a router with frozen routes uses its old routes', async (t) => {
  const cluster = await start(t)
  t.match(await find(cluster, 1, 'mongos02'), { ok: 1 })
  await cluster.faults.apply('freeze routes of mongos02')
  t.match(await admin(cluster, { moveChunk: ns, find: { x: 1 }, to: 'shard01' }), { ok: 1 })
  t.match(await find(cluster, 1), { ok: 1 }, 'the other router is fine')
  t.match(await find(cluster, 1, 'mongos02'), { ok: 0, code: 13388, codeName: 'StaleConfig' })
  t.match(
    await find(cluster, -1, 'mongos02'),
    { ok: 0, code: 13388 },
    'also for the other shard, whose version has changed too',
  )
  const later = { insert: 'things', documents: [{ _id: 1 }], $db: 'later' }
  t.match(await ask(cluster, { count: 'things', $db: 'later' }, 'mongos02'), { n: 0 })
  t.match(await ask(cluster, later), { n: 1 })
  t.match(
    await ask(cluster, { count: 'things', $db: 'later' }, 'mongos02'),
    { n: 1 },
    'routes of a new database are loaded',
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

t.test('a migration held at a step resumes after heal; one that fails there aborts', async (t) => {
  const cluster = await start(t)
  await cluster.faults.apply('hold at shard.migration.caught-up on shard02')
  const moving = admin(cluster, { moveChunk: ns, find: { x: 1 }, to: 'shard01' })
  await cluster.advance(60_000)
  t.match(cluster.faults.list(), [{ strikes: 1 }])
  t.match(await insert(cluster, 10), { n: 1 }, 'writes continue')
  await cluster.faults.heal()
  t.match(await moving, { ok: 1 })
  // Until its orphans are deleted.
  await cluster.advance(1_000_000)
  await cluster.faults.apply('fail at shard.migration.caught-up first 1')
  const failed = await admin(cluster, { moveChunk: ns, find: { x: 1 }, to: 'shard02' })
  t.match(failed, { ok: 0, errmsg: /shard\.migration\.caught-up/ })
  t.match(await admin(cluster, { moveChunk: ns, find: { x: 1 }, to: 'shard02' }), { ok: 1 }, 'it struck once')
})

t.test('a paused member does nothing until it is resumed, timers included', async (t) => {
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

t.test('a destroyed shard restarts empty, and is not a part of the cluster', async (t) => {
  const cluster = await start(t, { members: 1 })
  await cluster.faults.apply('destroy shard02')
  t.match(await find(cluster, -1), { ok: 1 })
  await cluster.faults.heal()
  t.match(await find(cluster, 1), { ok: 0, code: 203, codeName: 'ShardingStateNotInitialized' })
  t.match(await insert(cluster, 1), { n: 0, writeErrors: [{ code: 203 }] })
  t.match(
    await ask(cluster, { find: 'things' }, 'shard02'),
    { ok: 1, cursor: { firstBatch: [] } },
    'it serves direct connections',
  )
})

t.test('D904 slow disks and slow members delay replies', async (t) => {
  const cluster = await start(t)
  await cluster.faults.apply('slow disk of shard02 by 200ms')
  t.ok((await tookMs(cluster, () => insert(cluster, 30))) >= 200)
  t.ok((await tookMs(cluster, () => find(cluster, 1))) < 20)
  await cluster.faults.heal()
  await cluster.faults.apply('slow shard02 by 101x')
  t.ok((await tookMs(cluster, () => find(cluster, 1))) >= 100)
  t.ok((await tookMs(cluster, () => find(cluster, -1))) < 20)
})

t.test('a fault that is healed while it starts has no effect', async (t) => {
  const cluster = await start(t)
  let healing: Promise<unknown> = Promise.resolve()
  cluster.onEvent((event) => {
    if (event.type === 'fault-applied') healing = cluster.faults.healInBackground()
  })
  await cluster.faults.apply('pause shard02')
  await healing
  t.same(cluster.faults.list(), [])
  t.match(await find(cluster, 1), { ok: 1 }, 'the shard works')
})

for (const emulate of ['5.0', '8.0'] as const) {
  t.test(`a router with frozen routes fails snapshot reads of a recreated collection, ${emulate}`, async (t) => {
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

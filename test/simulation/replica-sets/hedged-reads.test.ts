import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'
import t, { type Test } from 'tap'

async function start(t: Test, emulate: EmulatedVersion = '7.0', members = 3): Promise<SimulatedCluster> {
  const cluster = await createSimulatedCluster({ seed: 5, shards: 1, members, emulate, serverTimings: false })
  t.teardown(() => cluster.stop())
  const documents = Array.from({ length: 10 }, (_, _id) => ({ _id }))
  t.match(await ask(cluster, { insert: 'c', documents, writeConcern: { w: members } }), { ok: 1 })
  return cluster
}

async function ask(cluster: SimulatedCluster, command: Document, to = cluster.mongos[0]!): Promise<Document> {
  const reply = await cluster.command(encode({ ...command, $db: command['$db'] ?? 'app' }), { to })
  return decode(reply, { promoteLongs: true })
}

const nearest = { $readPreference: { mode: 'nearest' } }

async function metrics(cluster: SimulatedCluster): Promise<number[] | undefined> {
  const { hedgingMetrics } = await ask(cluster, { serverStatus: 1, $db: 'admin' })
  return hedgingMetrics === undefined ? undefined : (Object.values(hedgingMetrics as Document) as number[])
}

async function openCursors(cluster: SimulatedCluster): Promise<number> {
  let open = 0
  for (const member of cluster.membersOf('shard01')) {
    const status = await ask(cluster, { serverStatus: 1, $db: 'admin' }, member)
    open += (status['metrics'] as { cursor: { open: { total: number } } }).cursor.open.total
  }
  return open
}

/** A member answers counts and finds so much later. */
function block(cluster: SimulatedCluster, member: string, blockTimeMS: number): Promise<Document> {
  const data = { failCommands: ['count', 'find'], failInternalCommands: true, blockConnection: true, blockTimeMS }
  return ask(cluster, { configureFailPoint: 'failCommand', mode: 'alwaysOn', data, $db: 'admin' }, member)
}

t.test('a read with nearest goes to two members, and one of them keeps its cursor', async (t) => {
  const cluster = await start(t)
  t.same(await metrics(cluster), [0, 0, 0])
  for (let i = 0; i < 20; i++) t.match(await ask(cluster, { count: 'c', ...nearest }), { n: 10, ok: 1 })
  const [total, hedged, advantageous] = (await metrics(cluster))!
  t.same([total, hedged], [20, 20])
  t.ok(advantageous! > 2 && advantageous! < 18, `${advantageous} replies of the additional member were first`)
  const { cursor } = await ask(cluster, { find: 'c', batchSize: 2, ...nearest })
  await cluster.advance(1000)
  t.equal(await openCursors(cluster), 1)
  const more = await ask(cluster, { getMore: cursor.id, collection: 'c' })
  t.equal(more['cursor'].nextBatch.length, 8)
  t.equal(await openCursors(cluster), 0)
})

t.test('a slow member does not delay hedged reads', async (t) => {
  const cluster = await start(t)
  t.match(await block(cluster, cluster.membersOf('shard01')[1]!, 300), { ok: 1 })
  const slowest = async (preference: Document): Promise<number> => {
    let most = 0
    for (let i = 0; i < 20; i++) {
      const began = cluster.now()
      t.match(await ask(cluster, { count: 'c', $readPreference: preference }), { n: 10 })
      most = Math.max(most, cluster.now() - began)
    }
    return most
  }
  t.ok((await slowest({ mode: 'nearest' })) < 100)
  t.ok((await slowest({ mode: 'secondaryPreferred', hedge: { enabled: true } })) < 100)
  const before = await metrics(cluster)
  t.ok((await slowest({ mode: 'nearest', hedge: { enabled: false } })) >= 300, 'without hedging')
  t.ok((await slowest({ mode: 'secondary' })) >= 300, 'other modes have to ask for it')
  t.same(await metrics(cluster), before)
})

t.test('parameters and versions decide whether reads are hedged', async (t) => {
  const cluster = await start(t)
  const set = (parameters: Document) => ask(cluster, { setParameter: 1, ...parameters, $db: 'admin' })
  t.match(await set({ readHedgingMode: 'some' }), { ok: 0, code: 2 })
  t.match(await set({ readHedgingMode: 'off' }), { ok: 1, was: 'on' })
  await ask(cluster, { count: 'c', ...nearest })
  t.same(await metrics(cluster), [0, 0, 0])
  t.match(await set({ maxTimeMSForHedgedReads: 20 }), { ok: 1, was: 150 })
  await set({ readHedgingMode: 'on' })
  await ask(cluster, { aggregate: 'c', pipeline: [], cursor: {}, ...nearest })
  t.same(await metrics(cluster), [0, 0, 0], 'pipelines are not hedged')
  const newest = await start(t, '8.0')
  await ask(newest, { count: 'c', ...nearest })
  t.same(await metrics(newest), [0, 0, 0])
  t.match(await ask(newest, { setParameter: 1, readHedgingMode: 'on', $db: 'admin' }), { was: 'off' })
  await ask(newest, { count: 'c', ...nearest })
  t.same((await metrics(newest))!.slice(0, 2), [1, 1])
  t.equal(await metrics(await start(t, '4.0')), undefined)
})

t.test('an additional read that exceeds its time does not count', async (t) => {
  const cluster = await start(t)
  await ask(cluster, { setParameter: 1, maxTimeMSForHedgedReads: 20, $db: 'admin' })
  for (const member of cluster.membersOf('shard01')) t.match(await block(cluster, member, 200), { ok: 1 })
  for (let i = 0; i < 10; i++)
    t.match(await ask(cluster, { find: 'c', sort: { x: 1 }, limit: 1, ...nearest }), {
      ok: 1,
      cursor: { firstBatch: [{ _id: 0 }] },
    })
  t.same(await metrics(cluster), [10, 10, 0])
})

t.test('a read with one suitable member is not hedged, and one whose member is down uses the other', async (t) => {
  const cluster = await start(t)
  await cluster.crash(cluster.membersOf('shard01')[0]!)
  for (let i = 0; i < 10; i++) t.match(await ask(cluster, { count: 'c', ...nearest }), { n: 10, ok: 1 })
  await cluster.advance(5000)
  await cluster.crash(cluster.membersOf('shard01')[1]!)
  const before = (await metrics(cluster))![1]!
  for (let i = 0; i < 5; i++) t.match(await ask(cluster, { count: 'c', ...nearest }), { n: 10, ok: 1 })
  t.ok((await metrics(cluster))![1]! <= before + 1)
})

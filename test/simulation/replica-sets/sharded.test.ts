/** Shards and the config server with several members: each primary can fail at any time. */
import { createRandom, type Random } from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import type { EmulatedVersion } from '@shardlab/sharding'
import t, { type Test } from 'tap'

async function start(t: Test, seed = 1, emulate: EmulatedVersion = '7.0'): Promise<SimulatedCluster> {
  const cluster = await createSimulatedCluster({ seed, emulate, shards: 2, members: 3, serverTimings: false })
  t.teardown(() => cluster.stop())
  for (const command of [
    { enableSharding: 'app', primaryShard: 'shard01' },
    { shardCollection: 'app.things', key: { x: 1 } },
    { split: 'app.things', middle: { x: 0 } },
    { balancerStop: 1 },
  ])
    t.match(await ask(cluster, { ...command, $db: 'admin' }), { ok: 1 })
  return cluster
}

const majority = { w: 'majority' }

async function ask(cluster: SimulatedCluster, command: Document): Promise<Document> {
  return decode(await cluster.command(encode({ ...command, $db: command['$db'] ?? 'app' })), { promoteLongs: true })
}

async function xs(cluster: SimulatedCluster, rest: Document = {}): Promise<number[]> {
  const reply = await ask(cluster, { find: 'things', sort: { x: 1 }, batchSize: 10_000, ...rest })
  return (reply['cursor'].firstBatch as { x: number }[]).map(({ x }) => x)
}

const insert = (x: number): Document => ({ insert: 'things', documents: [{ _id: x, x }], writeConcern: majority })
const move = (x: number, to: string): Document => ({ moveChunk: 'app.things', find: { x }, to, $db: 'admin' })

t.test('a router waits for the next primary of a shard and of the config server', async (t) => {
  const cluster = await start(t)
  for (const x of [-2, -1, 1, 2]) t.match(await ask(cluster, insert(x)), { n: 1 })
  t.match(await ask(cluster, move(1, 'shard02')), { ok: 1 })
  await cluster.crash('shard01-1')
  t.match(await ask(cluster, insert(-3)), { n: 1, ok: 1 })
  await cluster.crash('config-1')
  t.match(await ask(cluster, move(-1, 'shard02')), { ok: 1 }, 'a migration after both failovers')
  t.strictSame(await xs(cluster), [-3, -2, -1, 1, 2])
  const { cursor } = await ask(cluster, { find: 'shards', sort: { _id: 1 }, $db: 'config' })
  t.match(cursor.firstBatch[0], { _id: 'shard01', host: 'shard01/shard01-1:27017,shard01-2:27017,shard01-3:27017' })
})

t.test('reads with a preference for secondaries return what this router has written, and no orphans', async (t) => {
  const cluster = await start(t)
  for (const x of [-2, -1, 1, 2]) await ask(cluster, { ...insert(x), writeConcern: { w: 3 } })
  await ask(cluster, move(1, 'shard02'))
  for (let i = 0; i < 10; i++)
    t.strictSame(await xs(cluster, { $readPreference: { mode: 'secondary' } }), [-2, -1, 1, 2])
})

t.test('after a migration, a secondary of the donor refuses the routes from before', async (t) => {
  const cluster = await createSimulatedCluster({ seed: 1, shards: 2, mongos: 2, members: 3, serverTimings: false })
  t.teardown(() => cluster.stop())
  const [one, other] = cluster.mongos as [string, string]
  const run = async (command: Document, to: string): Promise<Document> =>
    decode(await cluster.command(encode({ ...command, $db: command['$db'] ?? 'app' }), { to }))
  await run({ enableSharding: 'app', primaryShard: 'shard01', $db: 'admin' }, one)
  await run({ shardCollection: 'app.things', key: { x: 1 }, $db: 'admin' }, one)
  await run({ split: 'app.things', middle: { x: 0 }, $db: 'admin' }, one)
  const read = {
    find: 'things',
    filter: { x: { $gt: 0 } },
    readConcern: { level: 'majority' },
    $readPreference: { mode: 'secondary' },
  }
  // Each secondary has a placement then.
  for (let i = 0; i < 20; i++) t.match(await run(read, other), { cursor: { firstBatch: [] } })
  t.match(await run(move(1, 'shard02'), one), { ok: 1 })
  const { operationTime, $clusterTime } = await run(insert(1), one)
  for (let i = 0; i < 20; i++) {
    const readConcern = { level: 'majority', afterClusterTime: operationTime }
    t.match(await run({ ...read, readConcern, $clusterTime }, other), { cursor: { firstBatch: [{ x: 1 }] } })
  }
})

t.test('a secondary uses a placement when it has the data that its primary had under it', async (t) => {
  const cluster = await start(t, 1, '8.0')
  for (const name of ['things', 'plain']) t.match(await ask(cluster, { ...insert(1), insert: name }), { n: 1 })
  await cluster.faults.apply('delay replication of shard02-3 by 3s')
  t.match(await ask(cluster, move(1, 'shard02')), { ok: 1 })
  t.match(await ask(cluster, { moveCollection: 'app.plain', toShard: 'shard02', $db: 'admin' }), { ok: 1 })
  for (const level of ['local', 'majority'])
    for (const find of ['things', 'plain'])
      for (let i = 0; i < 10; i++) {
        const read = { find, filter: { x: 1 }, readConcern: { level }, $readPreference: { mode: 'secondary' } }
        t.match(await ask(cluster, read), { cursor: { firstBatch: [{ x: 1 }] } }, `${find}, ${level}`)
      }
})

t.test('maxTimeMS ends the wait of a secondary for the data under a placement', async (t) => {
  const cluster = await start(t)
  t.match(await ask(cluster, { enableSharding: 'near', primaryShard: 'shard02', $db: 'admin' }), { ok: 1 })
  t.match(await ask(cluster, { ...insert(1), writeConcern: { w: 3 }, $db: 'near' }), { n: 1 })
  const near = { find: 'things', maxTimeMS: 500, $readPreference: { mode: 'secondary' }, $db: 'near' }
  const readNear = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) t.match(await ask(cluster, near), { cursor: { firstBatch: [{ x: 1 }] } })
  }
  await readNear()
  t.match(await ask(cluster, insert(1)), { n: 1 })
  await cluster.faults.apply('delay replication of shard02-3 by 60s')
  t.match(await ask(cluster, move(1, 'shard02')), { ok: 1 })
  const read = { find: 'things', filter: { x: 1 }, maxTimeMS: 500, $readPreference: { mode: 'secondary' } }
  const codes = new Set<unknown>()
  for (let i = 0; i < 20; i++) {
    const { ok, code, cursor } = await ask(cluster, read)
    codes.add(code)
    if (ok === 1) t.match(cursor, { firstBatch: [{ x: 1 }] })
  }
  t.strictSame(codes, new Set([undefined, 50]))
  await readNear()
})

t.test('maxTimeMS ends the wait of a secondary for a primary in a critical section', async (t) => {
  const cluster = await start(t)
  t.match(await ask(cluster, { ...insert(1), writeConcern: { w: 3 } }), { n: 1 })
  const held = await cluster.steps.arm('shard.migration.committing', 'hold', { times: 1 })
  const moving = ask(cluster, move(1, 'shard02'))
  await cluster.steps.struck(held)
  const read = { find: 'things', filter: { x: 1 }, $readPreference: { mode: 'secondary' } }
  t.match(await ask(cluster, { ...read, maxTimeMS: 500 }), { ok: 0, code: 50 })
  // The router does not wait for its shard.
  await cluster.advance(500)
  for (const to of cluster.membersOf('shard01')) {
    const { inprog } = decode(await cluster.command(encode({ currentOp: 1, ns: 'app.things', $db: 'admin' }), { to }))
    t.strictSame(
      inprog.filter(({ command }: { command: Document }) => 'find' in command),
      [],
    )
  }
  await cluster.steps.heal(held)
  t.match(await moving, { ok: 1 })
  t.match(await ask(cluster, read), { cursor: { firstBatch: [{ x: 1 }] } })
})

t.test('a replaced primary of a recipient does not acknowledge the abort of a migration', async (t) => {
  const cluster = await start(t)
  const asked = async (command: Document, to: string): Promise<Document> =>
    decode(await cluster.command(encode({ ...command, $db: command['$db'] ?? 'admin' }), { to }))
  t.match(await ask(cluster, insert(1)), { n: 1 })
  const { config } = await asked({ replSetGetConfig: 1 }, 'shard02-1')
  const settings = { ...config.settings, electionTimeoutMillis: 30_000 }
  await asked({ replSetReconfig: { ...config, version: config.version + 1, settings } }, 'shard02-1')
  for (const other of ['shard02-2', 'shard02-3'])
    await cluster.faults.apply(`partition shard02-1 from ${other} for 60s`)
  const refused = await cluster.faults.apply('refuse connections to shard02-1 from everybody')
  t.match(await asked({ replSetStepUp: 1 }, 'shard02-2'), { ok: 1 })
  const held = await cluster.steps.arm('shard.migration.recipient-prepared', 'hold', { times: 1 })
  const moving = ask(cluster, move(1, 'shard02'))
  await cluster.steps.struck(held)
  await cluster.faults.heal(refused.id)
  await cluster.faults.apply('step down shard02-2 for 5s')
  t.match(await moving, { ok: 0 })
  await cluster.advance(120_000)
  t.match(await asked({ find: 'rangeDeletions', $db: 'config' }, 'shard02'), { cursor: { firstBatch: [] } })
  t.match(await ask(cluster, move(1, 'shard02')), { ok: 1 })
})

/** Crashes members, also primaries, while ranges move; every third one restarts at once. */
async function breakMembers(cluster: SimulatedCluster, random: Random, rounds: number): Promise<void> {
  const names = ['shard01', 'shard02', 'config'].flatMap((set) => [1, 2, 3].map((i) => `${set}-${i}`))
  for (let round = 0; round < rounds; round++) {
    await cluster.advance(random.below(4000))
    const name = names[random.below(names.length)]!
    await cluster.crash(name)
    await cluster.advance(random.below(3) === 0 ? 0 : 3000)
    await cluster.restart(name)
  }
}

t.test('acknowledged documents exist once after ranges moved between failing primaries', async (t) => {
  t.setTimeout(240_000)
  const seeds = process.env['SHARDLAB_LONG'] === '1' ? 40 : 2
  for (let seed = 1; seed <= seeds; seed++) {
    const cluster = await start(t, seed)
    const random = createRandom(seed).fork('sharded-sets')
    const acknowledged: number[] = []
    let isOver = false
    const write = async (): Promise<void> => {
      for (let x = -200; !isOver && x < 200; x++) {
        const reply = await ask(cluster, insert(x))
        if (reply['n'] === 1 && reply['writeConcernError'] === undefined) acknowledged.push(x)
        await cluster.advance(50)
      }
    }
    const moveBack = async (): Promise<void> => {
      for (let i = 0; !isOver; i++) {
        await ask(cluster, move(i % 3 === 0 ? -1 : 1, i % 2 === 0 ? 'shard02' : 'shard01'))
        await cluster.advance(500)
      }
    }
    const work = [write(), moveBack()]
    await breakMembers(cluster, random, 6)
    isOver = true
    await Promise.all(work)
    await cluster.advance(30_000)
    const found = await xs(cluster)
    t.strictSame(new Set(found).size, found.length, `seed ${seed}: no document twice`)
    t.strictSame(
      acknowledged.filter((x) => !found.includes(x)),
      [],
      `seed ${seed}: ${acknowledged.length} documents`,
    )
    await cluster.stop()
  }
})

t.test(
  '_secondaryThrottle waits for its write concern after each batch, and a migration without it does not',
  async (t) => {
    const tookMs = async (options: Document): Promise<number> => {
      const cluster = await start(t)
      for (const x of [1, 2, 3, 4]) t.match(await ask(cluster, insert(x)), { n: 1 })
      for (const to of cluster.membersOf('shard02')) {
        const batches = encode({ setParameter: 1, migrateCloneInsertionBatchSize: 1, $db: 'admin' })
        t.match(decode(await cluster.command(batches, { to })), { ok: 1 })
      }
      await cluster.faults.apply('delay replication of shard02-3 by 5s')
      const beganMs = cluster.now()
      t.match(await ask(cluster, { ...move(1, 'shard02'), ...options }), { ok: 1 })
      return cluster.now() - beganMs
    }
    t.ok((await tookMs({})) < 2000)
    t.ok((await tookMs({ _secondaryThrottle: true })) < 2000, 'one other member has each batch')
    t.ok(
      (await tookMs({ _secondaryThrottle: true, writeConcern: { w: 3 } })) > 20_000,
      'four batches, five seconds each',
    )
    const impatient = { _secondaryThrottle: true, writeConcern: { w: 3, wtimeout: 100 } }
    t.ok((await tookMs(impatient)) < 4000, 'a batch that times out does not fail the migration')
    const cluster = await start(t)
    const refused = { _secondaryThrottle: true, writeConcern: { w: 4 } }
    t.match(await ask(cluster, { ...move(1, 'shard02'), ...refused }), { ok: 0 })
  },
)

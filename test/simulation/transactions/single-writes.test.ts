/**
 * Writes without shard key since 8.0: the search and the write are one internal transaction, and a
 * repeated statement is executed once, also while its first transaction is open.
 */
import { createRandom, RequestFailedError } from '@shardlab/actor'
import { Long, UUID, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import t from 'tap'
import { CrashDriver } from '../crash-driver.js'
import { ask, start } from '../two-shard-cluster.js'

const sessionOf = (byte: number, number = 1) => ({
  lsid: { id: new UUID(Buffer.alloc(16, byte)) },
  txnNumber: Long.fromNumber(number),
})

const all = async (cluster: SimulatedCluster, to = 'mongos01'): Promise<Document[]> =>
  (await ask(cluster, { find: 'things', sort: { _id: 1 }, batchSize: 1000 }, to))['cursor'].firstBatch

/** A write that matches every document. */
const claim = (by: number): Document => ({
  update: 'things',
  updates: [{ q: { by: null }, u: { $set: { by } } }],
  ...sessionOf(by),
})

t.test('of two clients that write any document, each gets another one', async (t) => {
  const cluster = await start(t, { emulate: '8.0' })
  const replies = await Promise.all([1, 2, 3, 4].map((by) => ask(cluster, claim(by), `mongos0${(by % 2) + 1}`)))
  t.match(replies, Array(4).fill({ n: 1, nModified: 1 }))
  t.same((await all(cluster)).map(({ by }) => by).sort(), [1, 2, 3, 4])
  t.match(await ask(cluster, claim(5)), { n: 0, nModified: 0 })
  t.match(await ask(cluster, claim(3), 'mongos02'), { n: 1, retriedStmtIds: [0] }, 'a repetition gets its reply')
})

t.test('a repeated findAndModify gets the image of the first one', async (t) => {
  const cluster = await start(t, { emulate: '8.0' })
  for (const wantsNew of [false, true]) {
    const modify = {
      findAndModify: 'things',
      query: { by: null },
      sort: { x: -1 },
      update: { $set: { by: 7 } },
      new: wantsNew,
      ...sessionOf(7, wantsNew ? 2 : 1),
    }
    const { value } = await ask(cluster, modify)
    t.match(value, { x: wantsNew ? 1 : 2, by: wantsNew ? 7 : undefined })
    for (const member of ['shard01', 'shard02']) {
      await cluster.crash(member)
      await cluster.restart(member)
    }
    t.match(await ask(cluster, modify, 'mongos02'), { value, retriedStmtId: 0 }, 'also after a restart')
  }
  t.equal((await all(cluster)).filter(({ by }) => by === 7).length, 2)
})

t.test('a repetition takes the place of a transaction that its router has left open', async (t) => {
  const cluster = await start(t, { emulate: '8.0' })
  await cluster.faults.apply('delay from shard02 to mongos01 by 10s..10s for 20s')
  const first = ask(cluster, claim(1)).catch((error: unknown) => {
    if (!(error instanceof RequestFailedError)) throw error
  })
  await cluster.advance(100)
  t.match(await ask(cluster, claim(1), 'mongos02'), { n: 1 })
  await cluster.advance(30_000)
  t.match(await first, { n: 1 })
  t.equal((await all(cluster)).filter(({ by }) => by === 1).length, 1)
})

t.test('a router commits internal transactions again, but not those of key changes', async (t) => {
  const cluster = await start(t, { emulate: '8.0' })
  const failOnce = async (command: string) => {
    const writeConcernError = { code: 91, errmsg: 'Replication is being shut down' }
    const data = { failCommands: [command], failInternalCommands: true, writeConcernError }
    for (const shard of ['shard01', 'shard02']) {
      const point = { configureFailPoint: 'failCommand', mode: { times: 1 }, data, $db: 'admin' }
      t.match(await ask(cluster, point, shard), { ok: 1 })
    }
  }
  await failOnce('commitTransaction')
  t.match(await ask(cluster, claim(1)), { n: 1, nModified: 1, writeConcernError: undefined })
  await failOnce('coordinateCommitTransaction')
  const updates = [{ q: { x: -1 }, u: { $set: { x: 5 } } }]
  const change = { update: 'things', updates, ...sessionOf(2) }
  t.match(await ask(cluster, change), { n: 1, writeConcernError: { errmsg: /^Replication is being shut down/ } })
})

t.test('a write without shard key that moves its document', async (t) => {
  const cluster = await start(t, { emulate: '8.0' })
  const updates = [{ q: { _id: { $lt: -1 } }, u: { $set: { x: 9 } } }]
  t.match(await ask(cluster, { update: 'things', updates, ...sessionOf(1) }), { n: 1, nModified: 1 })
  const [moved] = await all(cluster)
  t.match(moved, { _id: -2, x: 9 })
  const again = await ask(cluster, { update: 'things', updates, ...sessionOf(1) }, 'mongos02')
  t.match(again, { writeErrors: [{ code: 217, errmsg: /^Operation was converted into a distributed transaction/ }] })
  const back = [{ q: { _id: { $lt: -1 } }, u: { $set: { x: -9 } } }]
  t.match(await ask(cluster, { update: 'things', updates: back }), { n: 1 }, 'also without retryable writes')
  t.match((await all(cluster))[0], { _id: -2, x: -9 })
})

const steps = ['coordinating', 'participants-written', 'preparing', 'prepared', 'voted', 'decided', 'acknowledged']

for (const action of ['crash', 'fail'] as const)
  for (const [i, step] of steps.entries())
    t.test(`a document moves by a write without shard key: ${action} at ${step}`, async (t) => {
      const cluster = await start(t, { emulate: '8.0', seed: 20 + i, findReplicaSetHostTimeoutMs: 3000 })
      const updates = [{ q: { _id: { $lt: -1 } }, u: { $set: { x: 9 }, $inc: { n: 1 } } }]
      const command = { update: 'things', updates, ...sessionOf(1) }
      const fault = await cluster.steps.arm(`shard.transaction.${step}`, action, { times: 1 })
      const writing = ask(cluster, command)
      const member = await Promise.race([cluster.steps.struck(fault), writing.then(() => cluster.steps.struck(fault))])
      if (action === 'crash') {
        await cluster.advance(20)
        await cluster.restart(member)
      }
      const { n, writeErrors } = await writing
      await cluster.advance(5000)
      const again = await ask(cluster, command, 'mongos02')
      t.match(again, { writeErrors: [{ code: 217 }] }, 'the statement was executed')
      t.match((await all(cluster))[0], { _id: -2, x: 9, n: 1 }, JSON.stringify({ n, writeErrors }))
      t.equal((await all(cluster)).length, 4)
    })

const clients = 4
const writesOfClient = 20
const unknownCodes: ReadonlySet<number> = new Set([6, 133, 189, 11_600, 11_602])

/** Each write is sent to both routers at once, and repeated until a reply is certain. */
async function playClaims(seed: number): Promise<{ violations: string[]; crashes: number; traceHash: string }> {
  const cluster = await createSimulatedCluster({
    seed,
    shards: 3,
    mongos: 2,
    emulate: '8.0',
    findReplicaSetHostTimeoutMs: 1000,
  })
  const random = createRandom(seed).fork('claims')
  await ask(cluster, { shardCollection: 'app.things', key: { k: 'hashed' }, $db: 'admin' })
  const documents = Array.from({ length: clients * writesOfClient }, (_, _id) => ({ _id, k: _id, by: null }))
  await ask(cluster, { insert: 'things', documents })
  const crashDriver = new CrashDriver(cluster, random, clients)
  const violations: string[] = []
  const send = async (command: Document, to: string): Promise<Document | null> => {
    try {
      const reply = await ask(cluster, command, to)
      const code: number | undefined = reply['code'] ?? reply['writeErrors']?.[0].code
      if (code === undefined) return reply
      if (!unknownCodes.has(code)) violations.push(`seed ${seed}: ${code} ${JSON.stringify(reply)}`)
      return null
    } catch (error) {
      if (error instanceof RequestFailedError) return null
      throw error
    }
  }
  const client = async (index: number): Promise<void> => {
    for (let i = 1; i <= writesOfClient; i++) {
      const by = index * writesOfClient + i
      const command = { ...claim(by), ...sessionOf(index + 1, i) }
      for (;;) {
        crashDriver.sent()
        const replies = await Promise.all(cluster.mongos.map((to) => send(command, to)))
        const known = replies.filter((reply) => reply !== null)
        if (known.some(({ n }) => n !== 1)) violations.push(`seed ${seed}: ${by} matched nothing`)
        if (known.length > 0 || violations.length > 5) break
        await cluster.advance(random.fraction() * 200)
      }
    }
  }
  const work = Array.from({ length: clients }, (_, i) => client(i).finally(() => crashDriver.clientDone()))
  await Promise.all([...work, crashDriver.run()])
  await cluster.advance(10_000)
  const found = (await all(cluster)).map(({ by }) => by as number).sort((a, b) => a - b)
  if (found.some((by, i) => by !== i + 1)) violations.push(`seed ${seed}: claimed by ${found.join(' ')}`)
  await cluster.stop()
  return { violations, crashes: crashDriver.crashes, traceHash: cluster.traceHash() }
}

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const count = SHARDLAB_LONG === '1' ? 200 : 2
const seeds = SHARDLAB_SEED === undefined ? Array.from({ length: count }, (_, i) => i + 1) : [Number(SHARDLAB_SEED)]

for (const seed of seeds)
  t.test(`claims, seed ${seed}`, async (t) => {
    const { violations, crashes } = await playClaims(seed)
    t.same(violations, [], 'each statement was executed once')
    t.ok(crashes > 2, `${crashes} crashes`)
  })

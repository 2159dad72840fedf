/** Transactions of the simulated client, as drivers run them. */
import { encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import { createClient, type Client, type CommandEvent, type Failed } from '@shardlab/scenario'
import t, { type Test } from 'tap'

const $db = 'app'

interface World {
  readonly cluster: SimulatedCluster
  readonly client: Client
  readonly sent: CommandEvent[]
}

async function start(t: Test): Promise<World> {
  const cluster = await createSimulatedCluster({ seed: 1, shards: 2, mongos: 2 })
  t.teardown(() => cluster.stop())
  const sent: CommandEvent[] = []
  const client = createClient(cluster, { onCommand: (event) => sent.push(event) })
  await cluster.advance(10)
  await cluster.during(client.run({ enableSharding: $db, primaryShard: 'shard01', $db: 'admin' }))
  for (const command of [
    { shardCollection: 'app.c', key: { _id: 1 } },
    { split: 'app.c', middle: { _id: 10 } },
    { moveChunk: 'app.c', find: { _id: 10 }, to: 'shard02' },
  ])
    await cluster.during(client.run({ ...command, $db: 'admin' }))
  await cluster.during(client.run({ insert: 'c', documents: [{ _id: 1 }, { _id: 11 }], $db }))
  sent.length = 0
  return { cluster, client, sent }
}

const update = (_id: number): Document => ({ update: 'c', updates: [{ q: { _id }, u: { $inc: { n: 1 } } }], $db })

async function failing(client: Client, session: ReturnType<Client['startSession']>): Promise<Failed | null> {
  for (const _id of [1, 11]) {
    const outcome = await client.run(update(_id), { session })
    if (!outcome.ok) return outcome
  }
  return null
}

const counts = async ({ cluster, client }: World): Promise<number[]> => {
  const outcome = await cluster.during(client.run({ find: 'c', sort: { _id: 1 }, $db }))
  if (!outcome.ok) throw new Error(outcome.message)
  return (outcome.reply['cursor'] as { firstBatch: Document[] }).firstBatch.map(({ n = 0 }) => n as number)
}

const fail = (cluster: SimulatedCluster, data: Document, to: string): Promise<unknown> =>
  cluster.command(encode({ configureFailPoint: 'failCommand', mode: { times: 1 }, data, $db: 'admin' }), { to })

t.test('statements have the fields of a transaction, and one mongos runs all of them', async (t) => {
  const world = await start(t)
  const { cluster, client, sent } = world
  const session = client.startSession()
  session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } })
  t.throws(() => session.startTransaction(), { message: 'Transaction already in progress' })
  for (const _id of [1, 11]) t.ok((await cluster.during(client.run(update(_id), { session }))).ok)
  t.same(await counts(world), [0, 0])
  t.match(await cluster.during(client.commitTransaction(session)), { ok: true })
  t.equal(session.inTransaction, false)
  t.same(await counts(world), [1, 1])
  const [first, second, , commit] = sent.map(({ command }) => command)
  t.match(first, { startTransaction: true, autocommit: false, readConcern: { level: 'snapshot' } })
  t.notOk('startTransaction' in second! || 'readConcern' in second!)
  t.match(commit, { commitTransaction: 1, autocommit: false, writeConcern: { w: 'majority' } })
  t.ok(commit!['recoveryToken'])
  const inTransaction = sent.filter(({ command }) => command['autocommit'] === false)
  t.equal(new Set(inTransaction.map(({ to }) => to)).size, 1)
  t.ok((await cluster.during(client.run(update(1), { session }))).ok)
  t.notOk('autocommit' in sent.at(-1)!.command, 'the next command belongs to none')
  session.startTransaction()
  t.match(await cluster.during(client.commitTransaction(session)), { ok: true, attempts: 0 }, 'nothing was sent')
})

t.test('withTransaction runs again after a conflict, and not after other errors', async (t) => {
  const world = await start(t)
  const { cluster, client } = world
  const rival = client.startSession()
  rival.startTransaction()
  t.ok((await cluster.during(client.run(update(11), { session: rival }))).ok)
  const session = client.startSession()
  let runs = 0
  const body = async (): Promise<Failed | null> => {
    if (++runs === 3) await client.commitTransaction(rival)
    return failing(client, session)
  }
  t.match(await cluster.during(client.withTransaction(session, body)), {
    committed: true,
    runs: 3,
    aborts: { 112: 2 },
    failure: null,
  })
  t.same(await counts(world), [1, 2])
  const wrong = async (): Promise<Failed | null> => {
    const outcome = await client.run({ find: 'c', filter: { $wrong: 1 }, $db }, { session })
    return outcome.ok ? null : outcome
  }
  t.match(await cluster.during(client.withTransaction(session, wrong)), {
    committed: false,
    runs: 1,
    failure: { code: 2 },
  })
})

t.test('a lost reply runs the transaction again, or its commit, also on another mongos', async (t) => {
  const world = await start(t)
  const { cluster, client, sent } = world
  const session = client.startSession()
  for (const mongos of cluster.mongos) await fail(cluster, { failCommands: ['update'], closeConnection: true }, mongos)
  const outcome = await cluster.during(client.withTransaction(session, () => failing(client, session)))
  t.match(outcome, { committed: true, runs: Number, aborts: { 0: Number } })
  t.same(await counts(world), [1, 1])
  sent.length = 0
  let crashed = false
  const body = async (): Promise<Failed | null> => {
    const failure = await failing(client, session)
    if (failure === null && !crashed) {
      crashed = true
      const pinned = sent.findLast(({ command }) => command['autocommit'] === false)!.to
      await cluster.crash(pinned)
    }
    return failure
  }
  t.match(await cluster.during(client.withTransaction(session, body)), { committed: true })
  const again = await counts(world)
  t.same(again, [2, 2], 'once, by the recovery token or by another run')
})

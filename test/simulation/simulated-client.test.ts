/**
 * The simulated client beyond replies: connections, selection, sessions, and exact replays of a
 * seed.
 */
import { decode, encode, Long, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster, type SimulatedClusterOptions } from '@shardlab/cluster'
import { createClient, type Client, type ClientOptions, type CommandEvent } from '@shardlab/scenario'
import t, { type Test } from 'tap'

const $db = 'app'

interface World {
  readonly cluster: SimulatedCluster
  readonly client: Client
  readonly sent: CommandEvent[]
}

async function start(
  t: Test,
  options: SimulatedClusterOptions = {},
  clientOptions: ClientOptions = {},
): Promise<World> {
  const cluster = await createSimulatedCluster({ seed: 1, shards: 1, mongos: 2, ...options })
  t.teardown(() => cluster.stop())
  const sent: CommandEvent[] = []
  const client = createClient(cluster, { onCommand: (event) => sent.push(event), ...clientOptions })
  await cluster.advance(10)
  return { cluster, client, sent }
}

const numbers = (count: number): Document[] => Array.from({ length: count }, (_, i) => ({ _id: i }))

t.test('commands wait for a connection when the pool is full', async (t) => {
  const { cluster, client } = await start(t, { mongos: 1 }, { maxPoolSize: 2 })
  await cluster.command(
    encode({
      configureFailPoint: 'failCommand',
      mode: 'alwaysOn',
      data: { failCommands: ['ping'], blockConnection: true, blockTimeMS: 1000 },
      $db: 'admin',
    }),
  )
  const beganMs = cluster.now()
  const pings = Array.from({ length: 5 }, () => client.run({ ping: 1, $db: 'admin' }))
  const outcomes = await cluster.during(Promise.all(pings))
  t.ok(outcomes.every(({ ok }) => ok))
  t.equal(Math.floor((cluster.now() - beganMs) / 1000), 3, 'two at a time')
  t.equal(client.counts.connectionsOpened, 2)
})

t.test('a mongos that goes away is noticed at once, and used again when it replies', async (t) => {
  const { cluster, client, sent } = await start(t)
  t.same(client.available(), ['mongos01', 'mongos02'])
  await cluster.crash('mongos01')
  await cluster.advance(5)
  t.same(client.available(), ['mongos02'])
  t.equal(client.counts.poolsCleared, 1)
  for (let i = 0; i < 5; i++) t.ok((await cluster.during(client.run({ ping: 1, $db: 'admin' }))).ok)
  t.ok(
    sent.every(({ to }) => to === 'mongos02'),
    'requests skip the router that is down',
  )
  await cluster.restart('mongos01')
  await cluster.advance(10_100)
  t.same(client.available(), ['mongos01', 'mongos02'], 'with the next heartbeat')
})

t.test('an operation without an available mongos waits, and fails after the time limit', async (t) => {
  const { cluster, client } = await start(t, { mongos: 1 }, { serverSelectionTimeoutMs: 3000 })
  await cluster.crash('mongos01')
  await cluster.advance(5)
  const beganMs = cluster.now()
  t.match(await cluster.during(client.run({ ping: 1, $db: 'admin' })), {
    ok: false,
    kind: 'selection',
    message: 'Server selection timed out after 3000 ms',
    attempts: 0,
    mayHaveActed: false,
  })
  t.equal(Math.floor(cluster.now() - beganMs), 3000)
  const waiting = client.run({ ping: 1, $db: 'admin' })
  await cluster.advance(1000)
  await cluster.restart('mongos01')
  t.match(await cluster.during(waiting), { ok: true, attempts: 1 })
})

t.test('a failed connection is retried after a pause, for all commands', async (t) => {
  const { cluster, client } = await start(t, { mongos: 1 })
  const { id } = await cluster.faults.apply('refuse connections to mongos01 from clients')
  const outcome = await cluster.during(client.run({ insert: 'c', documents: [{ _id: 1 }], $db }))
  t.match(outcome, {
    ok: false,
    kind: 'network',
    attempts: 3,
    mayHaveActed: false,
    labels: ['SystemOverloadedError', 'RetryableError'],
  })
  await cluster.faults.heal(id)
  t.match(await cluster.during(client.run({ insert: 'c', documents: [{ _id: 1 }], $db })), { ok: true, attempts: 1 })
})

t.test('a command that times out closes only its connection', async (t) => {
  const { cluster, client } = await start(t, { mongos: 1 }, { socketTimeoutMs: 200 })
  t.ok((await cluster.during(client.run({ insert: 'c', documents: [{ _id: 1 }], $db }))).ok)
  const { id } = await cluster.faults.apply('delay from clients to mongos01 by 500ms')
  const outcome = await cluster.during(client.run({ insert: 'c', documents: [{ _id: 2 }], $db }))
  t.match(outcome, { ok: false, kind: 'network', attempts: 2, mayHaveActed: true, labels: ['RetryableWriteError'] })
  t.equal(client.counts.poolsCleared, 0)
  await cluster.faults.heal(id)
  await cluster.advance(1000)
  t.match(await cluster.during(client.run({ count: 'c', $db })), { ok: true, reply: { n: 2 } })
})

t.test('a cursor uses one mongos and one session, and is closed there', async (t) => {
  const { cluster, client, sent } = await start(t)
  await cluster.during(client.run({ insert: 'c', documents: numbers(10), $db }))
  sent.length = 0
  const cursor = await cluster.during(client.cursor({ find: 'c', batchSize: 3, $db }))
  if ('kind' in cursor) throw new Error(cursor.message)
  t.equal((await cursor.next())!.length, 3, 'the first batch has come already')
  await cluster.during(client.run({ ping: 1, $db: 'admin' }))
  await cluster.during(cursor.next())
  await cluster.during(cursor.close())
  const [find, ping, more, kill] = sent
  t.same(
    [find, more, kill].map((event) => event!.name),
    ['find', 'getMore', 'killCursors'],
  )
  t.equal(new Set([find!.to, more!.to, kill!.to]).size, 1)
  t.same(more!.command['lsid'], find!.command['lsid'])
  t.notSame(ping!.command['lsid'], find!.command['lsid'], 'another session does not reuse it')
  t.ok(cursor.exhausted)
  t.equal(await cursor.next(), null)
})

t.test('commands after an unacknowledged write on its connection are executed after it', async (t) => {
  const { cluster, client } = await start(t, { mongos: 1 }, { maxPoolSize: 1 })
  const insert = (_id: number): Document => ({ insert: 'c', documents: [{ _id }], writeConcern: { w: 0 }, $db })
  t.same(await cluster.during(client.run(insert(1))), { ok: true, reply: { ok: 1 }, from: 'mongos01', attempts: 1 })
  t.match(await cluster.during(client.run({ find: 'c', $db })), { reply: { cursor: { firstBatch: [{ _id: 1 }] } } })
})

t.test('sessions are causally consistent, and can be ended', async (t) => {
  const { cluster, client, sent } = await start(t)
  const session = client.startSession()
  await cluster.during(client.run({ insert: 'c', documents: [{ _id: 1 }], $db }, { session }))
  await cluster.during(client.run({ find: 'c', $db }, { session }))
  t.same(sent[1]!.command['readConcern'], { afterClusterTime: session.operationTime })
  t.match(sent[1]!.command['lsid'], session.lsid)
  t.match(await client.run({ insert: 'c', documents: [], writeConcern: { w: 0 }, $db }, { session }), {
    ok: false,
    kind: 'client',
    message: 'Cannot have explicit session with unacknowledged writes',
  })
  session.end()
  t.match(await client.run({ ping: 1, $db: 'admin' }, { session }), {
    ok: false,
    kind: 'client',
    message: 'Use of expired sessions is not permitted',
  })
  await cluster.during(client.close())
  t.equal(sent.at(-1)!.name, 'endSessions')
  t.match(await client.run({ ping: 1, $db: 'admin' }), { ok: false, kind: 'client', message: 'the client is closed' })
})

t.test('the lsid of a caller is sent unchanged', async (t) => {
  const { cluster, client, sent } = await start(t)
  const { lsid } = client.startSession()
  const update = {
    update: 'c',
    updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } }, upsert: true }],
    lsid,
    txnNumber: Long.fromNumber(9),
    $db,
  }
  for (let i = 0; i < 2; i++) t.ok((await cluster.during(client.run(update, { retryable: false }))).ok)
  t.same(
    sent.map(({ command }) => String(command['txnNumber'])),
    ['9', '9'],
  )
  const outcome = await cluster.during(client.run({ find: 'c', $db }))
  t.match(outcome, { ok: true, reply: { cursor: { firstBatch: [{ n: 1 }] } } })
})

t.test('commands can be sent to members that are not mongoses', async (t) => {
  const { cluster, client } = await start(t)
  t.match(await cluster.during(client.run({ hello: 1, $db: 'admin' }, { to: 'shard01' })), {
    ok: true,
    from: 'shard01',
    reply: { setName: 'shard01' },
  })
  t.match(await cluster.during(client.run({ ping: 1, $db: 'admin' }, { to: 'config' })), { ok: true, from: 'config' })
})

t.test('the mongos counts connections, and notices their end', async (t) => {
  const { cluster, client } = await start(t, { mongos: 1 }, { appName: 'till' })
  await cluster.during(client.run({ ping: 1, $db: 'admin' }))
  const clients = async (): Promise<string[]> => {
    const pipeline = [
      { $currentOp: { allUsers: true, idleConnections: true, localOps: true } },
      { $match: { appName: 'till' } },
    ]
    const reply = decode(await cluster.command(encode({ aggregate: 1, pipeline, cursor: {}, $db: 'admin' })))
    return (reply['cursor'].firstBatch as Document[]).map(({ client: remote }) => remote as string)
  }
  t.match(await clients(), [/^client01:\d+$/, /^client01:\d+$/], 'one for commands, and the monitor')
  await cluster.during(client.close())
  await cluster.advance(10)
  t.same(await clients(), [])
})

t.test('equal seeds give equal runs', async (t) => {
  const run = async (seed: number): Promise<string> => {
    const { cluster, client } = await start(t, { seed })
    for (let i = 0; i < 20; i++) await cluster.during(client.run({ insert: 'c', documents: [{ _id: i }], $db }))
    await cluster.during(client.close())
    return cluster.traceHash()
  }
  const [one, two, other] = [await run(7), await run(7), await run(8)]
  t.equal(one, two)
  t.not(one, other)
})

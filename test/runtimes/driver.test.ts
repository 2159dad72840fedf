/**
 * What an application sees through an unchanged driver during a fault, with and without retries,
 * and how many commands the driver sends.
 */
import { MongoClient, MongoError, type Collection } from 'mongodb'
import { ShardedCluster } from 'shardlab'
import t from 'tap'

interface Thing {
  readonly _id: number
  readonly n?: number
}

/**
 * Outcomes of a find, an insert, a findAndModify and a delete of many (which drivers do not retry)
 * on the faulty shard: `ok`, or the code of the error (`net`: the connection broke) with its
 * labels; then the number of commands that the driver sent.
 */
type Seen = readonly [find: string, insert: string, findAndModify: string, deleteMany: string]

const never: Seen = ['ok 1', 'ok 1', 'ok 1', 'ok 1']
const all = (outcome: string): Seen => [outcome, outcome, outcome, outcome]
const lostTwice = 'net RetryableWriteError'

/** The fault is applied again for each operation. */
const table: readonly (readonly [fault: string, retrying: Seen, plain: Seen])[] = [
  [
    'cut replies of mongos01 to clients only client.command first 1',
    ['ok 2', 'ok 2', 'ok 2', `${lostTwice} 1`],
    all('net 1'),
  ],
  [
    'drop from clients to mongos01 only client.command first 1',
    ['ok 2', 'ok 2', 'ok 2', `${lostTwice} 1`],
    all('net 1'),
  ],
  // A router retries reads, and writes with a transaction number.
  ['drop between mongos01 and shard02 first 1', ['ok 1', 'ok 1', 'ok 1', '6 1'], ['ok 1', '6 1', '6 1', '6 1']],
  // The router's own errors carry no labels: a driver retries reads, and no writes.
  ['drop between mongos01 and shard02', ['6 2', '6 1', '6 1', '6 1'], all('6 1')],
  ['crash shard02', all('133 1'), all('133 1')],
  // The first write that is not retryable gets the shard's error; retryable operations wait for the
  // election.
  ['step down shard02 for 30ms', ['ok 1', 'ok 1', 'ok 1', '6|ok 1'], ['ok 1', '6|ok 1', '6|ok 1', '6|ok 1']],
  ['step down shard02', ['133 1', '133 1', '133 1', '6 1'], ['133 1', '6 1', '6 1', '6 1']],
  ['fill disk of shard02', ['ok 1', '14031 1', '14031 1', '14031 1'], ['ok 1', '14031 1', '14031 1', '14031 1']],
  ['fail at mongos.read.targeted', ['192 1', 'ok 1', 'ok 1', 'ok 1'], ['192 1', 'ok 1', 'ok 1', 'ok 1']],
  ['duplicate between members and members', never, never],
]

async function outcome(sent: () => number, work: Promise<unknown>): Promise<string> {
  const before = sent()
  const labels = (error: MongoError): string[] =>
    error.errorLabels.filter((label) => label.startsWith('Retryable') || label.startsWith('Transient'))
  const words = await work.then(
    () => ['ok'],
    (error: unknown) => (error instanceof MongoError ? [error.code ?? 'net', ...labels(error)] : [String(error)]),
  )
  return [...words, sent() - before].join(' ')
}

t.test('during each fault, an application sees what the table says', async (t) => {
  const cluster = await ShardedCluster.start({
    shards: 2,
    runtime: 'inline',
    seed: 3,
    findReplicaSetHostTimeoutMs: 100,
    networkTimeoutMs: 100,
  })
  const clients: MongoClient[] = []
  t.teardown(async () => {
    for (const client of clients) await client.close()
    await cluster.stop()
  })
  const connect = async (retries: boolean): Promise<readonly [Collection<Thing>, () => number]> => {
    const client = new MongoClient(cluster.uri, {
      retryReads: retries,
      retryWrites: retries,
      monitorCommands: true,
      // Otherwise a late heartbeat is the command that a fault with `first 1` hits.
      serverMonitoringMode: 'poll',
      heartbeatFrequencyMS: 600_000,
      minHeartbeatFrequencyMS: 10,
    })
    clients.push(client)
    let sent = 0
    client.on('commandStarted', () => sent++)
    await client.connect()
    return [client.db('app').collection<Thing>('things'), () => sent] as const
  }
  const [things] = await connect(true)
  for (const command of [
    { enableSharding: 'app', primaryShard: 'shard01' },
    { shardCollection: 'app.things', key: { _id: 1 } },
    { split: 'app.things', middle: { _id: 0 } },
    { moveChunk: 'app.things', find: { _id: 1 }, to: 'shard02' },
  ])
    await clients[0]!.db('admin').command(command)
  await things.insertMany([{ _id: 1 }, { _id: 2 }, { _id: -1 }])
  let last = 10

  for (const retries of [true, false]) {
    await t.test(retries ? 'with retries' : 'without retries', async (t) => {
      const [things, sent] = await connect(retries)
      await things.findOne({ _id: 1 })
      for (const [fault, ...rows] of table) {
        const expected = rows[retries ? 0 : 1]!
        const acknowledged: number[] = []
        const insert = async (): Promise<unknown> => {
          const _id = ++last
          await things.insertOne({ _id })
          return acknowledged.push(_id)
        }
        const operations = [
          () => things.findOne({ _id: 1 }),
          insert,
          () => things.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }),
          () => things.deleteMany({ _id: 2 }),
        ]
        for (const [i, operation] of operations.entries()) {
          await things.updateOne({ _id: 2 }, { $set: { n: 0 } }, { upsert: true })
          await cluster.faults.apply(fault)
          const seen = await outcome(sent, operation())
          await cluster.faults.heal()
          const [outcomes, count] = [expected[i]!.slice(0, -2).split('|'), expected[i]!.slice(-2)]
          t.ok(
            outcomes.some((each) => `${each}${count}` === seen),
            `${fault}, ${['find', 'insert', 'findAndModify', 'deleteMany'][i]}: ${seen}, expected ${expected[i]}`,
          )
        }
        t.equal(
          await things.countDocuments({ _id: { $in: acknowledged } }),
          acknowledged.length,
          'each was written once',
        )
      }
    })
  }

  await t.test('currentOp shows waiting operations on the router and on the shard', async (t) => {
    const admin = clients[0]!.db('admin')
    await cluster.faults.apply('slow disk of shard02 by 1h')
    void outcome(
      () => 0,
      clients[1]!.db('app').collection<Thing>('things').insertOne({ _id: ++last }, { comment: 'it waits' }),
    )
    const operations = async (localOps: boolean) => {
      for (;;) {
        const found = await admin
          .aggregate([{ $currentOp: { localOps } }, { $match: { 'command.comment': 'it waits' } }])
          .toArray()
        if (found.length > 0) return found
      }
    }
    const [routed] = await operations(true)
    t.match(routed, { type: 'op', active: true, op: 'insert', ns: 'app.things', command: { insert: 'things' } })
    const [onShard] = await operations(false)
    t.match(onShard, { shard: 'shard02', active: true, op: 'insert', ns: 'app.things', opid: /^shard02:\d+$/ })
    const { opcounters } = await admin.command({ serverStatus: 1 })
    t.ok(opcounters.insert > 0, 'a router that waits answers others')
    await cluster.faults.heal()
  })
})

/** Connected clients that await topology changes do not delay the stop of a cluster. */
import t from 'tap'
import { MongoClient } from 'mongodb'
import { ShardedCluster } from 'shardlab'
import { RawClient } from '../support/raw-client.js'

/** `close` tries to end sessions on the stopped cluster: limit its wait. */
const connect = (uri: string) =>
  MongoClient.connect(uri, { retryReads: false, retryWrites: false, serverSelectionTimeoutMS: 500 })

/** Resolves when the monitors of that many clients await a change in the mongos. */
async function untilAwaited(cluster: ShardedCluster, clients: number): Promise<void> {
  for (;;) {
    const { inFlight } = await cluster.describe('mongos01')
    if ((inFlight as number) >= clients) return
    await new Promise(setImmediate)
  }
}

for (const runtime of ['threads', 'inline'] as const) {
  t.test(`${runtime}: a cluster stops at once while monitors await a change`, async (t) => {
    const warnings: string[] = []
    const onWarning = (warning: Error) => void warnings.push(warning.name)
    process.on('warning', onWarning)
    const cluster = await ShardedCluster.start({ shards: 2, runtime })
    const clients = await Promise.all(Array.from({ length: 12 }, () => connect(cluster.uri)))
    const direct = await connect(cluster.shards[0]!.uri)
    t.teardown(() => Promise.all([...clients, direct].map((client) => client.close())))
    await direct.db('app').collection('things').findOne()
    await untilAwaited(cluster, clients.length)
    const beginMs = performance.now()
    await cluster.stop()
    t.ok(performance.now() - beginMs < 1000, `stopped after ${Math.round(performance.now() - beginMs)} ms`)
    process.off('warning', onWarning)
    t.same(warnings, [], 'any number of them may wait')
  })
}

t.test('a cluster stops at once while an operation looks for a crashed shard', async (t) => {
  const cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline' })
  const client = await RawClient.connect(cluster.mongos[0]!)
  t.teardown(() => client.close())
  await client.command({ insert: 'things', documents: [{ _id: 1 }], $db: 'app' })
  await cluster.crash('shard01')
  const looking = client.command({ find: 'things', $db: 'app' })
  await untilAwaited(cluster, 1)
  const beginMs = performance.now()
  await cluster.stop()
  t.ok(performance.now() - beginMs < 1000, `stopped after ${Math.round(performance.now() - beginMs)} ms`)
  t.match(await looking, { ok: 0, code: 11600, codeName: 'InterruptedAtShutdown' })
})

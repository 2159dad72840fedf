/** Members that need another member that is down search for it, as routers do. */
import { UUID, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import t, { type Test } from 'tap'
import { admin, ask, ns, start, tookMs } from './two-shard-cluster.js'

const findReplicaSetHostTimeoutMs = 2_000

const notFound = (setName: string) => ({
  ok: 0,
  code: 133,
  codeName: 'FailedToSatisfyReadPreference',
  errmsg: `Could not find host matching read preference { mode: "primary" } for set ${setName}`,
})

async function failsAfterTheSearch(
  t: Test,
  cluster: SimulatedCluster,
  command: () => Promise<Document>,
  expected: Document,
): Promise<void> {
  const searchedMs = await tookMs(cluster, async () => t.match(await command(), expected))
  t.ok(searchedMs >= findReplicaSetHostTimeoutMs, `${searchedMs} ms`)
}

/** An update that sends a document from shard01 to shard02. */
const moveDocument = {
  update: 'things',
  updates: [{ q: { x: -1 }, u: { $set: { x: 3 } } }],
  lsid: { id: new UUID('00000000-0000-4000-8000-000000000007') },
  txnNumber: 1n,
}

t.test('a member that needs a shard that is down fails with 133 after findReplicaSetHostTimeoutMs', async (t) => {
  const cluster = await start(t, { findReplicaSetHostTimeoutMs })
  await cluster.faults.apply('crash shard02')
  const unreachable: [string, () => Promise<Document>, Document][] = [
    ['movePrimary', () => admin(cluster, { movePrimary: 'app', to: 'shard02' }), notFound('shard02')],
    ['creating a database', () => ask(cluster, { create: 'c', $db: 'fresh' }), notFound('shard02')],
    ['moveChunk to it', () => admin(cluster, { moveChunk: ns, find: { x: -1 }, to: 'shard02' }), { ok: 0, code: 133 }],
    ['moveChunk from it', () => admin(cluster, { moveChunk: ns, find: { x: 1 }, to: 'shard01' }), notFound('shard02')],
    ['a document move', () => ask(cluster, moveDocument), { writeErrors: [{ code: 133 }] }],
    ['addShard of an unknown host', () => admin(cluster, { addShard: 'rs9/other:1' }), notFound('rs9')],
  ]
  for (const [name, command, expected] of unreachable)
    await t.test(name, (t) => failsAfterTheSearch(t, cluster, command, expected))
})

t.test('a member that restarts during the search is found', async (t) => {
  const cluster = await start(t, { findReplicaSetHostTimeoutMs, members: 1 })
  await cluster.faults.apply('crash shard02 for 1s')
  t.match(await ask(cluster, moveDocument), { ok: 1, n: 1, nModified: 1 })
  await cluster.faults.apply('crash shard02 for 1s')
  t.match(await ask(cluster, { create: 'c', $db: 'fresh' }), { ok: 1 })
  await cluster.faults.apply('crash config for 1s')
  t.match(await admin(cluster, { movePrimary: 'fresh', to: 'shard01' }), { ok: 1 })
})

t.test('a connection that breaks while a shard works is error 6, not 133', async (t) => {
  const cluster = await start(t, { findReplicaSetHostTimeoutMs })
  await cluster.faults.apply('delay from shard02 to mongos01 by 1s..1s for 2s')
  const inserting = ask(cluster, { insert: 'things', documents: [{ _id: 9, x: 9 }] })
  await cluster.advance(100)
  await cluster.crash('shard02')
  t.match(await inserting, { writeErrors: [{ code: 6 }] })
})

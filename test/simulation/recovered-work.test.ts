/**
 * A new primary continues the work of the one before it only when a majority has the records of
 * that work: until then, the records may be undone.
 */
import { createRandom, namedSteps } from '@shardlab/actor'
import { Binary, decode, encode, Long, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import t, { type Test } from 'tap'
import { PatientClient } from './patient-client.js'

interface Work {
  /** The primary is replaced here. */
  readonly step: string
  readonly set: 'shard01' | 'config'
  /** The member whose steps show that the work is continued. */
  readonly shownBy: string
  readonly start: (client: PatientClient) => Promise<Document | null>
}

const transaction = {
  lsid: { id: new Binary(Buffer.alloc(16, 1), 4) },
  txnNumber: Long.fromNumber(1),
  autocommit: false,
}
const reshard = (client: PatientClient) =>
  client.once({ reshardCollection: 'app.c', key: { n: 1 }, numInitialChunks: 2, $db: 'admin' })

const works: Readonly<Record<string, Work>> = {
  'the commit of a transaction': {
    step: 'shard.transaction.decided',
    set: 'shard01',
    shownBy: 'shard01-2',
    async start(client) {
      const insert = (k: number, more: Document = {}): Document => ({
        ...{ insert: 'c', documents: [{ _id: `t${k}`, k, n: k }], $db: 'app' },
        ...{ ...transaction, ...more },
      })
      await client.once(insert(1, { startTransaction: true }))
      await client.once(insert(11))
      return client.once({ commitTransaction: 1, ...transaction, $db: 'admin' })
    },
  },
  'the request for a resharding': {
    ...{ step: 'shard.resharding.requested', set: 'shard01', shownBy: 'config-1', start: reshard },
  },
  'the start of a resharding': {
    ...{ step: 'config.resharding.started', set: 'config', shownBy: 'config-2', start: reshard },
  },
  'the end of a resharding': {
    ...{ step: 'config.resharding.committed', set: 'config', shownBy: 'config-2', start: reshard },
  },
}

for (const [name, { step, set, shownBy, start }] of Object.entries(works))
  t.test(`${name} is continued when a majority has its records`, async (t) => {
    const { cluster, client } = await begin(t)
    const reached: string[] = []
    const onStruck = ({ step: name }: { readonly step: string }) => reached.push(name)
    for (const each of namedSteps)
      if (/resharding|transaction/.test(each)) await cluster.steps.arm(each, 'note', { addresses: [shownBy], onStruck })
    const fault = await cluster.steps.arm(step, 'hold', { times: 1 })
    const reply = start(new PatientClient(cluster, createRandom(2)))
    await cluster.steps.struck(fault)
    for (const other of [1, 3]) await cluster.faults.apply(`delay replication of ${set}-${other} by 1h`)
    t.match(await ask(cluster, { replSetStepUp: 1 }, `${set}-2`), { ok: 1 })
    await cluster.steps.heal(fault)
    await cluster.advance(5000)
    t.same(reached, [], 'no majority has what the new primary has')
    await cluster.faults.heal()
    await reply
    await cluster.advance(20_000)
    t.ok(reached.length > 0, 'it is continued')
    const { cursor } = await client.untilDone({ find: 'c', batchSize: 100, $db: 'app' })
    t.equal((cursor as Document)['firstBatch'].length, step.includes('transaction') ? 22 : 20)
  })

async function begin(t: Test): Promise<{ cluster: SimulatedCluster; client: PatientClient }> {
  const cluster = await createSimulatedCluster({
    ...{ seed: 1, shards: 2, mongos: 1, members: 3, serverTimings: false, emulate: '6.0' },
    findReplicaSetHostTimeoutMs: 1000,
  })
  t.teardown(() => cluster.stop())
  const client = new PatientClient(cluster, createRandom(1))
  await client.untilDone({ enableSharding: 'app', primaryShard: 'shard01', $db: 'admin' })
  await client.untilDone({ shardCollection: 'app.c', key: { k: 1 }, $db: 'admin' })
  const documents = Array.from({ length: 20 }, (_, k) => ({ _id: k, k, n: k }))
  await client.untilDone({ insert: 'c', documents, $db: 'app' })
  await client.untilDone({ split: 'app.c', middle: { k: 10 }, $db: 'admin' })
  await client.untilDone({ moveChunk: 'app.c', find: { k: 10 }, to: 'shard02', $db: 'admin' })
  return { cluster, client }
}

async function ask(cluster: SimulatedCluster, command: Document, to: string): Promise<Document> {
  return decode(await cluster.command(encode({ ...command, $db: 'admin' }), { to }))
}

/**
 * A document moves to another shard because its shard key value changes, and a member crashes at
 * each step: at the end the document exists once and was changed once.
 */
import t from 'tap'
import { Binary, decode, encode, Long, type Document } from '@shardlab/bson'
import { createSimulatedCluster, type SimulatedCluster } from '@shardlab/cluster'
import { playMoves } from './moving-documents.js'

const steps = ['coordinating', 'participants-written', 'preparing', 'prepared', 'voted', 'decided', 'acknowledged']
const lsid = { id: new Binary(Buffer.alloc(16, 1), 4) }
const shards = ['shard01', 'shard02']

/**
 * Shards app.c by the hash of k, inserts a document for each k below 20, and chooses two on
 * different shards.
 */
async function started(seed: number): Promise<{ cluster: SimulatedCluster; from: number; to: number }> {
  const cluster = await createSimulatedCluster({ seed, shards: 2, emulate: '8.0', findReplicaSetHostTimeoutMs: 3000 })
  await run(cluster, { shardCollection: 'app.c', key: { k: 'hashed' }, $db: 'admin' })
  const documents = Array.from({ length: 20 }, (_, k) => ({ _id: k, k, n: 0 }))
  await run(cluster, { insert: 'c', documents, $db: 'app' })
  const [first, second] = await Promise.all(shards.map((shard) => found(cluster, {}, shard)))
  const from = first![0]!['_id'] as number
  const to = 1000 + (second![0]!['k'] as number)
  // The shard of a key depends on its hash: search for one on another shard.
  for (let k = 1000; ; k++) {
    await run(cluster, { insert: 'c', documents: [{ _id: k, k }], $db: 'app' })
    const there = await found(cluster, { _id: k }, 'shard02')
    await run(cluster, { delete: 'c', deletes: [{ q: { k }, limit: 1 }], $db: 'app' })
    if (there.length === 1) return { cluster, from, to: k }
    if (k > to + 100) throw new Error('all keys are on one shard')
  }
}

async function run(cluster: SimulatedCluster, command: Document, to = 'mongos01'): Promise<Document> {
  return decode(await cluster.command(encode(command), { to }), { promoteLongs: true })
}

/** Documents that a router finds, or that are stored on a shard. */
async function found(cluster: SimulatedCluster, filter: Document, to = 'mongos01'): Promise<Document[]> {
  const reply = await run(cluster, { find: 'c', filter, batchSize: 100, $db: 'app' }, to)
  return reply['cursor']['firstBatch'] as Document[]
}

const moving = (from: number, to: number): Document => ({
  update: 'c',
  updates: [{ q: { k: from }, u: { $set: { k: to }, $inc: { n: 1 } } }],
  lsid,
  txnNumber: Long.fromNumber(1),
  $db: 'app',
})

for (const action of ['crash', 'fail'] as const) {
  for (const [i, step] of steps.entries()) {
    t.test(`a document moves exactly once: ${action} at ${step}`, async (t) => {
      const { cluster, from, to } = await started(100 + i)
      const fault = await cluster.steps.arm(`shard.transaction.${step}`, action, { times: 1 })
      const reply = run(cluster, moving(from, to))
      const member = await Promise.race([cluster.steps.struck(fault), reply.then(() => cluster.steps.struck(fault))])
      if (action === 'crash') {
        await cluster.advance(20)
        await cluster.restart(member)
      }
      const { n, writeErrors = [] } = await reply
      await cluster.advance(5000)
      const [once, ...more] = await found(cluster, { _id: from })
      t.same(more, [], 'it is there once')
      t.match(once, n === 1 ? { k: to, n: 1 } : { _id: from }, JSON.stringify(writeErrors))
      const copies = await Promise.all(shards.map((shard) => found(cluster, { _id: from }, shard)))
      t.equal(copies.flat().length, 1, 'no shard keeps another one')
      const again = await run(cluster, moving(from, to))
      // A shard or router that remembers the aborted transaction refuses the repetition, too.
      const isRefused = [217, 117].includes(again['writeErrors']?.[0].code)
      if (once!['k'] === to) t.match(again, { writeErrors: [{ code: 217 }] }, 'what is done is not done again')
      t.ok(isRefused || (once!['k'] === from && again['nModified'] === 1), JSON.stringify(again))
      const isMoved = once!['k'] === to || !isRefused
      t.match(await found(cluster, { _id: from }), isMoved ? [{ k: to, n: 1 }] : [{ k: from, n: 0 }])
      for (const shard of shards)
        t.match(await run(cluster, { count: 'transaction_coordinators', $db: 'config' }, shard), { n: 0, ok: 1 }, shard)
      await cluster.stop()
    })
  }
}

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
const count = SHARDLAB_LONG === '1' ? 200 : 3
const seeds = SHARDLAB_SEED === undefined ? Array.from({ length: count }, (_, i) => i + 1) : [Number(SHARDLAB_SEED)]

for (const seed of seeds) {
  t.test(`seed ${seed} (again: SHARDLAB_SEED=${seed} npm test -- simulation/document-moves)`, async (t) => {
    const first = await playMoves(seed)
    t.same(first.violations, [], 'every document is there once, with every change that was acknowledged')
    t.ok(first.crashes >= 3, `${first.crashes} crashes`)
    t.ok(first.acknowledged > 20, `${first.acknowledged} changes acknowledged, ${first.unknown} not`)
    t.equal((await playMoves(seed)).traceHash, first.traceHash, 'the same again')
  })
}

/** Long work of a shard that no client asks for, with a turn given up after every step. */
import { Cancellation } from '@shardlab/actor'
import { encode, MaxKey, MinKey, type Document } from '@shardlab/bson'
import { NodeUnderTest } from '@shardlab/node/testing'
import { ShardKeyPattern } from '@shardlab/sharding'
import t from 'tap'
import { StoredSink } from '../src/ranges/stored/stored-sink.js'
import { Shards } from './support/shards.js'

const count = 60
const documents = Array.from({ length: count }, (_, _id) => ({ _id, a: _id, filler: 'x'.repeat(1000) }))
const yieldAfterEachStep = { setParameter: 1, internalQueryExecYieldIterations: 1 }

async function filled(): Promise<Shards> {
  const shards = new Shards()
  await shards.direct('shard01', { createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  await shards.direct('shard01', { insert: 'c', documents })
  t.match(await shards.direct('shard01', { ...yieldAfterEachStep, $db: 'admin' }), { ok: 1 })
  return shards
}

t.test('split points and samples of a collection are found over many turns', async (t) => {
  const key = encode({ a: 1 })
  const bounds = { min: encode({ a: new MinKey() }), max: encode({ a: new MaxKey() }) }
  const analysed = { ns: 'db.c', key, shardVersion: null, databaseVersion: null }
  const works: Readonly<Record<string, (shards: Shards) => Promise<unknown>>> = {
    splitVector: async (shards) => {
      const split = { splitVector: 'db.c', keyPattern: { a: 1 }, force: true }
      return (await shards.direct('shard01', split))['splitKeys']
    },
    'split points': async (shards) => {
      const request = { ns: 'db.c', keyPattern: key, ...bounds, maxChunkSizeBytes: 10_000, pointsMax: null }
      return (await shards.send('shard01', 'shard.find-split-points', request)).points
    },
    'sampled keys': async (shards) =>
      (await shards.send('shard01', 'shard.sample-keys', { ...analysed, size: 5 })).keys,
    'the order of keys': async (shards) => {
      const request = { ...analysed, sampling: encode({ sampleRate: 1 }) }
      return (await shards.send('shard01', 'shard.describe-key', request)).monotonicity
    },
  }
  for (const [name, work] of Object.entries(works)) {
    const shards = await filled()
    const context = shards.contexts.get('shard01')!
    const { turns } = context
    // The work reads a snapshot, so it still finds what another client deletes.
    let left = 3
    context.betweenTurns = async () => {
      if (--left === 0) await shards.direct('shard01', { delete: 'c', deletes: [{ q: {}, limit: 0 }] })
    }
    const found = await work(shards)
    t.ok(context.turns - turns >= count - 1, `${name}: ${context.turns - turns} turns`)
    t.ok(found !== null && (found as readonly unknown[]).length > 0, name)
  }
})

t.test('a batch of a migration is stored over many turns, and no further after its end', async (t) => {
  const received = async (): Promise<{ node: NodeUnderTest; stopping: Cancellation; sink: StoredSink }> => {
    const node = new NodeUnderTest()
    await node.ok({ create: 'c' })
    await node.ok(yieldAfterEachStep, { db: 'admin' })
    const shardKey = ShardKeyPattern.parse(encode({ a: 1 }), { compoundHashed: true })
    const range = { min: shardKey.globalMin, max: shardKey.globalMax }
    const stopping = new Cancellation()
    const sink = new StoredSink(node.node, node.node.collection('test.c')!, { range, shardKey, stopping })
    return { node, stopping, sink }
  }
  const batch = (): Document & { documents: Uint8Array[]; sizes: null } => ({
    documents: documents.map((document) => encode(document)),
    sizes: null,
  })

  const whole = await received()
  const { turns } = whole.node.context
  t.equal((await whole.sink.store(batch())).documents, count)
  t.ok(whole.node.context.turns - turns >= count, `${whole.node.context.turns - turns} turns`)
  t.equal((await whole.node.all('c')).length, count)

  const ended = await received()
  let left = 10
  ended.node.context.betweenTurns = async () => void (--left === 0 && ended.stopping.abort())
  await t.rejects(ended.sink.store(batch()), { code: 11601, message: 'the migration was aborted' })
  ended.node.context.betweenTurns = null
  t.equal((await ended.node.all('c')).length, 10, 'its range is deleted now: later documents would stay')

  const dropped = await received()
  dropped.node.context.betweenTurns = async () => {
    dropped.node.context.betweenTurns = null
    await dropped.node.ok({ drop: 'c' })
  }
  await t.rejects(dropped.sink.store(batch()), { code: 26 })
})

/** A quiet shard holds a change stream back until it writes a no-op. */
import type { Document } from '@shardlab/bson'
import type { SimulatedCluster, SimulatedClusterOptions } from '@shardlab/cluster'
import t, { type Test } from 'tap'
import { admin, ask, insert, start, tookMs } from './two-shard-cluster.js'

/** How long a stream waits for the events of three inserts on the first shard, in ms. */
async function delays(t: Test, options: SimulatedClusterOptions): Promise<{ cluster: SimulatedCluster; ms: number[] }> {
  const cluster = await start(t, { emulate: '7.0', ...options })
  const opened = await ask(cluster, { aggregate: 'things', pipeline: [{ $changeStream: {} }], cursor: {} })
  const { id } = opened['cursor'] as Document
  const ms: number[] = []
  for (const x of [-10, -11, -12]) {
    await insert(cluster, x)
    ms.push(await tookMs(cluster, () => eventOf(cluster, id, x)))
  }
  return { cluster, ms }
}

async function eventOf(cluster: SimulatedCluster, id: unknown, x: number, tries = 30): Promise<Document> {
  for (let i = 0; i < tries; i++) {
    const more = await ask(cluster, { getMore: id, collection: 'things', maxTimeMS: 1000 })
    const events = more['cursor'].nextBatch as Document[]
    const found = events.find(({ documentKey }) => documentKey.x === x)
    if (found !== undefined) return found
  }
  throw new Error(`there is no event of ${x}`)
}

t.test('a shard writes a no-op as soon as a stream needs it', async (t) => {
  const { cluster, ms } = await delays(t, {})
  t.ok(Math.max(...ms) < 100, ms.join())
  const shown = await admin(cluster, { getParameter: 1, periodicNoopIntervalSecs: 1 }, 'shard01')
  t.equal(shown['periodicNoopIntervalSecs'], 10)
})

t.test('with periodicNoopIntervalSecs a stream waits for the periodic no-op, as on the server', async (t) => {
  for (const members of [1, 3]) {
    const { cluster, ms } = await delays(t, { members, periodicNoopIntervalSecs: 5 })
    t.ok(
      ms.slice(1).every((each) => each > 3000 && each < 5100),
      ms.join(),
    )
    const member = members === 1 ? 'shard01' : 'shard01-1'
    const shown = await admin(cluster, { getParameter: 1, periodicNoopIntervalSecs: 1 }, member)
    t.equal(shown['periodicNoopIntervalSecs'], 5)
    const refused = await admin(cluster, { setParameter: 1, periodicNoopIntervalSecs: 1 }, member)
    t.match(refused, { code: 20, errmsg: 'not allowed to change [periodicNoopIntervalSecs] at runtime' })
  }
})

t.test('a shard whose writePeriodicNoops is false holds the stream back', async (t) => {
  for (const options of [{}, { periodicNoopIntervalSecs: 1 }]) {
    const { cluster } = await delays(t, options)
    for (const shard of ['shard01', 'shard02'])
      t.match(await admin(cluster, { setParameter: 1, writePeriodicNoops: false }, shard), { was: true, ok: 1 })
    const opened = await ask(cluster, { aggregate: 'things', pipeline: [{ $changeStream: {} }], cursor: {} })
    const { id } = opened['cursor'] as Document
    await insert(cluster, -20)
    await t.rejects(eventOf(cluster, id, -20), /there is no event of -20/)
    // A write does as well as a no-op.
    await insert(cluster, 20)
    t.match(await eventOf(cluster, id, -20, 1), { documentKey: { x: -20 } })
  }
})

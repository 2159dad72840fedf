/** The only member of a set, while its disk still holds an entry that it has applied. */
import { Timestamp, type Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

const values = (reply: Document) => (reply['cursor'].firstBatch as Document[]).map(({ v }) => v as number)
const read = (level: string, more: Document = {}): Document => ({ find: 'c', readConcern: { level, ...more } })

async function withHeldUpdate(): Promise<{ node: NodeUnderTest; updated: Promise<Document> }> {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1, v: 1 }] })
  node.context.disk.held = true
  const updated = node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { v: 2 } } }] })
  return { node, updated }
}

t.test('majority and snapshot reads see only what is on the disk', async (t) => {
  const { node, updated } = await withHeldUpdate()
  t.same(values(await node.ok(read('local'))), [2])
  t.same(values(await node.ok(read('majority'))), [1])
  t.same(values(await node.ok(read('snapshot'))), [1])
  const count = { aggregate: 'c', pipeline: [{ $match: { v: 1 } }, { $count: 'v' }], cursor: {} }
  t.same(values(await node.ok({ ...count, readConcern: { level: 'majority' } })), [1])
  node.context.disk.release()
  await updated
  t.same(values(await node.ok(read('majority'))), [2])
  t.same(values(await node.ok(read('snapshot'))), [2])
})

t.test('a linearizable read that waits for the disk ends with its time', async (t) => {
  const { node, updated } = await withHeldUpdate()
  t.match(await node.run({ ...read('linearizable'), maxTimeMS: 5 }), { ok: 0, code: 50 })
  node.context.disk.release()
  await updated
})

t.test('a read after the time of an entry, and a linearizable one, wait for the disk', async (t) => {
  const { node, updated } = await withHeldUpdate()
  const [seconds, increment] = node.node.set.appliedTs
  const afterClusterTime = new Timestamp({ t: seconds, i: increment })
  const ended: string[] = []
  const reads = [read('majority', { afterClusterTime }), read('snapshot', { afterClusterTime }), read('linearizable')]
  const replies = reads.map(async (command) => {
    const reply = await node.ok(command)
    ended.push(command['readConcern'].level)
    return values(reply)
  })
  t.same(values(await node.ok(read('local', { afterClusterTime }))), [2], 'a local read does not wait')
  t.same(ended, [])
  node.context.disk.release()
  await updated
  t.same(await Promise.all(replies), [[2], [2], [2]])
})

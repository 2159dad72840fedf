import { Long, type Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

async function effort(node: NodeUnderTest): Promise<readonly number[]> {
  const { metrics } = await node.ok({ serverStatus: 1 }, { db: 'admin' })
  const { operation, queryExecutor } = metrics as Document
  const { scanned, scannedObjects, collectionScans } = queryExecutor as Document
  const { nonTailable, total } = collectionScans as Document
  return [scanned, scannedObjects, nonTailable, total, (operation as Document)['scanAndOrder']].map(Number)
}

t.test('serverStatus counts keys and documents examined, collection scans and sorts in memory', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
  await node.ok({ insert: 'c', documents: [...Array(10).keys()].map((_id) => ({ _id, a: _id % 2, b: _id })) })
  const costs = async (command: Document): Promise<readonly number[]> => {
    const before = await effort(node)
    await node.ok(command)
    return (await effort(node)).map((value, i) => value - before[i]!)
  }
  t.same(await costs({ find: 'c', filter: { a: 1 } }), [5, 5, 0, 0, 0])
  t.same(await costs({ find: 'c', filter: { b: 1 } }), [0, 10, 1, 1, 0])
  t.same(await costs({ find: 'c', filter: { _id: 1 } }), [1, 1, 0, 0, 0])
  t.same(await costs({ find: 'c', filter: { a: 1 }, sort: { b: -1 } }), [5, 5, 0, 0, 1])
  t.same(
    await costs({ aggregate: 'c', pipeline: [{ $match: { a: 1 } }, { $group: { _id: '$a' } }], cursor: {} }),
    [5, 0, 0, 0, 0],
  )
  t.same(
    await costs({ update: 'c', updates: [{ q: { b: { $gte: 5 } }, u: { $set: { x: 1 } }, multi: true }] }),
    [0, 10, 1, 1, 0],
  )
  t.same(await costs({ update: 'c', updates: [{ q: { _id: 3 }, u: { $set: { x: 1 } } }] }), [1, 1, 0, 0, 0])
  t.same(await costs({ count: 'c', query: { b: 1 } }), [0, 10, 1, 1, 0])
  t.same(await costs({ distinct: 'c', key: 'b', query: { b: { $lt: 3 } } }), [0, 10, 1, 1, 0])
})

t.test('a cursor counts batch by batch, and as one scan', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  await node.ok({ insert: 'c', documents: [...Array(10).keys()].map((_id) => ({ _id })) })
  const { cursor } = (await node.ok({ find: 'c', batchSize: 4 })) as { cursor: { id: Long } }
  t.same(await effort(node), [0, 4, 1, 1, 0])
  await node.ok({ getMore: cursor.id, collection: 'c' })
  t.same(await effort(node), [0, 10, 1, 1, 0])
})

t.test('a tailable cursor counts as a scan but not as a non-tailable one', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  await node.ok({ create: 'c', capped: true, size: 4096 })
  await node.ok({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }] })
  await node.ok({ find: 'c', tailable: true })
  t.same(await effort(node), [0, 2, 0, 1, 0])
})

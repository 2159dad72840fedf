import type { Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { long, NodeUnderTest, plainRole, session } from './support/harness.js'

const admin = { db: 'admin' }
const newNode = (version: EmulatedVersion) => new NodeUnderTest({ role: { ...plainRole, name: 'mongod' }, version })

async function statistics(node: NodeUnderTest, option: unknown = true): Promise<Document> {
  return (await node.ok({ serverStatus: 1, transactions: option }, admin))['transactions'] as Document
}

const preparedFields = ['totalPrepared', 'totalPreparedThenCommitted', 'totalPreparedThenAborted', 'currentPrepared']

for (const [version, implicit, provenance] of [
  ['4.0', {}, {}],
  ['4.4', {}, { provenance: 'clientSupplied' }],
  ['8.0', { w: 'majority', wtimeout: 0, provenance: 'implicitDefault' }, { provenance: 'clientSupplied' }],
] as const)
  t.test(`${version}: serverStatus shows the size and the write concern of the last commit`, async (t) => {
    const node = newNode(version)
    await node.ok({ create: 'c' })
    t.notOk('lastCommittedTransaction' in (await statistics(node)), 'nothing has committed')
    for (const field of preparedFields) t.equal(field in (await statistics(node)), version !== '4.0', field)
    let number = 0
    const commit = async (documents: Document[], more: Document = {}) => {
      const common = { lsid: session(1), txnNumber: long(++number), autocommit: false }
      await node.ok({ insert: 'c', documents, ...common, startTransaction: true })
      await node.ok({ commitTransaction: 1, ...common, ...more }, admin)
      return (await statistics(node))['lastCommittedTransaction'] as Document
    }
    const one = await commit([{ _id: 1 }])
    t.match(one, { operationCount: long(1), writeConcern: implicit })
    t.same(Object.keys(one), ['operationCount', 'oplogOperationBytes', 'writeConcern'])
    t.same(one['writeConcern'], implicit)
    const two = await commit([{ _id: 2 }, { _id: 3 }], { writeConcern: { w: 1, j: true, wtimeout: 500 } })
    t.match(two, { operationCount: long(2) })
    t.equal(Number(two['oplogOperationBytes']), 2 * Number(one['oplogOperationBytes']))
    t.same(two['writeConcern'], { w: 1, j: true, wtimeout: 500, ...provenance })
    t.notOk('lastCommittedTransaction' in (await statistics(node, { includeLastCommitted: false })))
    t.ok('lastCommittedTransaction' in (await statistics(node, { includeLastCommitted: true })))
    t.notOk('lastCommittedTransaction' in (await statistics(node, {})))
  })

t.test('a write concern that a router has completed is shown with its source', async (t) => {
  const node = newNode('8.0')
  await node.ok({ create: 'c' })
  const common = { lsid: session(1), txnNumber: long(1), autocommit: false }
  await node.ok({ insert: 'c', documents: [{}], ...common, startTransaction: true })
  const writeConcern = { w: 1, provenance: 'customDefault' }
  await node.ok({ commitTransaction: 1, ...common, writeConcern }, admin)
  t.match(await statistics(node), {
    lastCommittedTransaction: { writeConcern: { w: 1, wtimeout: 0, provenance: 'customDefault' } },
  })
})

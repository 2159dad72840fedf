/** Commands that would reach more than their user may. */
import { UUID } from '@shardlab/bson'
import type { UUID as DriverUuid } from 'mongodb'
import t from 'tap'
import { Deployment, failure } from './support/deployment.js'

t.test('applyOps reaches the collection of a UUID, or of a precondition, with its privileges only', async (t) => {
  const deployment = await Deployment.start(t, { topology: 'replica-set', emulate: '6.0' })
  const root = await deployment.createRoot()
  await root.db('shop').collection('rows').insertOne({ a: 1 })
  await root.db('shop').collection('secrets').insertOne({ a: 2 })
  const rows = { resource: { db: 'shop', collection: 'rows' }, actions: ['find', 'insert', 'update', 'remove'] }
  const cluster = { resource: { cluster: true }, actions: ['applyOps', 'useUUID'] }
  await root.db('admin').command({ createRole: 'applier', privileges: [rows, cluster], roles: [] })
  const db = (await deployment.createUser(root, 'ann', ['applier'])).db('admin')
  const [secrets] = await root.db('shop').listCollections({ name: 'secrets' }).toArray()
  const ui = new UUID((secrets as unknown as { info: { uuid: DriverUuid } }).info.uuid.toHexString())
  const insert = { op: 'i', ns: 'shop.rows', o: { _id: 1 } }
  t.match(await failure(db.command({ applyOps: [{ ...insert, ui }] })), { code: 13 })
  const preCondition = [{ ns: 'shop.secrets', q: {}, res: { a: 1 } }]
  t.match(await failure(db.command({ applyOps: [insert], preCondition })), { code: 13 })
  t.equal(await root.db('shop').collection('secrets').countDocuments(), 1)
  await db.command({ applyOps: [insert], preCondition: [{ ns: 'shop.rows', q: {}, res: { a: 1 } }] })
})

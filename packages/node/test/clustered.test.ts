import { Long, type Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

const batch = (reply: Document) => (reply['cursor'] as { firstBatch: Document[] }).firstBatch
const byId = { key: { _id: 1 }, unique: true }
const optionsOf = async (node: NodeUnderTest) => batch(await node.ok({ listCollections: 1 }))[0]!['options'] as Document
const idsOf = async (node: NodeUnderTest) => (await node.all('c')).map((each) => each['_id'])

t.test('a clustered collection lists its index', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  await node.ok({ create: 'c', clusteredIndex: { ...byId, name: 'by id' }, expireAfterSeconds: 10 })
  const clusteredIndex = { v: 2, key: { _id: 1 }, name: 'by id', unique: true }
  t.same(await optionsOf(node), { clusteredIndex, expireAfterSeconds: Long.fromNumber(10) })
  t.same(Object.keys(await optionsOf(node)), ['clusteredIndex', 'expireAfterSeconds'])
  const indexes = batch(await node.ok({ listIndexes: 'c' }))
  t.same(indexes, [{ ...clusteredIndex, expireAfterSeconds: Long.fromNumber(10), clustered: true }])
  t.same(Object.keys(indexes[0]!), ['v', 'key', 'name', 'unique', 'expireAfterSeconds', 'clustered'])
  await node.ok({ create: 'c', clusteredIndex: { ...byId, name: 'by id' }, expireAfterSeconds: 10 })
  t.match(await node.run({ create: 'c' }), { code: 48 })
  await node.ok({ create: 'unnamed', clusteredIndex: byId })
  t.match(batch(await node.ok({ listIndexes: 'unnamed' })), [{ name: '_id_', clustered: true }])
  await node.ok({ create: 'plain', clusteredIndex: false })
  t.same(batch(await node.ok({ listIndexes: 'plain' })), [{ v: 2, key: { _id: 1 }, name: '_id_' }])
  t.same((await node.restarted().ok({ listIndexes: 'c' }))['cursor'], (await node.ok({ listIndexes: 'c' }))['cursor'])
})

t.test('invalid options of a clustered collection are refused', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  const refused = async (clusteredIndex: unknown, code: number, more: Document = {}) =>
    t.match(
      await node.run({ create: 'c', clusteredIndex, ...more }),
      { code },
      JSON.stringify({ clusteredIndex, ...more }),
    )
  await refused(true, 5979703)
  await refused('x', 14)
  await refused({ key: { _id: 1 } }, 40414)
  await refused({ unique: true }, 40414)
  await refused({ ...byId, more: 1 }, 40415)
  await refused({ ...byId, unique: false }, 5979700)
  await refused({ ...byId, key: { a: 1 } }, 197)
  await refused({ ...byId, key: { _id: -1 } }, 197)
  await refused({ ...byId, v: 1 }, 5979704)
  await refused(byId, 6127800, { capped: true, size: 100 })
  await refused(byId, 6049200, { size: 100, max: 1 })
  await refused(byId, 6049204, { max: 1 })
  await refused(byId, 6026500, { viewOn: 'x' })
  await refused(byId, 6026501, { autoIndexId: false })
  await refused(byId, 72, { idIndex: { key: { _id: 1 }, name: '_id_' } })
  await refused(byId, 72, { expireAfterSeconds: -1 })
  await refused(byId, 72, { expireAfterSeconds: Long.fromNumber(1e11) })
  t.same(batch(await node.ok({ listCollections: 1 })), [])
  t.match(await new NodeUnderTest({ version: '5.0' }).run({ create: 'c', clusteredIndex: byId }), { code: 72 })
})

t.test('the clustered index cannot be dropped, hidden or created again', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  await node.ok({ create: 'c', clusteredIndex: { ...byId, name: 'by id' } })
  const listed = batch(await node.ok({ listIndexes: 'c' }))[0]!
  for (const index of ['by id', { _id: 1 }, ['by id']])
    t.match(await node.run({ dropIndexes: 'c', index }), { code: 5979800 })
  t.match(await node.run({ collMod: 'c', index: { name: 'by id', hidden: true } }), { code: 6011800 })
  const create = (...indexes: Document[]) => node.run({ createIndexes: 'c', indexes })
  t.match(await create(listed), { ok: 1, note: 'all indexes already exist' })
  t.match(await create({ key: { _id: 1 }, name: '_id_1' }), { ok: 1, numIndexesAfter: 1 })
  t.match(await create({ key: { a: 1 }, name: 'a_1', clustered: true, unique: true }), { code: 6243700 })
  t.match(await create({ key: { a: 1 }, name: 'by id' }), { code: 6100906 })
  t.match(await create({ key: { _id: 1 }, name: 'x', v: 1 }), { code: 6100908 })
  t.match(await create({ key: { _id: 1 }, name: 'x', unique: false }), { code: 6100909 })
  t.match(await create({ key: { _id: 1, a: 1 }, name: 'both' }), { ok: 1, numIndexesAfter: 2 })
  await node.ok({ create: 'plain' })
  t.match(
    await node.run({
      createIndexes: 'plain',
      indexes: [{ key: { _id: 1 }, name: 'x', clustered: true, unique: true }],
    }),
    {
      code: 6479600,
    },
  )
  await node.ok({ dropIndexes: 'c', index: '*' })
  t.same(batch(await node.ok({ listIndexes: 'c' })), [listed])
})

t.test('documents of a clustered collection expire by their _id until collMod sets off', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  const at = (seconds: number) => new Date(node.context.nowMs + seconds * 1000)
  const wake = () => node.node.wake('ttl-monitor')
  await node.ok({ create: 'c', clusteredIndex: byId, expireAfterSeconds: 60 })
  await node.ok({ insert: 'c', documents: [{ _id: at(-61) }, { _id: at(-59) }, { _id: 1 }, { _id: 'x' }] })
  const young = at(-59)
  await wake()
  t.same(await idsOf(node), [1, 'x', young])
  t.match(await node.run({ collMod: 'c', expireAfterSeconds: 'never' }), { code: 72 })
  t.match(await node.run({ collMod: 'c', expireAfterSeconds: -1 }), { code: 72 })
  t.match(await node.run({ collMod: 'c', expireAfterSeconds: true }), { code: 14 })
  await node.ok({ collMod: 'c', expireAfterSeconds: 'off' })
  t.same(Object.keys(await optionsOf(node)), ['clusteredIndex'])
  node.context.nowMs += 100_000
  await wake()
  t.same(await idsOf(node), [1, 'x', young])
  await node.ok({ collMod: 'c', expireAfterSeconds: 30 })
  await wake()
  t.same(await idsOf(node), [1, 'x'])
  t.same(await idsOf(node.restarted()), [1, 'x'])
  await node.ok({ create: 'plain' })
  t.match(await node.run({ collMod: 'plain', expireAfterSeconds: 1 }), {
    code: 72,
    errmsg: "'expireAfterSeconds' option is only supported on collections clustered by _id",
  })
})

t.test('a dry run of collMod finds duplicates and changes nothing', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1', prepareUnique: true }] })
  const dryRun = (more: Document) => node.run({ collMod: 'c', dryRun: true, ...more })
  t.match(await dryRun({}), { code: 72, errmsg: 'dry run mode requires an valid index modification.' })
  t.match(await dryRun({ index: { name: 'a_1', hidden: true } }), { code: 72 })
  t.match(await dryRun({ index: { name: 'a_1', unique: true, hidden: true } }), { code: 72 })
  t.same(await dryRun({ index: { name: 'a_1', unique: true } }), { ok: 1 })
  t.notOk(batch(await node.ok({ listIndexes: 'c' }))[1]!['unique'])
  await node.ok({ collMod: 'c', index: { name: 'a_1', prepareUnique: false } })
  await node.ok({
    insert: 'c',
    documents: [
      { _id: 1, a: 1 },
      { _id: 2, a: 1 },
    ],
  })
  await node.ok({ collMod: 'c', index: { name: 'a_1', prepareUnique: true } })
  t.match(await dryRun({ index: { name: 'a_1', unique: true } }), { code: 359, violations: [{ ids: [1, 2] }] })
  t.match(await new NodeUnderTest({ version: '5.0' }).run({ collMod: 'c', dryRun: true }), { ok: 0 })
})

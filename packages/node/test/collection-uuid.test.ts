import { UUID, type Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

const uuidOf = async (node: NodeUnderTest, name: string): Promise<UUID> => {
  const { cursor } = await node.ok({ listCollections: 1, filter: { name } })
  return (cursor as { firstBatch: { info: { uuid: UUID } }[] }).firstBatch[0]!.info.uuid
}

async function twoCollections(): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version: '8.0' })
  for (const name of ['a', 'b']) await node.ok({ insert: name, documents: [{ _id: 1, x: 1 }] })
  await node.ok({ createIndexes: 'a', indexes: [{ key: { x: 1 }, name: 'x_1' }] })
  await node.ok({ create: 'view', viewOn: 'a', pipeline: [] })
  return node
}

const commands: readonly Document[] = [
  { find: 'a' },
  { aggregate: 'a', pipeline: [], cursor: {} },
  { insert: 'a', documents: [{ _id: 2 }] },
  { update: 'a', updates: [{ q: {}, u: { $set: { y: 1 } } }] },
  { delete: 'a', deletes: [{ q: { _id: 2 }, limit: 1 }] },
  { createIndexes: 'a', indexes: [{ key: { y: 1 }, name: 'y_1' }] },
  { collMod: 'a', validator: {} },
  { dropIndexes: 'a', index: 'x_1' },
  { drop: 'a' },
]

t.test('a command with the UUID of another collection is refused and changes nothing', async (t) => {
  const node = await twoCollections()
  const [own, other] = [await uuidOf(node, 'a'), await uuidOf(node, 'b')]
  const unknown = new UUID()
  const mismatch = (collectionUUID: UUID, expectedCollection: string, actualCollection: string | null) => ({
    ok: 0,
    code: 361,
    errmsg: 'Collection UUID does not match that specified',
    db: 'test',
    collectionUUID,
    expectedCollection,
    actualCollection,
  })
  const dataBefore = await node.all('a')
  for (const command of commands) {
    t.match(await node.run({ ...command, collectionUUID: other }), mismatch(other, 'a', 'b'), Object.keys(command)[0]!)
    t.match(await node.run({ ...command, collectionUUID: unknown }), mismatch(unknown, 'a', null))
  }
  t.same(await node.all('a'), dataBefore)
  t.match(await node.run({ find: 'view', collectionUUID: own }), mismatch(own, 'view', null))
  t.match(await node.run({ insert: 'missing', documents: [{}], collectionUUID: own }), mismatch(own, 'missing', 'a'))
  const rename = (collectionUUID: UUID) =>
    node.run({ renameCollection: 'test.a', to: 'test.c', collectionUUID }, { db: 'admin' })
  t.match(await rename(other), mismatch(other, 'a', 'b'))
  for (const command of commands)
    t.match(await node.run({ ...command, collectionUUID: own }), { ok: 1 }, Object.keys(command)[0]!)
})

t.test('each namespace of a bulkWrite may have a collectionUUID', async (t) => {
  const node = await twoCollections()
  const other = await uuidOf(node, 'b')
  const reply = await node.run(
    {
      bulkWrite: 1,
      ops: [
        { insert: 0, document: { _id: 5 } },
        { insert: 1, document: { _id: 5 } },
      ],
      nsInfo: [
        { ns: 'test.b', collectionUUID: other },
        { ns: 'test.a', collectionUUID: other },
      ],
    },
    { db: 'admin' },
  )
  t.match(reply, {
    nInserted: 1,
    nErrors: 1,
    cursor: { firstBatch: [{ ok: 1 }, { ok: 0, code: 361, actualCollection: 'b' }] },
  })
})

t.test('an invalid UUID is refused, and servers before 6.0 refuse the argument', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  t.match(await node.run({ find: 'a', collectionUUID: 'x' }), { code: 14 })
  t.match(await node.run({ find: 'a', collectionUUID: new Uint8Array(16) }), { code: 14 })
  t.match(await new NodeUnderTest({ version: '5.0' }).run({ find: 'a', collectionUUID: new UUID() }), {
    code: 40415,
    errmsg: "BSON field 'find.collectionUUID' is an unknown field.",
  })
})

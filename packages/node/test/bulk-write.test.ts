import type { Document } from '@shardlab/bson'
import t from 'tap'
import { long, NodeUnderTest, session, shape } from './support/harness.js'

const admin = { db: 'admin' }
const newNode = () => new NodeUnderTest({ version: '8.0' })
const nsInfo = [{ ns: 'test.c' }, { ns: 'other.d' }]
const summary = (
  counts: Partial<Record<'nErrors' | 'nInserted' | 'nMatched' | 'nModified' | 'nUpserted' | 'nDeleted', number>>,
) => ({
  nErrors: 0,
  nInserted: 0,
  nMatched: 0,
  nModified: 0,
  nUpserted: 0,
  nDeleted: 0,
  ...counts,
})

t.test('bulkWrite writes to several collections', async (t) => {
  const node = newNode()
  const reply = await node.ok(
    {
      bulkWrite: 1,
      ops: [
        { insert: 0, document: { _id: 1, a: 1 } },
        { insert: 1, document: { _id: 'x' } },
        { update: 0, filter: { _id: 1 }, updateMods: { $inc: { a: 1 } } },
        { update: 0, filter: { _id: 7 }, updateMods: [{ $set: { a: '$$k' } }], constants: { k: 5 }, upsert: true },
        { update: 0, filter: {}, updateMods: { $set: { z: 1 } }, multi: true },
        { delete: 1, filter: { _id: 'x' } },
        { delete: 0, filter: {}, multi: true },
      ],
      nsInfo,
    },
    admin,
  )
  t.same(reply, {
    cursor: {
      id: long(0),
      firstBatch: [
        { ok: 1, idx: 0, n: 1 },
        { ok: 1, idx: 1, n: 1 },
        { ok: 1, idx: 2, n: 1, nModified: 1 },
        { ok: 1, idx: 3, n: 1, nModified: 0, upserted: { _id: 7 } },
        { ok: 1, idx: 4, n: 2, nModified: 2 },
        { ok: 1, idx: 5, n: 1 },
        { ok: 1, idx: 6, n: 2 },
      ],
      ns: 'admin.$cmd.bulkWrite',
    },
    ...summary({ nInserted: 2, nMatched: 3, nModified: 3, nUpserted: 1, nDeleted: 3 }),
    ok: 1,
  })
})

t.test('replies have the types of the server', async (t) => {
  const node = newNode()
  const body = await node.raw({ bulkWrite: 1, ops: [{ insert: 0, document: { _id: 1 } }], nsInfo }, admin)
  t.equal(
    shape(body),
    'cursor:object nErrors:int nInserted:int nMatched:int nModified:int nUpserted:int nDeleted:int ok:double',
  )
  t.equal(shape(body, 'cursor'), 'id:long firstBatch:array ns:string')
  t.equal(shape(body, 'cursor.firstBatch.0'), 'ok:double idx:int n:int')
})

t.test('an error stops an ordered bulkWrite only', async (t) => {
  const ops = [
    { insert: 0, document: { _id: 1 } },
    { insert: 0, document: { _id: 1 } },
    { update: 0, filter: { _id: 1 }, updateMods: { $inc: { _id: 1 } } },
    { insert: 0, document: { _id: 2 } },
  ]
  const ordered = await newNode().ok({ bulkWrite: 1, ops, nsInfo }, admin)
  t.match(ordered, {
    nErrors: 1,
    nInserted: 1,
    cursor: {
      firstBatch: [
        { ok: 1, idx: 0 },
        { ok: 0, idx: 1, code: 11000, n: 0 },
      ],
    },
  })
  t.equal((ordered['cursor'] as Document)['firstBatch'].length, 2)
  const all = await newNode().ok({ bulkWrite: 1, ops, nsInfo, ordered: false, errorsOnly: true }, admin)
  t.match(all, {
    nErrors: 2,
    nInserted: 2,
    cursor: {
      firstBatch: [
        { idx: 1, code: 11000, keyPattern: { _id: 1 }, keyValue: { _id: 1 } },
        { idx: 2, code: 66, n: 0, nModified: 0 },
      ],
    },
  })
})

t.test('results that exceed the first batch are read by getMore', async (t) => {
  const node = newNode()
  const ops = Array.from({ length: 5 }, (_, _id) => ({ insert: 0, document: { _id } }))
  const client = {
    connectionId: 1,
    sequences: [],
    legacy: false,
    remote: 'test',
  }
  const { body } = await node.node.clientCommand({
    ...client,
    body: node.command({ bulkWrite: 1, ops, nsInfo, cursor: { batchSize: 2 }, $db: 'admin' }).body,
  })
  const { decode } = await import('@shardlab/bson')
  const cursor = decode(body)['cursor'] as Document
  t.same(
    cursor['firstBatch'].map(({ idx }: Document) => idx),
    [0, 1],
  )
  const next = await node.ok({ getMore: cursor['id'], collection: '$cmd.bulkWrite' }, admin)
  t.same(
    (next['cursor'] as Document)['nextBatch'],
    [2, 3, 4].map((idx) => ({ ok: 1, idx, n: 1 })),
  )
})

t.test('a retried op is executed once', async (t) => {
  const node = newNode()
  const command = {
    bulkWrite: 1,
    ops: [
      { insert: 0, document: { _id: 1, a: 0 } },
      { update: 0, filter: { _id: 1 }, updateMods: { $inc: { a: 1 } } },
      { update: 0, filter: { _id: 2 }, updateMods: { $inc: { a: 1 } }, upsert: true },
      { delete: 0, filter: { a: 1 } },
    ],
    nsInfo,
    lsid: session(1),
    txnNumber: long(1),
  }
  const first = await node.ok(command, admin)
  for (const member of [node, node.restarted()])
    t.same(await member.ok(command, admin), { ...first, retriedStmtIds: [0, 1, 2, 3] })
  t.equal((await node.all('c')).length, 1)
})

t.test('an invalid op fails the whole command', async (t) => {
  const node = newNode()
  const fails = async (command: Document, code: number, errmsg?: string) =>
    t.match(await node.run({ bulkWrite: 1, ops: [{ insert: 0, document: {} }], nsInfo, ...command }, admin), {
      ok: 0,
      code,
      ...(errmsg === undefined ? {} : { errmsg }),
    })
  await fails({ ops: [] }, 16, 'Write batch sizes must be between 1 and 100000. Got 0 operations.')
  await fails(
    { ops: [{ insert: 5, document: {} }] },
    2,
    'BulkWrite ops entry { insert: 5, document: {} } has an invalid nsInfo index.',
  )
  await fails({ ops: [{ insert: -1, document: {} }] }, 2, "BSON field 'insert' value must be >= 0, actual value '-1'")
  await fails({ ops: [{ insert: '0', document: {} }] }, 14)
  await fails(
    { ops: [{ frobnicate: 0, document: {} }] },
    40415,
    "BSON field 'bulkWrite.frobnicate' is an unknown field.",
  )
  await fails({ ops: [{ insert: 0 }] }, 40414, "BSON field 'bulkWrite.ops.document' is missing but a required field")
  await fails(
    { ops: [{ update: 0, filter: {} }] },
    40414,
    "BSON field 'bulkWrite.ops.updateMods' is missing but a required field",
  )
  await fails({ nsInfo: [{ ns: 'nodot' }] }, 73, "Invalid namespace specified for bulkWrite: 'nodot'")
  await fails({ nsInfo: [{ ns: 'a.b', x: 1 }] }, 40415, "BSON field 'bulkWrite.nsInfo.x' is an unknown field.")
  await fails({ bogus: 1 }, 40415)
  t.match(await node.run({ bulkWrite: 1, ops: [{ insert: 0, document: {} }], nsInfo }), {
    code: 13,
    errmsg: 'bulkWrite may only be run against the admin database.',
  })
  t.match(await new NodeUnderTest({ version: '7.0' }).run({ bulkWrite: 1 }, admin), {
    code: 59,
    errmsg: "no such command: 'bulkWrite'",
  })
})

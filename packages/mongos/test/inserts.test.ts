import t from 'tap'
import fc from 'fast-check'
import { BsonType, fieldsOf, Long, ObjectId, UUID, type Document } from '@shardlab/bson'
import type { NodeCommand } from '@shardlab/actor'
import { statementsOf } from './support/fake-cluster.js'
import { inserted, threeShards } from './support/three-shards.js'

const lsid = { id: new UUID('00000000-0000-4000-8000-000000000001') }

t.test(
  'an insert of one document goes to one shard unchanged, and the reply has the types that drivers cast to',
  async (t) => {
    const cluster = threeShards()
    cluster.scripts.set('shard02', inserted)
    const command = { insert: 'c', ordered: true, lsid, txnNumber: Long.ONE }
    const reply = await cluster.runRaw(command, { sequences: [['documents', [{ _id: 1, x: 5 }]]] })
    t.same(
      fieldsOf(reply)
        .map(([name, value]) => [name, value.type])
        .slice(0, 2),
      [
        ['n', BsonType.int32],
        ['ok', BsonType.double],
      ],
    )
    const [sent] = cluster.commandsTo('shard02')
    t.same(sent!.body, { ...command, $db: 'test' })
    t.same(statementsOf(sent!.command, 'documents'), [{ _id: 1, x: 5 }])
    t.equal(sent!.command.stmtIds, null)
    t.match(cluster.routed(), [
      { command: 'insert', kind: 'targeted', shards: ['shard02'], chunks: 1, bounds: [['{"x":5}', '{"x":5}']] },
    ])
  },
)

t.test('documents in the body are sent unchanged except for a missing _id, which is added', async (t) => {
  const cluster = threeShards()
  cluster.script((_shard, command) => inserted(command))
  await cluster.run({ insert: 'c', documents: [{ x: -5 }] })
  const [document] = statementsOf(cluster.commandsTo('shard01')[0]!.command, 'documents')
  t.ok(document!['_id'] instanceof ObjectId)
  t.same(Object.keys(document!), ['_id', 'x'])
  await cluster.run({ insert: 'c', documents: [{ x: -5, _id: 1 }] })
  t.same(cluster.commandsTo('shard01')[1]!.body['documents'], [{ x: -5, _id: 1 }])
})

t.test('an ordered batch sends runs for the same shard together and ends with the first error', async (t) => {
  const cluster = threeShards()
  cluster.script((shard, command) => {
    const documents = statementsOf(command, 'documents')
    if (shard !== 'shard03') return inserted(command)
    return {
      n: documents.length - 1,
      writeErrors: [{ index: 1, code: 11000, keyPattern: { _id: 1 }, errmsg: 'E11000 duplicate key' }],
      ok: 1,
    }
  })
  const xs = [-1, -2, 5, 200, 300, 6]
  const reply = await cluster.run({
    insert: 'c',
    documents: xs.map((x, _id) => ({ _id, x })),
    lsid,
    txnNumber: Long.ONE,
  })
  t.match(reply, { n: 4, writeErrors: [{ index: 4, code: 11000, keyPattern: { _id: 1 } }], ok: 1 })
  t.same(
    cluster.world.sent
      .filter(({ kind }) => kind === 'node.command')
      .map(({ to, request }) => [to, (request as NodeCommand).stmtIds]),
    [
      ['shard01', [0, 1]],
      ['shard02', [2]],
      ['shard03', [3, 4]],
    ],
  )
})

t.test('an unordered batch is grouped by shard, and its errors are in the order of the client', async (t) => {
  const cluster = threeShards()
  cluster.script((shard, command) => ({
    n: statementsOf(command, 'documents').length - 1,
    writeErrors: [{ index: 0, code: 11000, errmsg: shard }],
    ok: 1,
  }))
  const reply = await cluster.run({
    insert: 'c',
    ordered: false,
    documents: [200, -1, 5, -2, 300, 6].map((x, _id) => ({ _id, x })),
  })
  t.same(
    reply['writeErrors'].map(({ index, errmsg }: Document) => [index, errmsg]),
    [
      [0, 'shard03'],
      [1, 'shard01'],
      [2, 'shard02'],
    ],
  )
  t.equal(reply['n'], 3)
  t.equal(cluster.countSent('node.command'), 3)
})

t.test('a document without the shard key is refused only after the routing is refreshed', async (t) => {
  const cluster = threeShards()
  cluster.script((_shard, command) => inserted(command))
  const reply = await cluster.run({
    insert: 'c',
    documents: [
      { _id: 1, x: 1 },
      { _id: 2, x: [1, 2] },
      { _id: 3, x: 3 },
    ],
  })
  t.match(reply, {
    n: 1,
    writeErrors: [{ index: 1, code: 61, errmsg: 'Shard key cannot contain array values or array descendants.' }],
    ok: 1,
  })
  t.equal(cluster.countSent('config.get-collection'), 2)
})

t.test('missing shard key fields are null since 4.4, an error before', async (t) => {
  const modern = threeShards()
  modern.script((_shard, command) => inserted(command))
  t.match(await modern.run({ insert: 'c', documents: [{ _id: 1 }] }), { n: 1 })
  t.equal(modern.commandsTo('shard01').length, 1)
  const old = threeShards({ emulate: '4.0' })
  t.match(await old.run({ insert: 'c', documents: [{ _id: 1 }] }), {
    n: 0,
    writeErrors: [{ code: 61, errmsg: 'document { _id: 1 } does not contain shard key for pattern { x: 1 }' }],
  })
  t.match(await old.run({ insert: 'c', documents: [{ _id: 1, x: 'y'.repeat(600) }] }), {
    n: 0,
    writeErrors: [{ code: 13334 }],
  })
  const upsert = { q: { x: 'y'.repeat(600) }, u: { $set: { y: 1 } }, upsert: true }
  t.match(await old.run({ update: 'c', updates: [upsert] }), { n: 0, writeErrors: [{ code: 13334 }] })
})

t.test('an insert creates a missing database', async (t) => {
  const cluster = threeShards()
  cluster.scripts.set('shard01', inserted)
  t.match(await cluster.run({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }], $db: 'fresh' }), { n: 2, ok: 1 })
  t.equal(cluster.countSent('config.create-database'), 1)
  t.equal(cluster.commandsTo('shard01')[0]!.command.shardVersion, 'UNSHARDED')
})

t.test('batches to a shard stay within the size limit', async (t) => {
  const cluster = threeShards({ limits: { shardBatchBytesMax: 1000 } })
  cluster.script((_shard, command) => inserted(command))
  const documents = Array.from({ length: 10 }, (_, _id) => ({
    _id,
    x: _id % 2 === 0 ? 1 : 200,
    filler: 'x'.repeat(300),
  }))
  t.match(await cluster.run({ insert: 'c', ordered: false, documents }), { n: 10, ok: 1 })
  for (const { to, request } of cluster.world.sent.filter(({ kind }) => kind === 'node.command')) {
    t.ok(statementsOf(request, 'documents').length <= 2, to)
  }
})

t.test('wrong counts of a shard are a broken invariant, reported to the client', async (t) => {
  const cluster = threeShards()
  cluster.script(() => ({ n: 5, ok: 1 }))
  t.match(await cluster.run({ insert: 'c', documents: [{ _id: 1, x: 1 }] }), {
    ok: 0,
    code: 1,
    errmsg: /reports 5 inserted documents/,
  })
})

t.test('errors have the positions of the client for every grouping (property)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ x: fc.integer({ min: -200, max: 300 }), fails: fc.boolean() }), {
        minLength: 1,
        maxLength: 12,
      }),
      fc.boolean(),
      async (rows, ordered) => {
        const cluster = threeShards()
        cluster.script((_shard, command) => {
          const documents = statementsOf(command, 'documents')
          const errors: Document[] = []
          let n = 0
          for (const [index, document] of documents.entries()) {
            if (document['fails'] === true) errors.push({ index, code: 11000, errmsg: String(document['_id']) })
            else n++
            if (errors.length > 0 && ordered) break
          }
          return { n, ...(errors.length > 0 ? { writeErrors: errors } : {}), ok: 1 }
        })
        const reply = await cluster.run({ insert: 'c', ordered, documents: rows.map((row, _id) => ({ _id, ...row })) })
        const failing = rows.flatMap((row, index) => (row.fails ? [index] : []))
        const expected = ordered ? failing.slice(0, 1) : failing
        const actual = (reply['writeErrors'] ?? []).map(({ index, errmsg }: Document) => [index, errmsg])
        const n = ordered && failing.length > 0 ? failing[0]! : rows.length - failing.length
        return (
          JSON.stringify(actual) === JSON.stringify(expected.map((index) => [index, String(index)])) && reply['n'] === n
        )
      },
    ),
    { numRuns: 100 },
  )
})

import { Binary, Timestamp, type Document } from '@shardlab/bson'
import t from 'tap'
import { long, NodeUnderTest, session } from './support/harness.js'

const insert = (writeConcern: Document) => ({ insert: 'c', documents: [{}], writeConcern })

t.test('a set of one member satisfies these write concerns', async (t) => {
  const node = new NodeUnderTest()
  for (const writeConcern of [
    {},
    { w: 1 },
    { w: 0 },
    { w: 'majority', wtimeout: 100 },
    { w: 1, j: true },
    { fsync: true },
    { w: long(1) },
  ])
    t.same(await node.run(insert(writeConcern)), { n: 1, ok: 1 }, JSON.stringify(writeConcern))
})

t.test('a write with an unsatisfiable write concern is done', async (t) => {
  const node = new NodeUnderTest()
  t.same(await node.run(insert({ w: 2, wtimeout: 5 })), {
    n: 1,
    writeConcernError: {
      code: 100,
      codeName: 'UnsatisfiableWriteConcern',
      errmsg: 'Not enough data-bearing nodes',
      errInfo: { writeConcern: { w: 2, wtimeout: 5, provenance: 'clientSupplied' } },
    },
    ok: 1,
  })
  t.match(await node.run(insert({ w: 'eastern' })), {
    n: 1,
    writeConcernError: { code: 79, errmsg: "No write concern mode named 'eastern' found in replica set configuration" },
  })
  t.match(await node.run(insert({ w: { dc: 1 } })), {
    n: 1,
    writeConcernError: { code: 4, errmsg: 'No replica set tag key dc in config' },
  })
  t.match(await node.run({ findAndModify: 'c', update: { a: 1 }, writeConcern: { w: 3 } }), {
    writeConcernError: { code: 100 },
  })
  t.equal((await node.all('c')).length, 3)
})

t.test('malformed write concerns are refused', async (t) => {
  const node = new NodeUnderTest()
  const fails = async (writeConcern: Document, code: number) =>
    t.match(await node.run(insert(writeConcern)), { ok: 0, code }, JSON.stringify(writeConcern))
  await fails({ w: 51 }, 9)
  await fails({ w: -1 }, 9)
  await fails({ w: true }, 9)
  await fails({ w: {} }, 9)
  await fails({ w: 1, colour: 1 }, 40415)
  await fails({ j: 'x' }, 14)
  await fails({ j: true, fsync: true }, 9)
  await fails({ wtimeout: 'x' }, 9)
  t.match(await node.run({ find: 'c', writeConcern: { w: 1 } }), {
    code: 72,
    errmsg: 'Command does not support writeConcern',
  })
  t.match(await node.run(insert({ colour: 1 })), {
    errmsg: "BSON field 'WriteConcernOptions.colour' is an unknown field.",
  })
  t.same(await node.all('c'), [])
})

t.test('malformed write concerns before 5.0 are refused', async (t) => {
  const node = new NodeUnderTest({ version: '4.4' })
  const fails = async (writeConcern: Document, errmsg: string) =>
    t.match(await node.run(insert(writeConcern)), { ok: 0, code: 9, errmsg }, JSON.stringify(writeConcern))
  await fails({ w: 1, colour: 1 }, 'unrecognized write concern field: colour')
  await fails({ j: 'x' }, 'j must be numeric or a boolean value')
  await fails({ fsync: 'x' }, 'fsync must be numeric or a boolean value')
  await fails({ w: { east: 1 } }, 'w has to be a number or a string')
  t.match(await node.run(insert({ w: 1, wtimeout: 'x' })), { ok: 1 })
})

t.test('read concerns are checked', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  for (const level of ['local', 'available', 'majority', 'linearizable'])
    t.match(await node.run({ find: 'c', readConcern: { level } }), { ok: 1 }, level)
  t.match(await node.run({ find: 'c', readConcern: { level: 'best' } }), { code: 9 })
  const out = { aggregate: 'c', pipeline: [{ $out: 'd' }], cursor: {} }
  t.match(await node.run({ ...out, readConcern: { level: 'linearizable' } }), {
    code: 72,
    errmsg: /\$out cannot be used with a 'linearizable' read concern level$/,
  })
  t.match(await node.run({ find: 'c', readConcern: { level: 'local', colour: 1 } }), {
    code: 72,
    errmsg: 'Unrecognized option in readConcern: colour',
  })
  t.match(await node.run({ insert: 'c', documents: [{}], readConcern: { level: 'majority' } }), {
    code: 72,
    errmsg:
      'Command insert does not support { readConcern: { level: "majority", provenance: "clientSupplied" } } :: caused by :: read concern not supported',
  })
  t.match(
    await node.run({ find: 'c', readConcern: { level: 'available', afterClusterTime: new Timestamp({ t: 1, i: 1 }) } }),
    { code: 72 },
  )
  t.match(await node.run({ find: 'c', readConcern: { atClusterTime: new Timestamp({ t: 1, i: 1 }) } }), { code: 72 })
  t.match(await node.run({ find: 'c', readConcern: { afterClusterTime: new Timestamp({ t: 0, i: 0 }) } }), { code: 72 })
})

t.test('an afterClusterTime beyond the cluster time is refused', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const { time } = node.node.clock
  const at = (seconds: number, increment: number) => ({
    find: 'c',
    readConcern: { afterClusterTime: new Timestamp({ t: seconds, i: increment }) },
  })
  t.match(await node.run(at(time[0], time[1])), { ok: 1 })
  const reply = await node.run(at(time[0], time[1] + 9))
  t.match(reply, { code: 72 })
  t.match(
    reply['errmsg'],
    `Requested clusterTime: { ts: Timestamp(${time[0]}, ${time[1] + 9}) }; current clusterTime: { ts: Timestamp(`,
  )
})

t.test('D502 read preferences are checked, and all select the one member', async (t) => {
  const node = new NodeUnderTest()
  const fails = async ($readPreference: Document, code: number) =>
    t.match(await node.run({ find: 'c', $readPreference }), { ok: 0, code }, JSON.stringify($readPreference))
  await fails({ mode: 'furthest' }, 2)
  await fails({}, 4)
  await fails({ mode: 'primary', tags: [{ a: 'b' }] }, 2)
  await fails({ mode: 'primary', maxStalenessSeconds: 100 }, 2)
  await fails({ mode: 'nearest', maxStalenessSeconds: 10 }, 160)
  for (const mode of ['primary', 'primaryPreferred', 'secondary', 'secondaryPreferred', 'nearest'])
    t.match(await node.run({ find: 'c', $readPreference: { mode } }), { ok: 1 })
  t.match(
    await node.run({
      find: 'c',
      $readPreference: { mode: 'nearest', tags: [{ a: 'b' }, {}], maxStalenessSeconds: 90 },
    }),
    { ok: 1 },
  )
})

t.test('invalid combinations of session and transaction fields are refused', async (t) => {
  const node = new NodeUnderTest()
  const code = async (options: Document) => (await node.run({ insert: 'c', documents: [{}], ...options }))['code']
  const lsid = session(1)
  t.equal(await code({ txnNumber: long(1) }), 72)
  t.equal(await code({ lsid, autocommit: false }), 72)
  t.equal(await code({ lsid, startTransaction: true }), 72)
  t.equal(await code({ lsid, txnNumber: long(1), autocommit: true }), 72)
  t.equal(await code({ lsid, txnNumber: long(1), autocommit: false, startTransaction: false }), 72)
  t.equal(await code({ lsid, txnNumber: long(1), autocommit: false }), 251)
  t.same(await node.all('c'), [])
})

t.test('session ids are checked', async (t) => {
  const node = new NodeUnderTest()
  const code = async (lsid: Document) => (await node.run({ insert: 'c', documents: [{}], lsid }))['code']
  t.equal(await code({}), 40414)
  t.equal(await code({ id: 'x' }), 14)
  t.equal(await code({ id: new Binary(Buffer.alloc(3), 4) }), 207)
  t.equal(await code({ ...session(1), colour: 1 }), 40415)
  t.equal(await code({ ...session(1), uid: 5 }), 14)
  t.equal(await code({ ...session(1), txnNumber: long(1) }), 72)
  const insert = (lsid: Document) => node.ok({ insert: 'c', documents: [{}], lsid, txnNumber: long(1) })
  t.equal((await insert({ ...session(1), uid: new Binary(Buffer.alloc(32, 1)) }))['n'], 1)
  t.notOk(
    'retriedStmtIds' in (await insert({ ...session(1), uid: new Binary(Buffer.alloc(32, 2)) })),
    "another user's session is another one",
  )
})

t.test('a snapshot read returns the documents of its cluster time', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1, x: 11 }] })
  const read = async (readConcern: Document) =>
    (await node.ok({ find: 'c', readConcern: { level: 'snapshot', ...readConcern } }))['cursor'] as Document
  const first = await read({})
  t.same(first['firstBatch'], [{ _id: 1, x: 11 }])
  const atClusterTime = first['atClusterTime'] as Timestamp
  await node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $inc: { x: 1 } } }] })
  const second = await read({})
  await node.ok({ delete: 'c', deletes: [{ q: {}, limit: 0 }] })
  await node.ok({ drop: 'c' })
  t.same((await read({ atClusterTime }))['firstBatch'], [{ _id: 1, x: 11 }])
  t.same((await read({ atClusterTime: second['atClusterTime'] }))['firstBatch'], [{ _id: 1, x: 12 }])
  t.same(await read({ atClusterTime }).then((cursor) => cursor['atClusterTime']), atClusterTime)
  const aggregate = { aggregate: 'c', pipeline: [{ $group: { _id: null, x: { $sum: '$x' } } }], cursor: {} }
  t.match(await node.ok({ ...aggregate, readConcern: { level: 'snapshot', atClusterTime } }), {
    cursor: { firstBatch: [{ x: 11 }] },
  })
  const distinct = await node.ok({ distinct: 'c', key: 'x', readConcern: { level: 'snapshot', atClusterTime } })
  t.same([distinct['values'], distinct['atClusterTime']], [[11], atClusterTime])
})

t.test('documents from a snapshot are written at the current time', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({
    insert: 'c',
    documents: [
      { _id: 1, x: 11 },
      { _id: 2, x: 11 },
    ],
  })
  const { cursor } = (await node.ok({ find: 'c', readConcern: { level: 'snapshot' } })) as { cursor: Document }
  const readConcern = { level: 'snapshot', atClusterTime: cursor['atClusterTime'] }
  await node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $inc: { x: 1 } } }] })
  await node.ok({ insert: 'later', documents: [{ _id: 11, seen: true }] })
  const write = (stage: Document) =>
    node.ok({ aggregate: 'c', pipeline: [{ $project: { _id: '$x' } }, stage], cursor: {}, readConcern })
  await write({ $merge: { into: 'later' } })
  t.same(await node.all('later'), [{ _id: 11, seen: true }], 'two documents of the snapshot and a live one are merged')
  await node.ok({ aggregate: 'c', pipeline: [{ $out: 'copy' }], cursor: {}, readConcern })
  t.same(await node.all('copy'), [
    { _id: 1, x: 11 },
    { _id: 2, x: 11 },
  ])
})

t.test('snapshots are for reads, since 5.0', async (t) => {
  const node = new NodeUnderTest()
  const readConcern = { level: 'snapshot' }
  for (const command of [
    { insert: 'c', documents: [{}] },
    { update: 'c', updates: [{ q: {}, u: {} }] },
    { delete: 'c', deletes: [{ q: {}, limit: 1 }] },
    { findAndModify: 'c', remove: true },
    { listCollections: 1 },
    { listIndexes: 'c' },
    { count: 'c' },
  ])
    t.match(await node.run({ ...command, readConcern }), { ok: 0, code: 72 }, JSON.stringify(command))
  t.match(await new NodeUnderTest({ version: '4.4' }).run({ find: 'c', readConcern }), { code: 72 })
})

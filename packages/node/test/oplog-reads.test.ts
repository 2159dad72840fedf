import { decode, encode, Long, Timestamp, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { long, NodeUnderTest, session } from './support/harness.js'

const local = { db: 'local' }

async function entriesOf(node: NodeUnderTest, command: Document = {}): Promise<Document[]> {
  const reply = await node.ok({ find: 'oplog.rs', batchSize: 1000, ...command }, local)
  return (reply['cursor'] as { firstBatch: Document[] }).firstBatch
}

/** Two no-ops, create, insert, retryable insert, update, delete. */
async function written(version: EmulatedVersion = '7.0'): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ version })
  await node.ok({ insert: 'c', documents: [{ _id: 1, a: { b: 1, c: 2 }, x: 1 }] })
  await node.ok({ insert: 'c', documents: [{ _id: 2 }, { _id: 3 }], lsid: session(1), txnNumber: long(1) })
  await node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { 'a.b': 5, n: 1 }, $unset: { x: 1 } } }] })
  await node.ok({ delete: 'c', deletes: [{ q: { _id: 2 }, limit: 1 }] })
  return node
}

const keys = (document: Document): string => Object.keys(document).join(' ')

t.test('entries have the fields, types and order of the version', async (t) => {
  const session = 'lsid txnNumber'
  const expected: Record<string, readonly string[]> = {
    '2.6': ['ts h v op ns o', 'ts h v op ns o', 'ts h v op ns o', 'ts h v op ns o2 o', 'ts h v op ns b o'],
    '4.0': [
      'ts t h v op ns ui wall o',
      `ts t h v op ns ui wall ${session} stmtId prevOpTime o`,
      'ts t h v op ns wall o',
      'ts t h v op ns ui o2 wall o',
      'ts t h v op ns ui wall o',
    ],
    '4.4': [
      'op ns ui o ts t wall v',
      `${session} op ns ui o ts t wall v stmtId prevOpTime`,
      'op ns o ts t wall v',
      'op ns ui o o2 ts t wall v',
      'op ns ui o ts t wall v',
    ],
    '5.0': [
      'op ns ui o ts t v wall',
      `${session} op ns ui o ts t v wall stmtId prevOpTime`,
      'op ns o ts t v wall',
      'op ns ui o o2 ts t v wall',
      'op ns ui o ts t v wall',
    ],
    '6.0': [
      'op ns ui o o2 ts t v wall',
      `${session} op ns ui o o2 stmtId ts t v wall prevOpTime`,
      'op ns o ts t v wall',
      'op ns ui o o2 ts t v wall',
      'op ns ui o ts t v wall',
    ],
  }
  for (const [version, [insert, retryable, noop, update, deletion]] of Object.entries(expected)) {
    const all = await entriesOf(await written(version as EmulatedVersion))
    t.equal(all.length, 8, version)
    t.equal(keys(all[1]!), noop, `${version} new primary`)
    t.equal(keys(all[0]!), noop!.replace(' t ', ' ').replace('ts t', 'ts'), `${version} initiating set`)
    t.equal(keys(all[3]!), insert, `${version} insert`)
    t.equal(keys(all[5]!), retryable, `${version} retryable insert`)
    t.equal(keys(all[6]!), update, `${version} update`)
    t.equal(keys(all[7]!), deletion, `${version} delete`)
    const hasModifiers = ['2.6', '4.0', '4.4'].includes(version)
    t.same(
      all[6]!['o'],
      hasModifiers
        ? { ...(version === '2.6' ? {} : { $v: 1 }), $set: { 'a.b': 5, n: 1 }, $unset: { x: true } }
        : { $v: 2, diff: { d: { x: false }, i: { n: 1 }, sa: { u: { b: 5 } } } },
    )
    const v = all[0]!['v']
    t.same(v, version === '2.6' || version === '4.0' ? 2 : long(2))
  }
})

t.test('retryable writes link to the write before', async (t) => {
  const [, , , , first, second] = await entriesOf(await written())
  t.match(first, { op: 'i', o: { _id: 2 }, o2: { _id: 2 }, stmtId: 0, txnNumber: long(1) })
  t.same(first!['prevOpTime'], { ts: new Timestamp({ t: 0, i: 0 }), t: long(-1) })
  t.same(second!['prevOpTime'], { ts: first!['ts'], t: first!['t'] })
  t.same(first!['t'], long(1))
})

t.test('an oplog begins with the entries of a new set, and a step-up begins a term', async (t) => {
  const node = new NodeUnderTest()
  await node.stepDown()
  await node.stepUp()
  await node.node.flush()
  const all = await entriesOf(node)
  t.same(
    all.map(({ op, ns, o, t: term }) => [op, ns, (o as Document)['msg'], term]),
    [
      ['n', '', 'initiating set', undefined],
      ['n', '', 'new primary', long(1)],
      ['n', '', 'new primary', long(2)],
    ],
  )
})

t.test('clients find, count and aggregate entries', async (t) => {
  const node = await written()
  const forward = await entriesOf(node)
  t.same(await entriesOf(node, { sort: { $natural: -1 } }), [...forward].reverse())
  t.same(await entriesOf(node, { filter: { op: 'd' }, projection: { _id: 0, o: 1 } }), [{ o: { _id: 2 } }])
  t.match(await node.ok({ count: 'oplog.rs', query: { op: 'i' } }, local), { n: 3 })
  t.match(await node.ok({ count: 'oplog.rs' }, local), { n: 8 })
  const pipeline = [{ $match: { ns: 'test.c' } }, { $group: { _id: '$op', n: { $sum: 1 } } }, { $sort: { _id: 1 } }]
  t.match(await node.ok({ aggregate: 'oplog.rs', pipeline, cursor: {} }, local), {
    cursor: {
      firstBatch: [
        { _id: 'd', n: 1 },
        { _id: 'i', n: 3 },
        { _id: 'u', n: 1 },
      ],
    },
  })
  t.match(await node.ok({ distinct: 'oplog.rs', key: 'op' }, local), { values: ['n', 'c', 'i', 'u', 'd'].sort() })
})

t.test('a condition on ts is a position: earlier entries are not examined', async (t) => {
  const node = await written()
  const all = await entriesOf(node)
  const examined = async (filter: Document, sort: Document = {}): Promise<[number, number]> => {
    const explain = { find: 'oplog.rs', filter, ...sort }
    const { executionStats } = await node.ok({ explain, verbosity: 'executionStats' }, local)
    const { nReturned, totalDocsExamined } = executionStats as { nReturned: number; totalDocsExamined: number }
    return [nReturned, totalDocsExamined]
  }
  const ts = all[5]!['ts'] as Timestamp
  t.same(await examined({ ts: { $gte: ts } }), [3, 3])
  t.same(await examined({ ts: { $gt: ts } }), [2, 3])
  t.same(await examined({ ts }), [1, 1])
  t.same(await examined({ ts: { $lt: ts } }, { sort: { $natural: -1 } }), [5, 6])
  t.same(await examined({ ts: { $gte: ts, $lte: all[6]!['ts'] as Timestamp }, op: 'u' }), [1, 2])
  t.same(await examined({ ts: { $gt: new Timestamp({ t: 2_000_000_000, i: 1 }) } }), [0, 0])
  t.same(await examined({ ts: { $gte: new Timestamp({ t: 1, i: 1 }) } }), [8, 8])
  t.same(await examined({ $or: [{ ts: { $gte: ts } }, { op: 'n' }] }), [5, 8])
})

t.test('a tailable cursor waits for the next entry on the disk', async (t) => {
  const node = await written()
  const [last] = await entriesOf(node, { sort: { $natural: -1 }, limit: 1 })
  const filter = { ts: { $gte: last!['ts'] } }
  const opened = await node.ok({ find: 'oplog.rs', filter, tailable: true, awaitData: true }, local)
  const { id, firstBatch } = opened['cursor'] as { id: Long; firstBatch: Document[] }
  t.match(firstBatch, [{ op: 'd' }])
  const more = node.ok({ getMore: id, collection: 'oplog.rs', maxTimeMS: 10_000 }, local)
  await node.ok({ insert: 'c', documents: [{ _id: 9 }] })
  t.match(((await more)['cursor'] as Document)['nextBatch'], [{ op: 'i', o: { _id: 9 } }])
})

t.test('a tailable cursor whose position was dropped fails', async (t) => {
  const node = new NodeUnderTest({ oplogSizeBytes: 1000 })
  await node.ok({ insert: 'c', documents: [{ _id: -1 }] })
  const opened = await node.ok({ find: 'oplog.rs', tailable: true, awaitData: true }, local)
  const { id } = opened['cursor'] as { id: Long }
  for (let i = 0; i < 30; i++) await node.ok({ insert: 'c', documents: [{ _id: i }] })
  t.match(await node.run({ getMore: id, collection: 'oplog.rs' }, local), { code: 136 })
})

t.test('a cursor on many entries reads those of its start, in batches', async (t) => {
  const node = await written()
  const opened = await node.ok({ find: 'oplog.rs', batchSize: 5 }, local)
  await node.ok({ insert: 'c', documents: [{ _id: 9 }] })
  const { id, firstBatch } = opened['cursor'] as { id: Long; firstBatch: Document[] }
  const rest = await node.ok({ getMore: id, collection: 'oplog.rs' }, local)
  t.equal(firstBatch.length + ((rest['cursor'] as Document)['nextBatch'] as Document[]).length, 8)
})

t.test('mongosh finds what rs.printReplicationInfo prints', async (t) => {
  const node = await written()
  t.match(await node.ok({ collStats: 'oplog.rs' }, local), {
    ns: 'local.oplog.rs',
    count: 8,
    capped: true,
    maxSize: 4 * 1024 * 1024,
    nindexes: 0,
  })
  const stats = { aggregate: 'oplog.rs', pipeline: [{ $collStats: { storageStats: {}, count: {} } }], cursor: {} }
  t.match(await node.ok(stats, local), {
    cursor: { firstBatch: [{ count: 8, storageStats: { capped: true, maxSize: 4 * 1024 * 1024 } }] },
  })
  t.match(await node.ok({ dbStats: 1 }, local), { collections: long(1), objects: long(8), indexes: long(0) })
  t.match(await node.ok({ listIndexes: 'oplog.rs' }, local), { cursor: { firstBatch: [] } })
  t.match(await node.ok({ listCollections: 1 }, local), {
    cursor: { firstBatch: [{ name: 'oplog.rs', type: 'collection', options: { capped: true, autoIndexId: false } }] },
  })
  const { databases } = await node.run({ listDatabases: 1 }, { db: 'admin' })
  t.notOk(
    (databases as Document[]).some(({ name }) => name === 'local'),
    'a router does not list it',
  )
})

t.test('a client of the member itself lists the database local', async (t) => {
  const { node } = await written()
  const body = encode({ listDatabases: 1, $db: 'admin' })
  const command = { connectionId: 7, body, sequences: [], legacy: false, remote: '10.0.0.1:5000' }
  const { databases } = decode((await node.clientCommand(command)).body)
  const sizeOnDisk = Long.fromNumber(node.oplog.window().sizeBytes)
  t.same((databases as Document[])[0], { name: 'local', sizeOnDisk, empty: false })
})

t.test('clients cannot change the oplog', async (t) => {
  for (const [version, dropCode] of [
    ['7.0', 5255000],
    ['4.4', undefined],
  ] as const) {
    const node = await written(version)
    const write = { code: 73, errmsg: 'cannot write to local.oplog.rs' }
    t.match(await node.run({ insert: 'oplog.rs', documents: [{ _id: 1 }] }, local), write)
    t.match(await node.run({ update: 'oplog.rs', updates: [{ q: {}, u: { $set: { a: 1 } } }] }, local), write)
    t.match(await node.run({ delete: 'oplog.rs', deletes: [{ q: {}, limit: 0 }] }, local), write)
    t.match(await node.run({ findAndModify: 'oplog.rs', query: {}, remove: true }, local), write)
    t.match(await node.run({ createIndexes: 'oplog.rs', indexes: [{ key: { a: 1 }, name: 'a_1' }] }, local), write)
    const dropped = await node.run({ drop: 'oplog.rs' }, local)
    t.equal(dropped['errmsg'], "can't drop live oplog while replicating")
    t.equal(dropped['code'], dropCode)
    t.match(await node.run({ create: 'oplog.rs' }, local), { code: 48 })
    t.match(await node.run({ dropDatabase: 1 }, local), { code: 20 })
    t.match(await node.run({ renameCollection: 'local.oplog.rs', to: 'local.o' }, { db: 'admin' }), { code: 20 })
    t.match(await node.run({ renameCollection: 'test.c', to: 'local.oplog.rs' }, { db: 'admin' }), { code: 20 })
    t.equal((await entriesOf(node)).length, 8)
  }
})

t.test('D723 what is different in oplog entries', async (t) => {
  const node = new NodeUnderTest({ version: '4.4' })
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const findAndModify = { findAndModify: 'c', query: { _id: 1 }, update: { $set: { b: 1 } } }
  await node.ok({ ...findAndModify, lsid: session(1), txnNumber: long(1) })
  await node.ok({ drop: 'c' })
  const [changed, dropped] = (await entriesOf(node)).slice(-2)
  t.notOk('preImageOpTime' in changed!, 'images for retries are not entries')
  t.notOk('o2' in dropped!, 'numbers of dropped documents')
  const newer = new NodeUnderTest({ version: '8.0' })
  await newer.ok({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }] })
  t.match((await entriesOf(newer)).slice(-2), [{ op: 'i' }, { op: 'i' }], 'inserts of one command in 8.0')
})

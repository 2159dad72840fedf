import { type Document } from '@shardlab/bson'
import t from 'tap'
import type { NodeRole } from '../src/index.js'
import { long, NodeUnderTest, plainRole, session } from './support/harness.js'

const mongod: NodeRole = { ...plainRole, name: 'mongod' }
const newNode = (version: ConstructorParameters<typeof NodeUnderTest>[0] = {}) =>
  new NodeUnderTest({ role: mongod, ...version })

interface Txn {
  (command: Document, options?: { starts?: boolean }): Promise<Document>
  commit(): Promise<Document>
  abort(): Promise<Document>
}

/** Commands of one transaction; the first one starts it. */
function transaction(node: NodeUnderTest, byte: number, number = 1): Txn {
  const common = { lsid: session(byte), txnNumber: long(number), autocommit: false }
  let isNew = true
  const run = async (command: Document, { starts = isNew }: { starts?: boolean } = {}) => {
    isNew = false
    return node.run({ ...command, ...common, ...(starts ? { startTransaction: true } : {}) })
  }
  const end = (name: string) => node.run({ [name]: 1, ...common }, { db: 'admin' })
  return Object.assign(run, { commit: () => end('commitTransaction'), abort: () => end('abortTransaction') })
}

const first = (reply: Document) => (reply['cursor'] as { firstBatch: Document[] }).firstBatch

t.test('a transaction reads its snapshot and its own writes, and commits them together', async (t) => {
  const node = newNode()
  await node.ok({
    insert: 'c',
    documents: [
      { _id: 1, a: 1 },
      { _id: 2, a: 1 },
    ],
  })
  const txn = transaction(node, 1)
  t.match(await txn({ update: 'c', updates: [{ q: { _id: 1 }, u: { $inc: { a: 1 } } }] }), { ok: 1, nModified: 1 })
  await node.ok({ insert: 'c', documents: [{ _id: 3, a: 1 }] })
  t.match(await txn({ insert: 'c', documents: [{ _id: 4, a: 9 }] }), { ok: 1, n: 1 })
  t.same(first(await txn({ find: 'c', sort: { _id: 1 } })), [
    { _id: 1, a: 2 },
    { _id: 2, a: 1 },
    { _id: 4, a: 9 },
  ])
  t.same(await node.all('c'), [
    { _id: 1, a: 1 },
    { _id: 2, a: 1 },
    { _id: 3, a: 1 },
  ])
  t.match(await txn.commit(), { ok: 1 })
  const committed = [
    { _id: 1, a: 2 },
    { _id: 2, a: 1 },
    { _id: 3, a: 1 },
    { _id: 4, a: 9 },
  ]
  t.same(await node.all('c'), committed)
  t.match(await txn.commit(), { ok: 1 }, 'a repeated commit succeeds')
  t.match(await txn({ find: 'c' }), { code: 256 })
  t.match(await txn.abort(), { code: 256 })
  const again = node.restarted()
  t.same(await again.all('c'), committed, 'recovery replays the transaction')
  t.match(await transaction(again, 1).commit(), { ok: 1 }, 'and knows that it has committed')
})

t.test('an aborted transaction leaves nothing', async (t) => {
  const node = newNode()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const txn = transaction(node, 1)
  await txn({ insert: 'c', documents: [{ _id: 2 }] })
  t.match(await txn.abort(), { ok: 1 })
  t.same(await node.all('c'), [{ _id: 1 }])
  t.match(await txn({ find: 'c' }), { code: 251, errmsg: 'Transaction with { txnNumber: 1 } has been aborted.' })
  t.match(await txn.commit(), { code: 251, errorLabels: undefined })
})

t.test('the second writer of a document fails with WriteConflict', async (t) => {
  const node = newNode()
  await node.ok({ insert: 'c', documents: [{ _id: 1, a: 0 }] })
  const [one, two] = [transaction(node, 1), transaction(node, 2)]
  await one({ find: 'c' })
  await two({ find: 'c' })
  t.match(await one({ update: 'c', updates: [{ q: { _id: 1 }, u: { $inc: { a: 1 } } }] }), { nModified: 1 })
  t.match(await two({ update: 'c', updates: [{ q: { _id: 1 }, u: { $inc: { a: 1 } } }] }), { ok: 0, code: 112 })
  t.match(await two.commit(), { code: 251 })
  t.match(await one.commit(), { ok: 1 })
  const three = transaction(node, 3)
  await three({ find: 'c' })
  await node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $inc: { a: 1 } } }] })
  t.match(await three({ delete: 'c', deletes: [{ q: { _id: 1 }, limit: 1 }] }), { ok: 0, code: 112 }, 'changed since')
  t.same(await node.all('c'), [{ _id: 1, a: 2 }])
})

t.test('a writer outside waits for the transaction', async (t) => {
  const node = newNode()
  await node.ok({
    insert: 'c',
    documents: [
      { _id: 1, a: 0 },
      { _id: 2, a: 0 },
    ],
  })
  const txn = transaction(node, 1)
  await txn({ update: 'c', updates: [{ q: { _id: 2 }, u: { $inc: { a: 1 } } }] })
  await txn({ insert: 'c', documents: [{ _id: 3, a: 0 }] })
  const inc = { $inc: { a: 10 } }
  const waiting = [
    node.run({ update: 'c', updates: [{ q: {}, u: inc, multi: true }] }),
    node.run({ insert: 'c', documents: [{ _id: 3, a: 7 }] }),
    node.run({ findAndModify: 'c', query: { _id: 2 }, update: inc, new: true }),
  ]
  let isDone = false
  void Promise.all(waiting).then(() => (isDone = true))
  await node.ok({ ping: 1 })
  t.notOk(isDone)
  await txn.commit()
  const [many, insert, modify] = await Promise.all(waiting)
  t.match(many, { ok: 1, n: 2, nModified: 2 })
  t.match(insert, { writeErrors: [{ code: 11000 }] })
  t.match(modify, { ok: 1, value: { _id: 2 } })
  t.same(await node.all('c'), [
    { _id: 1, a: 10 },
    { _id: 2, a: 21 },
    { _id: 3, a: 0 },
  ])
})

t.test('unique keys conflict, too', async (t) => {
  const node = newNode()
  await node.ok({ createIndexes: 'c', indexes: [{ key: { u: 1 }, name: 'u', unique: true }] })
  await node.ok({ insert: 'c', documents: [{ _id: 1, u: 1 }] })
  const [one, two] = [transaction(node, 1), transaction(node, 2)]
  t.match(await one({ insert: 'c', documents: [{ _id: 2, u: 2 }] }), { n: 1 })
  t.match(await two({ insert: 'c', documents: [{ _id: 3, u: 2 }] }), { ok: 0, code: 112 })
  t.match(await one({ insert: 'c', documents: [{ _id: 4, u: 1 }] }), { ok: 1, writeErrors: [{ code: 11000 }] })
  t.match(await one.commit(), { code: 251 }, 'every error aborts')
})

t.test('a unique key moves from one document to another in a transaction', async (t) => {
  const node = newNode()
  await node.ok({ createIndexes: 'c', indexes: [{ key: { k: 1 }, name: 'k_1', unique: true }] })
  await node.ok({ insert: 'c', documents: [{ _id: 1, k: 1 }] })
  const txn = transaction(node, 1)
  t.match(await txn({ delete: 'c', deletes: [{ q: { _id: 1 }, limit: 1 }] }), { ok: 1, n: 1 })
  t.match(await txn({ insert: 'c', documents: [{ _id: 2, k: 1 }] }), { ok: 1, n: 1 })
  t.match(await txn.commit(), { ok: 1 })
  t.same(await node.all('c'), [{ _id: 2, k: 1 }])
})

t.test('a document that the transaction has written takes no key that was taken since the snapshot', async (t) => {
  const node = newNode()
  await node.ok({ createIndexes: 'c', indexes: [{ key: { k: 1 }, name: 'k_1', unique: true }] })
  await node.ok({ insert: 'c', documents: [{ _id: 1, k: 1 }] })
  const txn = transaction(node, 1)
  t.match(await txn({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { a: 1 } } }] }), { ok: 1, n: 1 })
  await node.ok({ insert: 'c', documents: [{ _id: 2, k: 2 }] })
  t.match(await txn({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { k: 2 } } }] }), { ok: 0, code: 112 })
  t.match(await txn.commit(), { ok: 0, code: 251 })
  t.same(await node.all('c'), [
    { _id: 1, k: 1 },
    { _id: 2, k: 2 },
  ])
})

t.test('numbers of transactions', async (t) => {
  const node = newNode()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  t.match(await transaction(node, 1, 5)({ find: 'c' }, { starts: false }), { code: 251 })
  const five = transaction(node, 1, 5)
  await five({ insert: 'c', documents: [{ _id: 5 }] })
  t.match(await five({ find: 'c' }, { starts: true }), { code: 117 })
  t.match(await transaction(node, 1, 4)({ find: 'c' }), { code: 225 })
  t.match(await transaction(node, 1, 6)({ find: 'c' }), { ok: 1 }, 'a higher number aborts')
  t.match(await five.commit(), { code: 225 })
  t.same(await node.all('c'), [{ _id: 1 }])
  const write = { insert: 'c', documents: [{ _id: 7 }], lsid: session(1) }
  t.match(await node.run({ ...write, txnNumber: long(6) }), { code: 217 })
  t.match(await node.run({ ...write, txnNumber: long(7) }), { ok: 1 })
  t.match(await transaction(node, 1, 7)({ find: 'c' }), { code: 117 })
})

t.test('refused commands and concerns', async (t) => {
  const node = newNode()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  let number = 0
  const refused = async (command: Document, code: number, more: Document = {}, db = 'test') => {
    const reply = await node.run(
      { ...command, lsid: session(1), txnNumber: long(++number), autocommit: false, startTransaction: true, ...more },
      { db },
    )
    t.match(reply, { ok: 0, code }, Object.keys(command).join())
  }
  await refused({ count: 'c' }, 263)
  await refused({ drop: 'c' }, 263)
  await refused({ find: 'c' }, 263, {}, 'local')
  await refused({ commitTransaction: 1 }, 263, {}, 'admin')
  await refused({ find: 'c', readConcern: { level: 'available' } }, 72)
  await refused({ insert: 'c', documents: [{}], writeConcern: { w: 1 } }, 72)
  await refused({ aggregate: 'c', pipeline: [{ $out: 'd' }], cursor: {} }, 263)
})

t.test('a transaction creates a collection with an index', async (t) => {
  const node = newNode()
  const txn = transaction(node, 1)
  t.match(await txn({ create: 'new' }), { ok: 1 })
  t.match(await txn({ createIndexes: 'new', indexes: [{ key: { a: 1 }, name: 'a' }] }), { ok: 1 })
  t.match(await txn({ insert: 'new', documents: [{ _id: 1, a: 1 }] }), { ok: 1 })
  t.match(await txn({ insert: 'other', documents: [{ _id: 1 }] }), { ok: 1 })
  t.same(await node.all('new'), [])
  t.match(await txn.commit(), { ok: 1 })
  t.same(await node.all('new'), [{ _id: 1, a: 1 }])
  t.same(await node.restarted().all('other'), [{ _id: 1 }])
  const old = newNode({ version: '4.0' })
  t.match(await transaction(old, 1)({ insert: 'new', documents: [{ _id: 1 }] }), { ok: 0, code: 263 })
})

t.test('a transaction ends when its lifetime is over', async (t) => {
  const node = newNode()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const txn = transaction(node, 1)
  await txn({ insert: 'c', documents: [{ _id: 2 }] })
  const waiting = node.run({ insert: 'c', documents: [{ _id: 2, a: 1 }] })
  node.context.nowMs += 60_000
  await node.node.wake('transactions')
  t.match(await waiting, { ok: 1, n: 1 })
  t.match(await txn.commit(), { code: 251, errmsg: /has been aborted/ })
})

t.test('definitions wait for transactions, and later statements for them', async (t) => {
  const node = newNode()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  await node.ok({ insert: 'd', documents: [{ _id: 1 }] })
  const txn = transaction(node, 1)
  await txn({ find: 'c' })
  const dropping = node.run({ drop: 'c' })
  const other = transaction(node, 2)
  const blocked = other({ find: 'c' })
  t.match(await blocked, { code: 24 })
  t.match(await txn({ insert: 'c', documents: [{ _id: 2 }] }), { ok: 1 }, 'has its lock already')
  await txn.commit()
  t.match(await dropping, { ok: 1 })
  const late = transaction(node, 3)
  await late({ find: 'd' })
  await node.ok({ createIndexes: 'e', indexes: [{ key: { a: 1 }, name: 'a' }] })
  t.match(await late({ find: 'e' }), { code: 246 })
})

t.test('definitions that exist already wait for no transaction', async (t) => {
  const index = { key: { a: 1 }, name: 'a' }
  for (const emulate of ['4.0', '4.4', '8.0'] as const) {
    const node = newNode({ version: emulate })
    await node.ok({ createIndexes: 'c', indexes: [index] })
    const txn = transaction(node, 1)
    t.match(await txn({ insert: 'c', documents: [{ _id: 1 }] }), { ok: 1 })
    const again = [
      node.run({ create: 'c' }),
      node.run({ create: 'c', capped: true, size: 100 }),
      node.run({ createIndexes: 'c', indexes: [index] }),
    ]
    const next = await txn({ insert: 'c', documents: [{ _id: 2 }] })
    const late = await transaction(node, 2)({ find: 'c' })
    t.match([next, late], emulate === '4.0' ? [{ ok: 1 }, { code: 24 }] : [{ ok: 1 }, { ok: 1 }], emulate)
    await txn.commit()
    const [same, different, indexed] = await Promise.all(again)
    t.match([same, different, indexed], [{ ok: Number }, { code: 48 }, { note: 'all indexes already exist' }])
  }
})

t.test('getMore of a cursor belongs to its transaction', async (t) => {
  const node = newNode()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }, { _id: 3 }] })
  const txn = transaction(node, 1)
  const { cursor } = (await txn({ find: 'c', batchSize: 1 })) as { cursor: { id: bigint } }
  t.match(await node.run({ getMore: cursor.id, collection: 'c', lsid: session(1) }), { code: 50740 })
  t.match(await txn({ getMore: cursor.id, collection: 'c', batchSize: 1 }), { ok: 1 })
  await txn.commit()
  t.match(await node.run({ getMore: cursor.id, collection: 'c', lsid: session(1) }), { code: 43 })
})

t.test('a large transaction has a chain of entries', async (t) => {
  const node = newNode()
  await node.ok({ setParameter: 1, maxNumberOfTransactionOperationsInSingleOplogEntry: 2 }, { db: 'admin' })
  await node.ok({ create: 'c' })
  const txn = transaction(node, 1)
  await txn({ insert: 'c', documents: [1, 2, 3, 4, 5].map((_id) => ({ _id })) })
  await txn.commit()
  const { cursor } = (await node.ok(
    { find: 'oplog.rs', filter: { 'o.applyOps': { $exists: true } } },
    { db: 'local' },
  )) as { cursor: { firstBatch: { o: Document; prevOpTime: Document }[] } }
  t.equal(cursor.firstBatch.length, 3)
  t.same(
    cursor.firstBatch.map(({ o }) => Object.keys(o)),
    [
      ['applyOps', 'partialTxn'],
      ['applyOps', 'partialTxn'],
      ['applyOps', 'count'],
    ],
  )
  t.equal((await node.restarted().all('c')).length, 5)
})

t.test('a change stream ends at a transaction of which the oplog has lost the beginning', async (t) => {
  const node = newNode({ oplogSizeBytes: 4096 })
  await node.ok({ setParameter: 1, maxNumberOfTransactionOperationsInSingleOplogEntry: 1 }, { db: 'admin' })
  await node.ok({ create: 'c' })
  const txn = transaction(node, 1)
  const text = 'x'.repeat(3000)
  await txn({ insert: 'c', documents: [1, 2, 3, 4, 5].map((_id) => ({ _id, text })) })
  await txn.commit()
  const filter = { 'o.count': 5 }
  const [last] = first(await node.ok({ find: 'oplog.rs', filter }, { db: 'local' }))
  const pipeline = [{ $changeStream: { startAtOperationTime: last!['ts'] } }]
  const opened = await node.run({ aggregate: 'c', pipeline, cursor: {} })
  t.match(opened, {
    ...{ code: 286, codeName: 'ChangeStreamHistoryLost' },
    errmsg:
      /^Oplog no longer has history necessary .* with opTime \{ ts: Timestamp\(\d+, \d+\), t: \d+ \} cannot be found$/,
  })
})

t.test('D504: a document that was changed back does not conflict', async (t) => {
  const node = newNode()
  await node.ok({ insert: 'c', documents: [{ _id: 1, a: 0 }] })
  const txn = transaction(node, 1)
  await txn({ find: 'c' })
  for (const a of [1, 0]) await node.ok({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { a } } }] })
  t.match(await txn({ update: 'c', updates: [{ q: { _id: 1 }, u: { $inc: { a: 5 } } }] }), { nModified: 1 })
  t.match(await txn.commit(), { ok: 1 })
  t.same(await node.all('c'), [{ _id: 1, a: 5 }])
})

t.test('a number is used again after an abort, but not after a prepare', async (t) => {
  const node = new NodeUnderTest({ role: plainRole })
  await node.ok({ create: 'c' })
  const inserting = (lsid: number) => {
    const txn = transaction(node, lsid)
    return { txn, start: () => txn({ insert: 'c', documents: [{}] }, { starts: true }) }
  }
  const aborted = inserting(1)
  await aborted.start()
  await aborted.txn.abort()
  t.match(await aborted.start(), { ok: 1, n: 1 })
  await aborted.txn.abort()
  const prepared = inserting(2)
  await prepared.start()
  const { transactions } = node.node
  const [open] = transactions.all()
  transactions.prepare(open!)
  t.match(await prepared.start(), { ok: 0, code: 50911, errmsg: /TxnState::Prepared$/ })
  transactions.abort(open!)
  t.match(await prepared.start(), { ok: 0, code: 50911, errmsg: /TxnState::AbortedAfterPrepare$/ })
  await node.node.flush()
  const restarted = node.restarted()
  const again = (lsid: number) => transaction(restarted, lsid)({ find: 'c' })
  t.match(await again(2), { ok: 0, code: 50911 }, 'the log has the abort')
  t.match(await again(1), { ok: 1 })
})

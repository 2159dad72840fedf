import type { TimestampPair } from '@shardlab/actor'
import { Timestamp, type Document } from '@shardlab/bson'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { long, NodeUnderTest, plainRole, session } from './support/harness.js'

/** Prepares a transaction of these statements in a session of its own. */
async function prepare(node: NodeUnderTest, of: number, statements: readonly Document[]) {
  const { transactions } = node.node
  const others = new Set(transactions.all())
  const common = { lsid: session(of), txnNumber: long(1), autocommit: false }
  let isFirst = true
  for (const statement of statements) {
    await node.ok({ ...statement, ...common, ...(isFirst ? { startTransaction: true } : {}) })
    isFirst = false
  }
  const transaction = [...transactions.all()].find((each) => !others.has(each))!
  const time: TimestampPair = transactions.prepare(transaction)
  return {
    time,
    commit: () => transactions.commitPrepared(transaction, time, null),
    abort: () => transactions.abort(transaction),
  }
}

/** A transaction of these statements is prepared on collection c. */
async function prepared(statements: readonly Document[], set: (node: NodeUnderTest) => Promise<unknown> = fill) {
  const node = new NodeUnderTest({ role: { ...plainRole, name: 'mongod' } })
  await set(node)
  const { time, commit, abort } = await prepare(node, 1, statements)
  const later = (command: Document) => node.run({ ...command, readConcern: { afterClusterTime: timestamp(time) } })
  return {
    node,
    time,
    later,
    commit,
    abort,
    /** Whether the read waits until the transaction has ended. */
    waits: async (command: Document): Promise<boolean> => {
      const reply = await later({ ...command, maxTimeMS: 5 })
      if (reply['ok'] === 1) return false
      if (reply['code'] === 50) return true
      throw new Error(JSON.stringify(reply))
    },
  }
}

/** The node has done then what it can do without a message or a timer. */
async function pastTurns(): Promise<void> {
  for (let i = 0; i < 20; i++) await setImmediate()
}

const timestamp = ([t, i]: TimestampPair) => new Timestamp({ t, i })
const batch = (reply: Document) => (reply['cursor'] as { firstBatch: Document[] }).firstBatch

async function fill(node: NodeUnderTest): Promise<void> {
  const indexes = [
    { key: { a: 1 }, name: 'a' },
    { key: { b: 1 }, name: 'b' },
    { key: { u: 1 }, name: 'u', unique: true },
  ]
  await node.ok({ createIndexes: 'c', indexes })
  await node.ok({ insert: 'c', documents: [1, 2, 3, 4, 5].map((_id) => ({ _id, a: _id, b: 7, u: _id, c: _id })) })
  await node.ok({ create: 'others' })
  await node.ok({
    insert: 'others',
    documents: [
      { _id: 1, to: 3 },
      { _id: 2, to: 2 },
    ],
  })
}

const update = { update: 'c', updates: [{ q: { _id: 3 }, u: { $set: { a: 30 } } }] }

t.test('a read by _id waits for the document that a prepared transaction has updated, and for no other', async (t) => {
  const { waits, commit, later } = await prepared([update])
  t.equal(await waits({ find: 'c', filter: { _id: 2 } }), false)
  t.equal(await waits({ find: 'c', filter: { _id: 9 } }), false, 'no such document')
  t.equal(await waits({ find: 'c', filter: { _id: 3 } }), true)
  t.equal(await waits({ find: 'c', filter: { _id: 3, c: 3 } }), true)
  const waiting = later({ find: 'c', filter: { _id: 3 } })
  commit()
  t.match(batch(await waiting), [{ _id: 3, a: 30 }])
})

t.test('reads without a time wait for none', async (t) => {
  const { node } = await prepared([update])
  t.match(batch(await node.ok({ find: 'c', filter: { _id: 3 } })), [{ _id: 3, a: 3 }])
})

t.test('a scan of the collection waits when it reaches the document', async (t) => {
  const { waits } = await prepared([update])
  t.equal(await waits({ find: 'c', filter: { c: 1 } }), true)
  t.equal(await waits({ find: 'c', filter: { c: 1 }, limit: 1 }), false, 'the limit is reached before')
  t.equal(await waits({ find: 'c', filter: { c: 5 }, sort: { $natural: -1 }, limit: 1 }), false)
  t.equal(await waits({ find: 'c', filter: { c: 2 }, sort: { $natural: -1 }, limit: 1 }), true)
  t.equal(await waits({ count: 'c', query: {} }), false, 'the count of the collection is read')
  t.equal(await waits({ count: 'c', query: { c: 1 } }), true)
  t.equal(await waits({ find: 'others' }), false)
})

t.test('a scan of an index waits for keys that change, in its range', async (t) => {
  const { waits } = await prepared([update])
  const byA = (filter: Document) => ({ find: 'c', filter: { a: filter }, hint: 'a' })
  t.equal(await waits(byA({ $lt: 3 })), false)
  t.equal(await waits(byA({ $eq: 3 })), true, 'a key that is removed')
  t.equal(await waits(byA({ $gt: 3, $lt: 30 })), false, 'between the keys')
  t.equal(await waits(byA({ $eq: 30 })), true, 'a key that the transaction adds')
  t.equal(await waits(byA({ $gte: 6 })), true)
  t.equal(await waits(byA({ $gt: 30 })), false)
  t.equal(await waits({ ...byA({ $gte: 4 }), limit: 2 }), false, 'the limit is reached before')
  t.equal(await waits({ ...byA({ $gte: 4 }), sort: { a: -1 }, limit: 1 }), true, 'the added key comes first')
  t.equal(await waits({ ...byA({ $in: [1, 4] }) }), false)
  t.equal(await waits({ ...byA({ $in: [2, 5] }) }), true, 'the key after 2 is examined')
  t.equal(await waits({ ...byA({ $in: [1, 30] }) }), true)
  t.equal(await waits({ distinct: 'c', key: 'a', query: { a: { $lt: 2 } } }), false)
  t.equal(await waits({ distinct: 'c', key: 'a' }), true)
  t.equal(await waits({ count: 'c', query: { a: { $lte: 2 } }, hint: 'a' }), false)
  t.equal(await waits({ count: 'c', query: { a: { $lte: 3 } }, hint: 'a' }), true)
})

t.test('a scan of an index whose keys do not change waits only when it fetches the document', async (t) => {
  const { waits } = await prepared([update])
  t.equal(await waits({ count: 'c', query: { b: 7 }, hint: 'b' }), false)
  t.equal(await waits({ find: 'c', filter: { b: 7 }, projection: { _id: 0, b: 1 }, hint: 'b' }), false, 'covered')
  t.equal(await waits({ find: 'c', filter: { b: 7 }, hint: 'b' }), true)
})

t.test('inserted and deleted documents are waited for', async (t) => {
  const { waits, abort, later } = await prepared([
    { insert: 'c', documents: [{ _id: 6, a: 3.5, b: 8, u: 6, c: 6 }] },
    { delete: 'c', deletes: [{ q: { _id: 1 }, limit: 1 }] },
  ])
  t.equal(await waits({ find: 'c', filter: { _id: 6 } }), true)
  t.equal(await waits({ find: 'c', filter: { _id: 1 } }), true)
  t.equal(await waits({ find: 'c', filter: { _id: 2 } }), false)
  t.equal(await waits({ find: 'c', filter: { a: { $gte: 2, $lte: 3 } }, hint: 'a' }), false)
  t.equal(await waits({ find: 'c', filter: { a: { $gte: 2, $lte: 4 } }, hint: 'a' }), true)
  t.equal(await waits({ find: 'c', filter: { a: { $gte: 0, $lt: 2 } }, hint: 'a' }), true)
  t.equal(await waits({ find: 'c', filter: { u: 6 }, hint: 'u' }), true)
  t.equal(await waits({ find: 'c', filter: { c: 9 }, sort: { $natural: -1 } }), true)
  const waiting = later({ find: 'c', filter: { _id: 6 } })
  abort()
  t.same(batch(await waiting), [])
})

t.test('a document that is inserted and updated is one change', async (t) => {
  const { waits, commit, later } = await prepared([
    { insert: 'c', documents: [{ _id: 6, a: 60, u: 6 }] },
    { update: 'c', updates: [{ q: { _id: 6 }, u: { $set: { a: 61 } } }] },
    { delete: 'c', deletes: [{ q: { _id: 2 }, limit: 1 }] },
    { insert: 'c', documents: [{ _id: 2, a: 62, u: 2 }] },
  ])
  t.equal(await waits({ find: 'c', filter: { a: 60 }, hint: 'a' }), false, 'this key never takes effect')
  t.equal(await waits({ find: 'c', filter: { a: 61 }, hint: 'a' }), true)
  t.equal(await waits({ find: 'c', filter: { a: 62 }, hint: 'a' }), true)
  t.equal(await waits({ count: 'c', query: { u: 2 }, hint: 'u' }), false, 'the key of the document is the same')
  commit()
  t.match(batch(await later({ find: 'c', filter: { a: { $gte: 60 } } })), [
    { _id: 6, a: 61 },
    { _id: 2, a: 62 },
  ])
})

t.test('a pipeline waits in its joins, and runs again', async (t) => {
  const { waits, commit, later } = await prepared([update])
  const lookup = { $lookup: { from: 'c', localField: 'to', foreignField: '_id', as: 'found' } }
  const aggregate = (...pipeline: Document[]) => ({ aggregate: 'others', pipeline, cursor: {} })
  t.equal(await waits(aggregate({ $match: { _id: 2 } }, lookup)), false)
  t.equal(await waits(aggregate(lookup)), true)
  t.equal(await waits({ aggregate: 'c', pipeline: [{ $match: { _id: 5 } }], cursor: {} }), false)
  t.equal(await waits({ aggregate: 'c', pipeline: [{ $group: { _id: null } }], cursor: {} }), true)
  const out = aggregate({ $match: { _id: 2 } }, { $out: 'copy' })
  t.equal(await waits(out), true, 'one that writes cannot run again, so it waits before it begins')
  const waiting = later(aggregate(lookup))
  commit()
  t.match(batch(await waiting), [{ found: [{ a: 30 }] }, { found: [{ a: 2 }] }])
})

t.test('D505: a cursor that stays open has waited before its first batch', async (t) => {
  const { waits, commit, later, node } = await prepared([update])
  t.equal(await waits({ find: 'c', batchSize: 1 }), true)
  t.equal(await waits({ find: 'c', batchSize: 1, singleBatch: true }), false)
  t.equal(await waits({ find: 'others', batchSize: 1 }), false)
  const waiting = later({ find: 'c', batchSize: 1 })
  commit()
  const { cursor } = await waiting
  t.match(await node.ok({ getMore: cursor.id, collection: 'c' }), {
    cursor: { nextBatch: [{ _id: 2 }, { _id: 3, a: 30 }, {}, {}] },
  })
})

t.test('a snapshot read waits for transactions that were prepared before its time', async (t) => {
  const { node, time, commit } = await prepared([update])
  const at = ([seconds, increment]: TimestampPair) => ({
    find: 'c',
    filter: { _id: 3 },
    readConcern: { level: 'snapshot', atClusterTime: timestamp([seconds, increment]) },
  })
  t.match(batch(await node.ok(at([time[0], time[1] - 1]))), [{ a: 3 }], 'before')
  const waiting = node.run(at(time))
  commit()
  t.match(batch(await waiting), [{ a: 30 }])
})

t.test('D505: strings under a collation: every read by such an index waits', async (t) => {
  const { waits } = await prepared([update], async (node) => {
    await fill(node)
    const collation = { locale: 'en', strength: 2 }
    await node.ok({ createIndexes: 'c', indexes: [{ key: { c: 1 }, name: 'collated', collation }] })
  })
  t.equal(
    await waits({ find: 'c', filter: { c: 5 }, hint: 'collated', collation: { locale: 'en', strength: 2 } }),
    true,
  )
  t.equal(await waits({ find: 'c', filter: { a: 5 }, hint: 'a' }), false)
})

t.test('D505: a transaction waits before its first statement, and reads the outcome in a later one', async (t) => {
  const { node, time, commit } = await prepared([update])
  const common = { lsid: session(2), txnNumber: long(1), autocommit: false }
  const starts = { startTransaction: true, readConcern: { level: 'snapshot', atClusterTime: timestamp(time) } }
  const first = node.run({ find: 'others', ...common, ...starts })
  commit()
  t.match(await first, { ok: 1 })
  t.match(batch(await node.ok({ find: 'c', filter: { _id: 3 }, ...common })), [{ a: 30 }])
})

/**
 * From here the node reads as one of several members. The majority has the data of now, until
 * `advance`.
 * @param awaitCommitted called when a read waits for the majority
 */
function amongOthers({ node }: NodeUnderTest, awaitCommitted: () => Promise<void>): { advance(): void } {
  let majority = node.engine.clone()
  Object.defineProperties(node.set, {
    isAlone: { get: () => false },
    majorityEngine: { value: () => majority },
    awaitCommitted: { value: awaitCommitted },
  })
  return { advance: () => void (majority = node.engine.clone()) }
}

t.test('a majority read runs again while a transaction changes a document that no majority has', async (t) => {
  const { node, time, commit } = await prepared([update])
  let duringWait = async (): Promise<void> => {}
  const set = amongOthers(node, () => duringWait())
  const ofMajority = { level: 'majority', afterClusterTime: timestamp(time) }
  const waiting = node.run({ find: 'c', filter: { a: { $gte: 5 } }, hint: 'a', readConcern: ofMajority })
  await pastTurns()
  let second: Awaited<ReturnType<typeof prepare>> | null = null
  duringWait = async () => {
    duringWait = async () => {}
    set.advance()
    await node.ok({ insert: 'c', documents: [{ _id: 6, a: 6, u: 6 }], writeConcern: { w: 1 } })
    second = await prepare(node, 2, [{ update: 'c', updates: [{ q: { _id: 6 }, u: { $set: { a: 40 } } }] }])
  }
  commit()
  while (second === null) await pastTurns()
  const { time: later, commit: commitSecond } = second as Awaited<ReturnType<typeof prepare>>
  const other = { level: 'majority', afterClusterTime: timestamp(later) }
  t.match(batch(await node.ok({ find: 'c', filter: { _id: 3 }, readConcern: other })), [{ a: 30 }])
  set.advance()
  commitSecond()
  set.advance()
  t.match(batch(await waiting), [{ _id: 5 }, { _id: 3, a: 30 }, { _id: 6, a: 40 }])
})

t.test('a read waits until its own transaction has ended, whatever others do', async (t) => {
  const { node, commit, later } = await prepared([update])
  const other = await prepare(node, 2, [{ insert: 'others', documents: [{ _id: 9 }] }])
  const waiting = later({ find: 'c', filter: { c: { $gte: 0 } } })
  const yields = async () => {
    const { inprog } = await node.ok({ currentOp: 1, 'command.find': 'c' }, { db: 'admin' })
    return (inprog as Document[]).map(({ numYields }) => Number(numYields))
  }
  await pastTurns()
  t.same(await yields(), [1])
  other.commit()
  await pastTurns()
  t.same(await yields(), [1], 'it has not begun again')
  commit()
  t.match(await waiting, { ok: 1 })
})

t.test('a read that runs again is counted once', async (t) => {
  const { node, commit, later } = await prepared([update])
  const counts = async () => {
    const { opcounters, metrics } = await node.ok({ serverStatus: 1 }, { db: 'admin' })
    return [Number(opcounters.query), Number(metrics.document.returned)] as const
  }
  const [queries, returned] = await counts()
  const waiting = later({ find: 'c', batchSize: 2 })
  commit()
  t.match(batch(await waiting), [{ _id: 1 }, { _id: 2 }])
  t.same(await counts(), [queries + 1, returned + 2])
})

t.test('a change stream waits for no prepared transaction', async (t) => {
  const { waits } = await prepared([update])
  t.equal(await waits({ aggregate: 'c', pipeline: [{ $changeStream: {} }], cursor: {} }), false)
  t.equal(await waits({ aggregate: 'c', pipeline: [{ $match: {} }], cursor: {} }), true)
})

t.test('a wait for a prepared transaction ends when the member stops', async (t) => {
  const { node, later } = await prepared([update])
  const read = later({ find: 'c', filter: { _id: 3 } })
  const readConcern = { level: 'snapshot' }
  const first = { startTransaction: true, autocommit: false, lsid: session(2), txnNumber: long(1), readConcern }
  const statement = node.run({ find: 'c', filter: { _id: 3 }, ...first })
  await pastTurns()
  node.node.stop()
  const ended = { code: 11600, codeName: 'InterruptedAtShutdown', errmsg: 'interrupted at shutdown' }
  t.match(await read, ended)
  t.match(await statement, ended)
})

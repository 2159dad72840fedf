import type { Document } from '@shardlab/bson'
import t from 'tap'
import { encodeSessionsImage, type NodeRole } from '../src/index.js'
import { long, NodeUnderTest, plainRole, session } from './support/harness.js'

const lsid = session(1)

t.test('a repeated statement gets its reply and is not run', async (t) => {
  const node = new NodeUnderTest()
  const insert = { insert: 'c', documents: [{ _id: 1 }, { _id: 2 }], lsid, txnNumber: long(1) }
  t.same(await node.ok(insert), { n: 2, ok: 1 })
  t.same(await node.ok(insert), { n: 2, retriedStmtIds: [0, 1], ok: 1 })
  const update = { update: 'c', updates: [{ q: { _id: 1 }, u: { $inc: { a: 1 } } }], lsid, txnNumber: long(2) }
  t.same(await node.ok(update), { n: 1, nModified: 1, ok: 1 })
  t.same(await node.ok(update), { n: 1, nModified: 1, retriedStmtIds: [0], ok: 1 })
  const upsert = {
    update: 'c',
    updates: [{ q: { _id: 9 }, u: { $inc: { a: 1 } }, upsert: true }],
    lsid,
    txnNumber: long(3),
  }
  t.same(await node.ok(upsert), { n: 1, nModified: 0, upserted: [{ index: 0, _id: 9 }], ok: 1 })
  t.same(await node.ok(upsert), { n: 1, nModified: 0, upserted: [{ index: 0, _id: 9 }], retriedStmtIds: [0], ok: 1 })
  const remove = { delete: 'c', deletes: [{ q: {}, limit: 1 }], lsid, txnNumber: long(4) }
  t.same(await node.ok(remove), { n: 1, ok: 1 })
  t.same(await node.ok(remove), { n: 1, retriedStmtIds: [0], ok: 1 })
  t.same(await node.all('c'), [{ _id: 2 }, { _id: 9, a: 1 }])
})

t.test('writes of many documents cannot be retryable', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  const refusal = async (command: Document, txnNumber: number, options: { db?: string } = {}) => {
    const reply = await node.ok({ ...command, lsid, txnNumber: long(txnNumber) }, options)
    const { code, errmsg } = (reply['writeErrors'] as Document[] | undefined)?.[0] ?? reply['cursor'].firstBatch[0]
    return `${code} ${errmsg}`
  }
  const update = { update: 'c', updates: [{ q: {}, u: { $set: { a: 1 } }, multi: true }] }
  t.equal(await refusal(update, 1), '72 Cannot use (or request) retryable writes with multi=true')
  t.equal(
    await refusal({ delete: 'c', deletes: [{ q: {}, limit: 0 }] }, 2),
    '72 Cannot use (or request) retryable writes with limit=0',
  )
  for (const op of [
    { update: 0, filter: {}, updateMods: { $set: { a: 1 } }, multi: true },
    { delete: 0, filter: {}, multi: true },
  ])
    t.equal(
      await refusal({ bulkWrite: 1, ops: [op], nsInfo: [{ ns: 'db.c' }] }, 3, { db: 'admin' }),
      '72 Cannot use retryable writes with multi=true',
    )
})

t.test('a repeated batch runs the statements that were not executed', async (t) => {
  const node = new NodeUnderTest()
  const [first, second] = [{ _id: 1 }, { _id: 2 }]
  await node.ok({ insert: 'c', documents: [first], lsid, txnNumber: long(1) })
  t.same(await node.ok({ insert: 'c', documents: [first, second], lsid, txnNumber: long(1) }), {
    n: 2,
    retriedStmtIds: [0],
    ok: 1,
  })
})

t.test("a router's statement ids count", async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }], lsid, txnNumber: long(1) }, { stmtIds: [7] })
  t.same(
    await node.ok({ insert: 'c', documents: [{ _id: 5 }, { _id: 1 }], lsid, txnNumber: long(1) }, { stmtIds: [0, 7] }),
    {
      n: 2,
      retriedStmtIds: [7],
      ok: 1,
    },
  )
  t.same(await node.all('c'), [{ _id: 1 }, { _id: 5 }])
})

t.test('executed statements survive a restart, from log and checkpoint', async (t) => {
  for (const checkpointAfterBytes of [1, undefined]) {
    const node = new NodeUnderTest(checkpointAfterBytes === undefined ? {} : { checkpointAfterBytes })
    const commands: Document[] = [
      { insert: 'c', documents: [{ _id: 1 }, { _id: 2 }], lsid, txnNumber: long(5) },
      { update: 'c', updates: [{ q: { _id: 1 }, u: { $inc: { a: 1 } } }], lsid: session(2), txnNumber: long(1) },
      {
        update: 'c',
        updates: [{ q: { _id: 'new' }, u: { $inc: { a: 1 } }, upsert: true }],
        lsid: session(3),
        txnNumber: long(1),
      },
      { delete: 'c', deletes: [{ q: { _id: 2 }, limit: 1 }], lsid: session(4), txnNumber: long(1) },
    ]
    const before: Document[] = []
    for (const command of commands) before.push(await node.ok(command))
    t.equal(node.context.disk.checkpoint !== null, checkpointAfterBytes !== undefined)
    const after = node.restarted()
    for (const [i, command] of commands.entries()) {
      const { retriedStmtIds, ...reply } = await after.ok(command)
      t.same(reply, before[i], JSON.stringify(command))
      t.ok((retriedStmtIds as number[]).length > 0)
    }
    t.same(await after.all('c'), [
      { _id: 1, a: 1 },
      { _id: 'new', a: 1 },
    ])
    t.equal((await after.run({ insert: 'c', documents: [{ _id: 8 }], lsid, txnNumber: long(4) }))['code'], 225)
  }
})

t.test('a lower transaction number is refused', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }], lsid, txnNumber: long(5) })
  t.match(await node.run({ insert: 'c', documents: [{ _id: 2 }], lsid, txnNumber: long(4) }), {
    ok: 0,
    code: 225,
    codeName: 'TransactionTooOld',
  })
  await node.ok({ insert: 'c', documents: [{ _id: 3 }], lsid, txnNumber: long(6) })
  t.equal((await node.run({ insert: 'c', documents: [{ _id: 1 }], lsid, txnNumber: long(5) }))['code'], 225)
  t.same(
    await node.ok({ insert: 'c', documents: [{ _id: 4 }], lsid: session(2), txnNumber: long(1) }),
    { n: 1, ok: 1 },
    'each session has its own numbers',
  )
})

t.test('a write that waits while its session uses a higher number is refused', async (t) => {
  const waiters: (() => void)[] = []
  let waits = false
  const role: NodeRole = {
    ...plainRole,
    enter: async () => {
      if (waits) await new Promise<void>((resolve) => waiters.push(resolve))
      return { ownership: null }
    },
  }
  const node = new NodeUnderTest({ role })
  const write = (txnNumber: number): Document => ({
    update: 'c',
    updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }],
    lsid,
    txnNumber: long(txnNumber),
  })
  await node.ok({ insert: 'c', documents: [{ _id: 1, n: 0 }] })
  waits = true
  const older = node.run(write(3))
  waits = false
  await node.ok(write(4))
  waiters[0]!()
  t.match(await older, { ok: 0, code: 225, codeName: 'TransactionTooOld' })
  t.match(await node.all('c'), [{ n: 1 }])
})

t.test('commands that cannot be retried refuse a transaction number', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const code = async (command: Document) => {
    const reply = await node.run({ ...command, lsid, txnNumber: long(1) })
    return reply['code'] ?? (reply['writeErrors'] as Document[] | undefined)?.[0]?.['code']
  }
  t.equal(await code({ update: 'c', updates: [{ q: {}, u: { $set: { a: 1 } }, multi: true }] }), 72)
  t.equal(await code({ delete: 'c', deletes: [{ q: {}, limit: 0 }] }), 72)
  t.equal(await code({ find: 'c' }), 50768)
  t.equal(await code({ update: 'c', updates: [{ q: { _id: 2 }, u: { $set: { a: 1 } } }] }), undefined)
  const starting = { startTransaction: true, autocommit: false }
  t.equal(await code({ find: 'c', ...starting }), undefined, 'nothing was executed')
  t.equal(await code({ insert: 'c', documents: [{}] }), 217)
  t.equal((await node.run({ insert: 'c', documents: [{ _id: 3 }], lsid, txnNumber: long(2) }))['n'], 1)
  t.equal((await node.run({ find: 'c', lsid, txnNumber: long(2), ...starting }))['code'], 50911)
  t.equal((await node.run({ insert: 'c', documents: [{}], lsid, txnNumber: long(-1) }))['code'], 72)
  t.same(await node.all('c'), [{ _id: 1 }, { _id: 3 }])
})

t.test('serverStatus counts repeated statements', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ create: 'c' })
  const insert = { insert: 'c', documents: [{ _id: 1 }, { _id: 2 }], lsid, txnNumber: long(1) }
  const modify = { findAndModify: 'c', query: { _id: 1 }, update: { $set: { a: 1 } }, lsid, txnNumber: long(2) }
  for (const command of [insert, insert, modify, modify]) await node.ok(command)
  t.match((await node.ok({ serverStatus: 1 }, { db: 'admin' }))['transactions'], {
    retriedCommandsCount: long(2),
    retriedStatementsCount: long(3),
    transactionsCollectionWriteCount: long(2),
  })
})

t.test('a statement that failed is run again', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  const insert = { insert: 'c', documents: [{ _id: 1 }], lsid, txnNumber: long(1) }
  t.match(await node.ok(insert), { n: 0, writeErrors: [{ code: 11000 }] })
  await node.ok({ delete: 'c', deletes: [{ q: {}, limit: 0 }] })
  t.same(await node.ok(insert), { n: 1, ok: 1 })
})

t.test('sessions expire when idle', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }], lsid, txnNumber: long(1) })
  t.equal(node.node.sessions.size, 1)
  node.context.nowMs += 29 * 60_000
  await node.ok({ refreshSessions: [lsid] })
  node.context.nowMs += 29 * 60_000
  void node.node.wake('housekeeping')
  t.equal(node.node.sessions.size, 1, 'refreshed')
  node.context.nowMs += 2 * 60_000
  void node.node.wake('housekeeping')
  t.equal(node.node.sessions.size, 0, 'idle for 30 minutes')
  const started = await node.ok({ startSession: 1 })
  t.equal(started['timeoutMinutes'], 30)
  t.equal(node.node.sessions.size, 1)
  await node.ok({ endSessions: [started['id'] as Document, session(99)] })
  t.equal(node.node.sessions.size, 0)
})

t.test('another member gets the statements of one namespace, and answers their repetition', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  const many = Array.from({ length: 200 }, (_, _id) => ({ _id }))
  const onOther = { insert: 'b', documents: many, lsid: session(1), txnNumber: long(1) }
  const run = { insert: 'a', documents: many, lsid: session(2), txnNumber: long(7) }
  const one = {
    findAndModify: 'a',
    query: { _id: 5 },
    update: { $inc: { x: 1 } },
    new: true,
    lsid: session(3),
    txnNumber: long(1),
  }
  const ops = [
    { insert: 0, document: { _id: 'in a' } },
    { insert: 1, document: { _id: 'in b' } },
  ]
  const nsInfo = [{ ns: 'test.a' }, { ns: 'test.b' }]
  const both = { bulkWrite: 1, ops, nsInfo, lsid: session(4), txnNumber: long(1) }
  await node.ok(onOther)
  for (const command of [run, one]) await node.ok(command)
  await node.ok(both, { db: 'admin' })
  t.equal(node.node.retries.statementCount, 403)
  t.same(node.node.retries.exportOf('test.c'), [])
  const image = node.node.retries.exportOf('test.a')
  t.equal(image.length, 3)
  t.ok(image.every(({ namespaces }) => namespaces.every(({ ns }) => ns === 'test.a')))
  const object = encodeSessionsImage(image)
  t.ok(object.length < 200 * 20 + 1000, 'packed')
  const other = new NodeUnderTest({ version: '8.0' })
  other.node.apply({ op: 'n', ns: 'config.transactions', uuid: null, object, id: null, session: null })
  await other.node.flush()
  for (const member of [other, other.restarted()]) {
    t.equal(member.node.retries.statementCount, 202)
    t.equal((await member.ok(run))['retriedStmtIds'].length, 200)
    t.match(await member.ok(one), { value: { _id: 5, x: 1 }, retriedStmtId: 0 })
    t.equal((await member.run({ ...run, txnNumber: long(6) }))['code'], 225)
    t.same(await member.all('a'), [], 'not run again')
  }
})

t.test('the statements of a lower number are dropped as soon as the session uses a higher one', async (t) => {
  const node = new NodeUnderTest()
  const documents = Array.from({ length: 1000 }, () => ({}))
  await node.ok({ insert: 'c', documents, lsid, txnNumber: long(1) })
  t.equal(node.node.retries.statementCount, 1000)
  await node.ok({ insert: 'c', documents: [{}], lsid, txnNumber: long(2) })
  t.equal(node.node.retries.statementCount, 1)
})

t.test('statements expire 30 minutes after the write, also those from before a restart', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }], lsid, txnNumber: long(1) })
  const after = node.restarted()
  after.context.nowMs = node.context.nowMs + 30 * 60_000
  void after.node.wake('housekeeping')
  t.equal(after.node.retries.statementCount, 2)
  after.context.nowMs += 1
  void after.node.wake('housekeeping')
  t.equal(after.node.retries.statementCount, 0)
})

t.test('beyond the limit of the retry history, the oldest writes can no longer be repeated', async (t) => {
  const node = new NodeUnderTest({ retryHistoryBytesMax: 50_000, checkpointAfterBytes: 20_000 })
  const writeOf = (i: number): Document => ({
    findAndModify: 'c',
    query: { _id: i },
    update: { $inc: { n: 1 }, $set: { x: 'x'.repeat(1000) } },
    upsert: true,
    new: true,
    lsid: session(i),
    txnNumber: long(1),
  })
  for (let i = 0; i < 100; i++) await node.ok(writeOf(i))
  const { retries } = node.node
  t.ok(retries.sizeBytes <= 50_000 && retries.statementCount > 20, `${retries.statementCount} statements are left`)
  t.match(node.context.events.filter(({ type }) => type === 'limit')[0], { limit: 'retryHistoryBytesMax' })
  const object = encodeSessionsImage(retries.exportOf('test.c'))
  t.same(retries.exportOf('test.other'), [])
  const recipient = new NodeUnderTest()
  recipient.node.apply({ op: 'n', ns: 'config.transactions', uuid: null, object, id: null, session: null })
  await recipient.node.flush()
  for (const member of [node, node.restarted(), recipient]) {
    t.match(await member.run(writeOf(0)), {
      code: 217,
      errmsg: `Incomplete history detected for transaction 1 on session ${session(0).id.toString()} - 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= -  - `,
    })
    t.equal((await member.ok(writeOf(99)))['retriedStmtId'], 0)
    t.ok((await member.all('c')).every(({ n }) => n === 1))
  }
  t.match(await node.ok({ ...writeOf(0), txnNumber: long(2) }), { value: { n: 2 } })
  t.equal((await node.ok({ ...writeOf(0), txnNumber: long(2) }))['retriedStmtId'], 0)
})

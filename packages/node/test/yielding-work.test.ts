/** Long work that is neither a plain read nor a write, with a turn given up after every step. */
import t from 'tap'
import type { Document } from '@shardlab/bson'
import { NodeUnderTest } from './support/harness.js'
import { inTurn, yieldAfter, yielding } from './support/yielding.js'

const interrupted = { code: 11601, codeName: 'Interrupted' }
const all = { b: { $lte: 0 } }

/** Kills the operation of this command in its fifth turn. */
function killLater(node: NodeUnderTest, name: string): void {
  inTurn(node, 5, async () => {
    const filter = { currentOp: 1, [`command.${name}`]: { $exists: true } }
    const { inprog } = (await node.ok(filter, { db: 'admin' })) as { inprog: Document[] }
    const id = Number(String(inprog[0]!['opid']).split(':')[1])
    await node.ok({ killOp: 1, op: id }, { db: 'admin' })
  })
}

t.test('validate, dbHash and dataSize give up their turn, and killOp and maxTimeMS end them', async (t) => {
  const range = { keyPattern: { a: 1 }, min: { a: 0 }, max: { a: 9 } }
  for (const command of [{ validate: 'c' }, { dbHash: 1 }, { dataSize: 'test.c' }, { dataSize: 'test.c', ...range }]) {
    const [name] = Object.keys(command) as [string]
    const node = await yielding(50)
    const { turns } = node.context
    const { timeMillis: _, millis: _1, ...alone } = await node.ok(command)
    t.ok(node.context.turns - turns >= 50, `${name}: ${node.context.turns - turns} turns`)
    killLater(node, name)
    t.match(await node.run(command), { ok: 0, ...interrupted }, name)
    inTurn(node, 5, async () => void (node.context.nowMs += 1000))
    t.match(await node.run({ ...command, maxTimeMS: 500 }), { ok: 0, code: 50 }, name)
    inTurn(node, 5, () => node.ok({ delete: 'c', deletes: [{ q: {}, limit: 0 }] }))
    const { timeMillis: _2, millis: _3, ...during } = await node.ok(command)
    t.same(during, alone, `${name}: the collection as it was at the beginning`)
  }
})

t.test('explain gives up its turn; when it is killed or out of time, it shows what it has done', async (t) => {
  const explained: Record<string, Document> = {
    find: { find: 'c', filter: all },
    sort: { find: 'c', sort: { b: 1 } },
    count: { count: 'c', query: all },
    distinct: { distinct: 'c', key: 'b', query: all },
    update: { update: 'c', updates: [{ q: all, u: { $set: { d: 1 } }, multi: true }] },
    delete: { delete: 'c', deletes: [{ q: all, limit: 0 }] },
  }
  for (const [name, command] of Object.entries(explained)) {
    const node = await yielding(50)
    const { turns } = node.context
    const explain = { explain: command, verbosity: 'executionStats' }
    const whole = await node.ok(explain)
    t.match(whole, { executionStats: { executionSuccess: true, totalDocsExamined: 50 } }, name)
    t.ok(node.context.turns - turns >= 20, `${name}: ${node.context.turns - turns} turns`)
    killLater(node, 'explain')
    const part = await node.ok(explain)
    t.match(part, { executionStats: { executionSuccess: false, errorCode: 11601 } }, name)
    t.ok(part['executionStats'].totalDocsExamined < 50, name)
    inTurn(node, 5, async () => void (node.context.nowMs += 1000))
    t.match(await node.ok({ ...explain, maxTimeMS: 500 }), { executionStats: { errorCode: 50 } }, name)
    t.equal(node.node.operations.size, 0)
  }
})

t.test('a tailable cursor gives up its turn while it searches, also in a getMore that waits', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ create: 'c', capped: true, size: 1_000_000 })
  const insert = () => node.ok({ insert: 'c', documents: Array.from({ length: 50 }, (_, a) => ({ a })) })
  await insert()
  await yieldAfter(node, 1)
  let { turns } = node.context
  const { cursor } = await node.ok({ find: 'c', filter: { a: 49 }, tailable: true, awaitData: true })
  t.equal(cursor.firstBatch.length, 1)
  t.ok(node.context.turns - turns >= 50)
  await insert()
  ;({ turns } = node.context)
  const getMore = { getMore: cursor.id, collection: 'c', maxTimeMS: 10 }
  t.equal((await node.ok(getMore))['cursor'].nextBatch.length, 1)
  t.ok(node.context.turns - turns >= 45)
  await insert()
  inTurn(node, 5, () => node.ok({ killCursors: 'c', cursors: [cursor.id] }))
  t.match(await node.run(getMore), { ok: 0, code: 237 })
  t.equal(node.node.cursors.size, 0)
})

t.test('the TTL monitor gives up its turn, and looks again at each document', async (t) => {
  const expiring = async () => {
    const node = new NodeUnderTest()
    const index = { key: { at: 1 }, name: 'at_1', expireAfterSeconds: 60 }
    await node.ok({ createIndexes: 'c', indexes: [index] })
    const at = new Date(node.context.nowMs - 100_000)
    await node.ok({ insert: 'c', documents: Array.from({ length: 50 }, (_, _id) => ({ _id, at })) })
    await yieldAfter(node, 1)
    return node
  }
  const node = await expiring()
  const { turns } = node.context
  inTurn(node, 5, async () => {
    await node.ok({ update: 'c', updates: [{ q: { _id: 30 }, u: { $set: { at: new Date(node.context.nowMs) } } }] })
    await node.ok({ delete: 'c', deletes: [{ q: { _id: 31 }, limit: 1 }] })
  })
  await node.node.wake('ttl-monitor')
  t.ok(node.context.turns - turns >= 45)
  t.match(await node.all('c'), [{ _id: 30 }])
  t.same(node.node.ttl.counters, { passes: 1, deletedDocuments: 48 })

  for (const change of [{ drop: 'c' }, { dropIndexes: 'c', index: 'at_1' }]) {
    const changed = await expiring()
    inTurn(changed, 5, async () => {
      await changed.ok(change)
      if ('drop' in change) await changed.ok({ insert: 'c', documents: [{ at: new Date(0) }] })
    })
    await changed.node.wake('ttl-monitor')
    t.equal((await changed.all('c')).length, 'drop' in change ? 1 : 45)
  }
})

const unique = { createIndexes: 'c', indexes: [{ key: { b: 1 }, name: 'b_1', unique: true }] }

/** More documents than one step of an index build adds. */
async function large(): Promise<NodeUnderTest> {
  const node = new NodeUnderTest()
  for (let from = 0; from < 20_000; from += 10_000) {
    const documents = Array.from({ length: 10_000 }, (_, i) => ({ _id: from + i, b: from + i, a: [i % 3, 'x'] }))
    await node.ok({ insert: 'c', documents })
  }
  return node
}

async function checkedIndexes(node: NodeUnderTest): Promise<unknown> {
  const { valid, nrecords, keysPerIndex, errors } = await node.ok({ validate: 'c' })
  t.same(errors, [])
  t.equal(valid, true)
  return [nrecords, keysPerIndex]
}

t.test('an index build gives up its turn and follows the writes of other clients', async (t) => {
  const node = await large()
  const { turns } = node.context
  let left = 3
  node.context.betweenTurns = async () => {
    if (--left === 0) node.context.betweenTurns = null
    const at = left * 5000
    const updates = [
      { q: { _id: at }, u: { $set: { b: -at - 1, a: [at, 'y'] } } },
      { q: { _id: at + 1 }, u: { $set: { b: at + 0.5 } } },
      { q: { _id: at }, u: { $set: { a: 1 } } },
    ]
    await node.ok({ update: 'c', updates })
    await node.ok({ delete: 'c', deletes: [{ q: { _id: at + 7 }, limit: 1 }] })
    await node.ok({
      insert: 'c',
      documents: [
        { _id: `new ${at}`, b: 30_000 + at },
        { _id: `at ${at}`, b: at + 7 },
      ],
    })
  }
  await node.ok({ ...unique, indexes: [...unique.indexes, { key: { a: -1, b: 1 }, name: 'a_-1_b_1' }] })
  t.ok(node.context.turns - turns >= 4, `${node.context.turns - turns} turns`)
  const [count, keys] = (await checkedIndexes(node)) as [number, Record<string, number>]
  t.same([count, keys['b_1']], [20_003, 20_003])
  t.match(await node.run({ insert: 'c', documents: [{ b: 77 }] }), { writeErrors: [{ code: 11000 }] })
})

t.test('an index build that is killed, out of time, or finds a duplicate leaves no index', async (t) => {
  const node = await large()
  const refused = async (expected: Document) => {
    t.match(await node.run({ ...unique, maxTimeMS: 500 }), { ok: 0, ...expected })
    t.notOk(
      ((await node.ok({ listIndexes: 'c' }))['cursor'].firstBatch as Document[]).some(({ name }) => name === 'b_1'),
    )
  }
  inTurn(node, 2, async () => {
    const { inprog } = (await node.ok({ currentOp: 1, 'command.createIndexes': 'c' }, { db: 'admin' })) as {
      inprog: Document[]
    }
    await node.ok({ killOp: 1, op: Number(String(inprog[0]!['opid']).split(':')[1]) }, { db: 'admin' })
  })
  await refused(interrupted)
  inTurn(node, 2, async () => void (node.context.nowMs += 1000))
  await refused({ code: 50 })
  inTurn(node, 2, () => node.ok({ insert: 'c', documents: [{ b: 19_999 }] }))
  await refused({ code: 11000, errmsg: /^Index build failed: .* :: caused by :: E11000 / })
  await node.ok({ delete: 'c', deletes: [{ q: { b: 19_999 }, limit: 1 }] })
  inTurn(node, 2, async () => {
    await node.ok({ drop: 'c' })
    await node.ok({ insert: 'c', documents: [{ b: 1 }] })
  })
  await refused({ code: 276, codeName: 'IndexBuildAborted' })
  t.same(await checkedIndexes(node), [1, { _id_: 1 }])
})

t.test('the first read after many inserts adds the keys of the indexes over several turns', async (t) => {
  const reads: Record<string, Document> = {
    find: { find: 'c', filter: { b: { $gte: 19_990 } }, sort: { b: 1 } },
    count: { count: 'c', query: { b: { $gte: 19_990 } } },
    distinct: { distinct: 'c', key: 'b', query: { b: { $gte: 19_990 } } },
    aggregate: { aggregate: 'c', pipeline: [{ $match: { b: { $gte: 19_990 } } }, { $sort: { b: 1 } }], cursor: {} },
  }
  for (const [name, read] of Object.entries(reads)) {
    const node = new NodeUnderTest()
    await node.ok({ createIndexes: 'c', indexes: [{ key: { b: 1 }, name: 'b_1' }] })
    for (let from = 0; from < 40_000; from += 10_000) {
      const documents = Array.from({ length: 10_000 }, (_, i) => ({ _id: from + i, b: (from + i) >> 1 }))
      await node.ok({ insert: 'c', documents })
    }
    const { turns } = node.context
    inTurn(node, 3, () => node.ok({ delete: 'c', deletes: [{ q: { _id: 39_990 }, limit: 1 }] }))
    const reply = await node.ok(read)
    t.ok(node.context.turns - turns >= 80_000 / 4096 - 1, `${name}: ${node.context.turns - turns} turns`)
    t.equal(reply['n'] ?? (reply['values'] ?? reply['cursor'].firstBatch).length, name === 'distinct' ? 10 : 19, name)
    const after = node.context.turns
    await node.ok(read)
    t.equal(node.context.turns, after, name)
    await checkedIndexes(node)
  }
})

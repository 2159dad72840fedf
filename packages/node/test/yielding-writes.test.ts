/** Writes that give up their turn after every document, with other commands in these turns. */
import fc from 'fast-check'
import t from 'tap'
import { CommandError, Long, type Document } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import type { NodeRole } from '../src/index.js'
import { NodeUnderTest, session } from './support/harness.js'
import { inTurn, yieldAfter, yielding } from './support/yielding.js'

const all = { b: { $lte: 0 } }
const updateAll = { update: 'c', updates: [{ q: all, u: { $inc: { n: 1 } }, multi: true }] }
const deleteAll = { delete: 'c', deletes: [{ q: all, limit: 0 }] }
const writes: Record<string, Document> = {
  'update many': updateAll,
  'delete many': deleteAll,
  'update one': { update: 'c', updates: [{ q: { b: -49 }, u: { $set: { n: 1 } } }] },
  'delete one': { delete: 'c', deletes: [{ q: { b: -49 }, limit: 1 }] },
  findAndModify: { findAndModify: 'c', query: { b: -49 }, update: { $set: { n: 1 } } },
  upsert: { update: 'c', updates: [{ q: { b: 1 }, u: { $set: { n: 1 } }, upsert: true }] },
  'insert many': { insert: 'd', documents: Array.from({ length: 50 }, (_, _id) => ({ _id })), ordered: false },
  'many updates': {
    update: 'c',
    updates: Array.from({ length: 50 }, (_, _id) => ({ q: { _id }, u: { $set: { n: 1 } } })),
  },
}

t.test('a long write gives up its turn, and killOp and maxTimeMS end it then', async (t) => {
  for (const [name, write] of Object.entries(writes)) {
    const node = await yielding(50)
    const { turns } = node.context
    await node.ok(write)
    const taken = node.context.turns - turns
    if (name === 'insert many') continue
    t.ok(taken >= 20, `${name}: ${taken} turns`)

    const killed = await yielding(50)
    inTurn(killed, 5, async () => {
      const [operation] = killed.node.operations
      await killed.ok({ killOp: 1, op: operation!.id }, { db: 'admin' })
    })
    t.match(await killed.run(write), { ok: 0, code: 11601, codeName: 'Interrupted' }, name)

    const slow = await yielding(50)
    inTurn(slow, 5, async () => void (slow.context.nowMs += 1000))
    t.match(await slow.run({ ...write, maxTimeMS: 500 }), { ok: 0, code: 50, codeName: 'MaxTimeMSExpired' }, name)
    t.equal(slow.node.operations.size, 0)
  }
})

t.test('a killed write keeps its changes, also after a restart', async (t) => {
  const node = await yielding(50)
  inTurn(node, 70, async () => {
    const [operation] = node.node.operations
    await node.ok({ killOp: 1, op: operation!.id }, { db: 'admin' })
  })
  t.match(await node.run(updateAll), { code: 11601 })
  const changed = (await node.all('c')).filter(({ n }) => n === 1).length
  t.ok(changed > 0 && changed < 50, `${changed} of 50`)
  t.equal((await node.restarted().all('c')).filter(({ n }) => n === 1).length, changed)
})

t.test('a write ends with its collection', async (t) => {
  for (const write of [updateAll, deleteAll]) {
    const node = await yielding(50)
    inTurn(node, 70, async () => {
      await node.ok({ drop: 'c' })
      await node.ok({ insert: 'c', documents: [{ _id: 0, b: 0 }] })
    })
    t.match(await node.run(write), {
      ok: 1,
      writeErrors: [{ code: 175, errmsg: /^collection dropped\. UUID [0-9a-f-]{36}$/ }],
    })
    t.same(await node.all('c'), [{ _id: 0, b: 0 }], 'the new collection is unchanged')
  }
})

t.test('an update of one document looks for another one when the first does not match any more', async (t) => {
  const node = await yielding(50)
  await node.ok({
    insert: 'c',
    documents: [
      { _id: 100, b: 7, text: 'first' },
      { _id: 101, b: 7 },
    ],
  })
  inTurn(node, 1, () => node.ok({ update: 'c', updates: [{ q: { _id: 100 }, u: { $set: { b: 8 } } }] }))
  await node.ok({ update: 'c', updates: [{ q: { b: 7 }, u: { $set: { n: 1 } } }] })
  const { firstBatch } = (await node.ok({ find: 'c', filter: { _id: { $gte: 100 } } }))['cursor'] as {
    firstBatch: Document[]
  }
  t.same(firstBatch, [
    { _id: 100, b: 8, text: 'first' },
    { _id: 101, b: 7, n: 1 },
  ])
})

t.test('a repetition that runs in the yields of a retryable write executes it once', async (t) => {
  for (const [name, write] of [
    ['update', { update: 'c', updates: [{ q: { b: -49 }, u: { $inc: { n: 1 } } }] }],
    ['findAndModify', { findAndModify: 'c', query: { b: -49 }, update: { $inc: { n: 1 } } }],
    ['upsert', { update: 'c', updates: [{ q: { b: 1 }, u: { $inc: { n: 1 } }, upsert: true }] }],
  ] as const) {
    const node = await yielding(50)
    const command = { ...write, lsid: session(1), txnNumber: Long.fromNumber(1) }
    const replies: Document[] = []
    inTurn(node, 5, async () => void replies.push(await node.run(command)))
    replies.push(await node.run(command))
    t.match(replies[0], { ok: 1 }, name)
    t.match(replies[1], name === 'findAndModify' ? { ok: 1, retriedStmtId: 0 } : { ok: 1, retriedStmtIds: [0] }, name)
    t.same(
      (await node.all('c')).filter(({ n }) => n !== undefined).map(({ n }) => n),
      [1],
      name,
    )
  }
})

t.test('a newer write of the session ends one that has given up its turn', async (t) => {
  const node = await yielding(50)
  const write = { update: 'c', updates: [{ q: { b: -49 }, u: { $inc: { n: 1 } } }], lsid: session(1) }
  inTurn(node, 5, () =>
    node.ok({ insert: 'd', documents: [{ _id: 1 }], lsid: session(1), txnNumber: Long.fromNumber(2) }),
  )
  t.match(await node.run({ ...write, txnNumber: Long.fromNumber(1) }), { ok: 0, code: 225 })
  t.same(
    (await node.all('c')).filter(({ n }) => n !== undefined),
    [],
  )
})

t.test(
  'a placement that changes in its yields ends an update of many documents, and others are sent again',
  async (t) => {
    const staleConfig = new CommandError('StaleConfig', 'the placement has changed')
    const [multi, single] = [updateAll, writes['update one']!]
    for (const [write, turn, code] of [
      [multi, 70, 175],
      [multi, 5, 13388],
      [single, 5, 13388],
      [deleteAll, 70, 13388],
    ] as const) {
      let isStale = false
      const role: NodeRole = {
        name: 'shard',
        setName: 'shard01',
        memberName: 'shard01',
        rows: [],
        enter() {
          if (isStale) throw staleConfig
          return { ownership: null }
        },
        checkReplacement: () => {},
        checkImplicitCreate: () => {},
      }
      const node = await yielding(50, '7.0', role)
      inTurn(node, turn, async () => void (isStale = true))
      t.match(await node.run(write), { ok: 1, writeErrors: [{ code }] }, JSON.stringify(write))
    }
  },
)

interface Change {
  readonly id: number
  readonly a: number
  readonly remove: boolean
}

t.test('with writes in its yields, an update of many documents changes each matching one once', async (t) => {
  const change = fc.record({
    id: fc.integer({ min: 0, max: 30 }),
    a: fc.integer({ min: 0, max: 6 }),
    remove: fc.boolean(),
  })
  await check(
    fc.asyncProperty(
      fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { minLength: 1 }),
      fc.array(change, { maxLength: 40 }),
      fc.boolean(),
      async (ids, changes, indexed) => {
        const node = new NodeUnderTest()
        await node.ok({ insert: 'c', documents: ids.map((_id) => ({ _id, a: _id % 7, n: 0 })) })
        if (indexed) await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
        await yieldAfter(node, 1)
        const left: Change[] = [...changes]
        const touched = new Set<number>()
        node.context.betweenTurns = async () => {
          const next = left.shift()
          if (next === undefined) return
          touched.add(next.id)
          await node.ok(
            next.remove
              ? { delete: 'c', deletes: [{ q: { _id: next.id }, limit: 1 }] }
              : { update: 'c', updates: [{ q: { _id: next.id }, u: { $set: { a: next.a } }, upsert: true }] },
          )
        }
        const reply = await node.ok({
          update: 'c',
          updates: [{ q: { a: { $gte: 2 } }, u: { $inc: { n: 1 } }, multi: true }],
        })
        node.context.betweenTurns = null
        const after = await node.all('c')
        return (
          reply['n'] === reply['nModified'] &&
          after.every(({ _id, a, n = 0 }) => {
            if (!touched.has(_id as unknown as number)) return n === ((a as number) >= 2 ? 1 : 0)
            return n === 0 || n === 1
          })
        )
      },
    ),
    300,
  )
  t.pass()
})

/**
 * Operations that give up their turn. The parameter internalQueryExecYieldIterations makes them do
 * it after every document, and the context of the test runs other commands in these turns.
 */
import fc from 'fast-check'
import t from 'tap'
import { encode, decode, type Document, type Long } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import { NodeUnderTest } from './support/harness.js'
import { inTurn, yieldAfter, yielding } from './support/yielding.js'

const group = { aggregate: 'c', pipeline: [{ $group: { _id: '$b', n: { $sum: 1 } } }], cursor: {} }
const self = {
  aggregate: 'c',
  pipeline: [{ $lookup: { from: 'c', localField: 'a', foreignField: 'a', as: 'same' } }, { $count: 'n' }],
  cursor: {},
}
const reads: Record<string, Document> = {
  find: { find: 'c', filter: { b: { $lte: 0 } }, batchSize: 1000 },
  'find one': { find: 'c', filter: { b: 1 }, limit: 1 },
  'index scan': { find: 'c', filter: { a: { $in: [1, 3, 5] }, b: 1 }, limit: 1 },
  sort: { find: 'c', sort: { b: 1 }, batchSize: 1000 },
  count: { count: 'c', query: { b: { $lte: 0 } } },
  distinct: { distinct: 'c', key: 'b', query: { b: { $lte: 0 } } },
  group,
  lookup: self,
}

t.test(
  'a long read gives up its turn, and killOp and maxTimeMS end it then; D721: its plan is not shown',
  async (t) => {
    for (const [name, read] of Object.entries(reads)) {
      const node = await yielding(50)
      const { turns } = node.context
      await node.ok(read)
      t.ok(node.context.turns - turns >= 20, `${name}: ${node.context.turns - turns} turns`)

      let shown: Document | undefined
      inTurn(node, 5, async () => {
        const { inprog } = (await node.ok(
          { currentOp: 1, [`command.${Object.keys(read)[0]}`]: 'c' },
          { db: 'admin' },
        )) as {
          inprog: Document[]
        }
        shown = inprog[0]
        const id = Number(String(shown!['opid']).split(':')[1])
        await node.ok({ killOp: 1, op: id }, { db: 'admin' })
      })
      t.match(await node.run(read), { ok: 0, code: 11601, codeName: 'Interrupted' }, name)
      t.match(shown, { numYields: 5, locks: {}, waitingForLock: false }, `${name}: currentOp shows its yields`)
      for (const field of ['planSummary', 'cursor']) t.notOk(field in shown!, `${name}: ${field}`)
      t.equal(node.context.betweenTurns, null)

      inTurn(node, 5, async () => void (node.context.nowMs += 1000))
      t.match(await node.run({ ...read, maxTimeMS: 500 }), { ok: 0, code: 50, codeName: 'MaxTimeMSExpired' }, name)
      t.equal(node.node.operations.size, 0)
    }
  },
)

t.test('a read gives up its turn when its time is over, however few documents it has read', async (t) => {
  const node = await yielding(500)
  await yieldAfter(node, 1_000_000)
  const { turns } = node.context
  await node.ok(reads['count']!)
  t.equal(node.context.turns, turns, 'no time has passed')
  let nowMs = node.context.nowMs
  node.context.now = () => (nowMs += 20)
  await node.ok(reads['count']!)
  t.ok(node.context.turns - turns >= 500 / 64 - 1)
})

for (const version of ['4.4', '7.0', '8.0'] as const)
  t.test(`${version}: a read ends with its collection and with an index that it scans`, async (t) => {
    const killed = (errmsg: RegExp) => ({ ok: 0, code: 175, codeName: 'QueryPlanKilled', errmsg })
    for (const [name, read] of Object.entries(reads)) {
      const after = async (meanwhile: (node: NodeUnderTest) => Promise<unknown>) => {
        const node = await yielding(50, version)
        inTurn(node, 5, () => meanwhile(node))
        return node.run(read)
      }
      t.match(await after((node) => node.ok({ drop: 'c' })), killed(/collection dropped\. UUID [0-9a-f-]{36}$/), name)
      t.match(
        await after((node) => node.ok({ renameCollection: 'test.c', to: 'test.d' }, { db: 'admin' })),
        killed(/collection renamed from 'test\.c' to 'test\.d'\. UUID [0-9a-f-]{36}$/),
        name,
      )
      const dropped = await after((node) => node.ok({ dropIndexes: 'c', index: 'a_1' }))
      if (name === 'index scan') t.match(dropped, killed(/index 'a_1' dropped$/), name)
      else t.match(dropped, { ok: 1 }, name)
    }
  })

t.test('2.6 and 4.0: a read ends when its collection is dropped', async (t) => {
  for (const version of ['2.6', '4.0'] as const)
    for (const name of ['find', 'count', 'distinct', 'group']) {
      const node = await yielding(50, version)
      inTurn(node, 5, () => node.ok({ drop: 'c' }))
      t.match(await node.run(reads[name]!), { ok: 0, code: version === '4.0' ? 175 : 16950 }, `${version} ${name}`)
    }
})

t.test('a getMore that has given up its turn keeps its cursor in use, and killCursors ends it', async (t) => {
  const node = await yielding(50)
  const open = async () =>
    ((await node.ok({ find: 'c', filter: { b: { $lte: 0 } }, batchSize: 2 }))['cursor'] as { id: Long }).id
  const getMore = (id: Long) => ({ getMore: id, collection: 'c', batchSize: 100 })
  const id = await open()
  let meanwhile: Document | undefined
  inTurn(node, 3, async () => void (meanwhile = await node.run(getMore(id))))
  t.match(await node.run(getMore(id)), { ok: 1, cursor: { nextBatch: { length: 48 } } })
  t.match(meanwhile, { ok: 0, code: 143, codeName: 'CursorInUse' })
  const other = await open()
  inTurn(node, 3, () => node.ok({ killCursors: 'c', cursors: [other] }))
  t.match(await node.run(getMore(other)), { ok: 0, code: 237, codeName: 'CursorKilled' })
  t.equal(node.node.cursors.size, 0)
})

type Change = { readonly kind: 'insert' | 'update' | 'delete'; readonly id: number; readonly value: number }

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('insert', 'update', 'delete'),
  id: fc.integer({ min: 0, max: 40 }),
  value: fc.integer({ min: 0, max: 6 }),
})

/** What the commands of a change do to the documents. */
function changed(documents: ReadonlyMap<number, Document>, { kind, id, value }: Change): Map<number, Document> {
  const after = new Map(documents)
  const before = after.get(id)
  if (kind === 'insert' && before === undefined) after.set(id, { _id: id, a: value, b: -id })
  if (kind === 'update' && before !== undefined) after.set(id, { ...before, a: value })
  if (kind === 'delete') after.delete(id)
  return after
}

const commandOf = ({ kind, id, value }: Change): Document =>
  kind === 'insert'
    ? { insert: 'c', documents: [{ _id: id, a: value, b: -id }] }
    : kind === 'update'
      ? { update: 'c', updates: [{ q: { _id: id }, u: { $set: { a: value } } }] }
      : { delete: 'c', deletes: [{ q: { _id: id }, limit: 1 }] }

const batchOf = (reply: Document): Document[] => (reply['cursor'] as { firstBatch: Document[] }).firstBatch
const inOrder = (values: unknown[]): string => JSON.stringify(values.map((value) => JSON.stringify(value)).toSorted())

/** A read, and its result on a state of the collection. Both as texts. */
const serialReads: readonly {
  readonly command: Document
  readonly result: (reply: Document) => string
  readonly expected: (documents: readonly Document[]) => string
}[] = [
  {
    command: { find: 'c', filter: { a: { $gte: 2 } }, batchSize: 1000 },
    result: (reply) => inOrder(batchOf(reply)),
    expected: (documents) => inOrder(documents.filter(({ a }) => a >= 2)),
  },
  {
    command: { find: 'c', filter: { b: { $lte: 0 } }, sort: { a: 1, _id: 1 }, batchSize: 1000 },
    result: (reply) => JSON.stringify(batchOf(reply)),
    expected: (documents) =>
      JSON.stringify(documents.toSorted((x, y) => (x['a'] as number) - y['a'] || (x['_id'] as number) - y['_id'])),
  },
  {
    command: { count: 'c', query: { a: { $gte: 2 }, b: { $lte: 0 } } },
    result: ({ n }) => String(n),
    expected: (documents) => String(documents.filter(({ a }) => a >= 2).length),
  },
  {
    command: { distinct: 'c', key: 'a', query: { b: { $lte: 0 } } },
    result: ({ values }) => inOrder(values as number[]),
    expected: (documents) => inOrder([...new Set(documents.map(({ a }) => a as number))]),
  },
  {
    command: { aggregate: 'c', pipeline: [{ $group: { _id: '$a', n: { $sum: 1 } } }], cursor: {} },
    result: (reply) => inOrder(batchOf(reply)),
    expected: (documents) => {
      const counts = new Map<number, number>()
      for (const { a } of documents) counts.set(a as number, (counts.get(a as number) ?? 0) + 1)
      return inOrder([...counts].map(([_id, n]) => ({ _id, n })))
    },
  },
]

t.test(
  'with a yield at every document and writes in the yields, a read returns one state of the collection',
  async (t) => {
    await check(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 0, max: 40 })),
        fc.array(change, { maxLength: 40 }),
        fc.nat(serialReads.length - 1),
        fc.boolean(),
        async (ids, changes, which, indexed) => {
          const node = new NodeUnderTest()
          let documents = new Map<number, Document>(ids.map((_id) => [_id, { _id, a: _id % 7, b: -_id }]))
          if (ids.length > 0) await node.ok({ insert: 'c', documents: [...documents.values()] })
          else await node.ok({ create: 'c' })
          if (indexed) await node.ok({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1' }] })
          await yieldAfter(node, 1)
          const states = [documents]
          const left = [...changes]
          node.context.betweenTurns = async () => {
            const next = left.shift()
            if (next === undefined) return
            await node.run(commandOf(next))
            states.push((documents = changed(documents, next)))
          }
          const { command, result, expected } = serialReads[which]!
          const reply = decode(encode(await node.ok(command)))
          node.context.betweenTurns = null
          const got = result(reply)
          return states.some((state) => expected([...state.values()]) === got)
        },
      ),
      300,
    )
    t.pass()
  },
)

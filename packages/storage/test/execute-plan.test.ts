import t from 'tap'
import { decode, type Document } from '@shardlab/bson'
import { createMemoryEngine, executePlan } from '../src/index.js'
import { collectionOf, hundred } from './support/collection.js'
import { applyAll, createIndexOf, createOf, insertOf } from './support/log.js'
import { errorOf, find, planOf, run, type PlainQuery } from './support/query.js'

t.test('rows with equal sort keys keep their order', async (t) => {
  const collection = collectionOf(
    Array.from({ length: 50 }, (_, i) => ({ a: i < 10 ? 2 : 1 })),
    [],
  )
  t.same(
    find(collection, {}, { sort: { a: 1 }, limit: 5 }).map(({ _id }) => _id),
    [10, 11, 12, 13, 14],
  )
  t.same(
    find(collection, {}, { sort: { a: 1 } })
      .map(({ _id }) => _id)
      .slice(0, 5),
    [10, 11, 12, 13, 14],
  )
})

t.test('statistics count examined keys and documents, and returned rows', async (t) => {
  const collection = collectionOf(hundred, [[{ a: 1, b: 1 }]])
  const statsOf = (wanted: Document, query: PlainQuery = {}): unknown => {
    const executor = executePlan(planOf(collection, wanted, query))
    while (executor.next() !== null);
    const { keysExamined, docsExamined, returned } = executor.stats
    return [keysExamined, docsExamined, returned]
  }
  t.same(statsOf({ _id: 5 }), [1, 1, 1])
  t.same(statsOf({ _id: 500 }), [0, 0, 0])
  t.same(statsOf({ a: 5 }), [10, 10, 10])
  t.same(statsOf({ a: 5, b: { $lte: 25 } }), [3, 3, 3])
  t.same(statsOf({ a: 5, b: { $gt: 85 } }), [1, 1, 1])
  t.same(statsOf({ a: { $gt: 8 } }), [10, 10, 10])
  t.same(statsOf({ a: { $in: [1, 2] }, b: { $lt: 20 } }), [6, 4, 4], 'a key out of bounds is examined too')
  t.same(statsOf({ a: 5, c: 'x0' }), [10, 10, 3])
  t.same(statsOf({ a: 5 }, { limit: 2 }), [2, 2, 2])
  t.same(statsOf({ c: 'x0' }), [0, 100, 34])
  t.same(statsOf({ a: { $gt: 5, $lt: 3 } }), [0, 0, 0])
})

t.test('the row filter applies before sort and limit', async (t) => {
  const collection = collectionOf(hundred, [])
  const mine = (document: Uint8Array): boolean => (decode(document).b as number) % 2 === 0
  t.same(
    find(collection, {}, { sort: { b: -1 }, limit: 3 }, { rowFilter: mine }).map(({ b }) => b),
    [98, 96, 94],
  )
  t.same(find(collection, { _id: 5 }, {}, { rowFilter: mine }), [])
  const executor = executePlan(planOf(collection, {}), { rowFilter: mine })
  while (executor.next() !== null);
  t.equal(executor.stats.rowsFiltered, 50)
})

t.test('D303 a sort fails beyond its memory limit unless it may use the disk', async (t) => {
  const collection = collectionOf(hundred, [])
  const small = { sortMemoryBytes: 1000 }
  t.same(
    errorOf(() => find(collection, {}, { sort: { c: 1 } }, small)),
    {
      code: 292,
      codeName: 'QueryExceededMemoryLimitNoDiskUseAllowed',
      message: 'Sort exceeded memory limit of 1000 bytes, but did not opt in to external sorting.',
      extra: null,
    },
  )
  t.equal(find(collection, {}, { sort: { c: 1 } }, { ...small, allowDiskUse: true }).length, 100)
  const executor = executePlan(planOf(collection, {}, { sort: { c: 1 } }), { ...small, allowDiskUse: true })
  while (executor.next() !== null) continue
  t.same(executor.root.counters().slice(1), [
    ['usedDisk', true],
    ['spills', 1],
    ['spilledDataStorageSize', 3800],
  ])
  t.same(
    find(collection, {}, { sort: { b: -1 }, limit: 2, skip: 1 }, small).map(({ b }) => b),
    [98, 97],
    'with a limit, a sort keeps only that many rows',
  )
})

t.test('rows are projected, and the end repeats', async (t) => {
  const collection = collectionOf(hundred, [])
  const plan = planOf(collection, { b: { $lt: 2 } }, { projection: { b: 1, _id: 0 } })
  t.same(run(plan), [{ b: 0 }, { b: 1 }])
  const executor = executePlan(plan)
  executor.next()
  executor.next()
  t.equal(executor.next(), null)
  t.equal(executor.next(), null)
})

t.test('a cursor on a snapshot is not affected by changes of the collection', async (t) => {
  const engine = createMemoryEngine()
  applyAll(engine, [
    createOf('db.c'),
    createIndexOf('db.c', { a: 1 }),
    ...hundred.map((document, i) => insertOf('db.c', { _id: i, ...document })),
  ])
  const executor = executePlan(planOf(engine.collection('db.c')!.snapshot(), { a: { $gte: 0 } }))
  const seen = new Set<unknown>()
  for (let row = executor.next(), i = 0; row !== null; row = executor.next(), i++) {
    seen.add(decode(row.document)._id)
    engine.apply(insertOf('db.c', { _id: 1000 + i, a: 9 }))
  }
  t.equal(seen.size, 100)
  t.equal(engine.collection('db.c')!.count, 200)
})

import fc from 'fast-check'
import t from 'tap'
import { decode, encode, encodeKeyString, findField, type Document } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import {
  executePlan,
  planCount,
  planDistinct,
  planQuery,
  stagesOf,
  type Collection,
  type QueryPlan,
} from '../src/index.js'
import { check } from '@shardlab/bson/testing'
import { collectionOf, hundred } from './support/collection.js'
import { fields, filter, scalar } from './support/documents.js'
import { context, errorOf, find, planOf, requestOf, run, runCount, type PlainQuery } from './support/query.js'

const stages = (plan: QueryPlan): string[] => [...stagesOf(plan.root)].map(({ stage }) => stage)

const ascending = (path: string) => ({ path, direction: 1 }) as const

const mine = {
  pattern: [ascending('b')],
  hashesCover: true,
  owns: (document: Uint8Array): boolean => (findField(document, 'b')?.asNumber() ?? 0) % 2 === 0,
}

t.test('an index that has all fields covers the query', async (t) => {
  const collection = collectionOf(
    [...hundred, { a: 5 }],
    [
      [{ a: 1, b: 1 }],
      [{ 'd.e': 1, 'd.f': 1 }],
      [{ g: 1 }],
      [{ h: 'hashed' }],
      [{ c: 1 }, { collation: { locale: 'en' } }],
    ],
  )
  const cases: [filter: Document, query: PlainQuery, stages: string[]][] = [
    [{ a: 5 }, { projection: { a: 1, b: 1, _id: 0 } }, ['PROJECTION_COVERED', 'IXSCAN']],
    [{ a: 5, b: { $gt: 50 } }, { projection: { b: 1, _id: 0 } }, ['PROJECTION_COVERED', 'IXSCAN']],
    [{ a: 5 }, { projection: { a: 1 } }, ['PROJECTION_SIMPLE', 'FETCH', 'IXSCAN']],
    [{ a: 5 }, { projection: { a: 1, c: 1, _id: 0 } }, ['PROJECTION_SIMPLE', 'FETCH', 'IXSCAN']],
    [{ a: 5 }, { projection: { a: 0 } }, ['PROJECTION_SIMPLE', 'FETCH', 'IXSCAN']],
    [{ a: 5, c: 'x1' }, { projection: { a: 1, _id: 0 } }, ['PROJECTION_SIMPLE', 'FETCH', 'IXSCAN']],
    [{ 'd.e': 1 }, { projection: { 'd.f': 1, _id: 0 } }, ['PROJECTION_DEFAULT', 'IXSCAN']],
    [{ h: 5 }, { projection: { h: 1, _id: 0 } }, ['PROJECTION_SIMPLE', 'FETCH', 'IXSCAN']],
    [{ _id: { $gt: 5 } }, { projection: { _id: 1 } }, ['PROJECTION_COVERED', 'IXSCAN']],
    [{ _id: 5 }, { projection: { _id: 1 } }, ['PROJECTION_SIMPLE', 'IDHACK']],
    [{}, { projection: { b: 1, a: 1, _id: 0 } }, ['PROJECTION_SIMPLE', 'COLLSCAN']],
    [{}, { projection: { x: 1 } }, ['PROJECTION_SIMPLE', 'COLLSCAN']],
    [{ a: 5 }, { projection: { a: { $add: ['$a', 1] }, _id: 0 } }, ['PROJECTION_DEFAULT', 'FETCH', 'IXSCAN']],
    [{ a: 5 }, { projection: {} }, ['FETCH', 'IXSCAN']],
    [
      { a: { $gt: 3 } },
      { projection: { a: 1, b: 1, _id: 0 }, sort: { b: 1 } },
      ['SORT', 'PROJECTION_COVERED', 'IXSCAN'],
    ],
    [
      { a: { $gt: 3 } },
      { projection: { b: 1, _id: 0 }, sort: { b: 1 }, limit: 5 },
      ['PROJECTION_COVERED', 'SORT', 'IXSCAN'],
    ],
    [{ x: 1 }, { projection: { b: 1 }, sort: { b: 1 }, skip: 2 }, ['SKIP', 'SORT', 'PROJECTION_SIMPLE', 'COLLSCAN']],
    [{ x: 1 }, { projection: { c: 1 }, sort: { b: 1 } }, ['PROJECTION_SIMPLE', 'SORT', 'COLLSCAN']],
    [
      { c: 'x1' },
      { projection: { c: 1, _id: 0 }, collation: { locale: 'en' } },
      ['PROJECTION_SIMPLE', 'FETCH', 'IXSCAN'],
    ],
    [
      { a: 5 },
      { shardFilter: mine, projection: { a: 1, _id: 0 } },
      ['PROJECTION_COVERED', 'SHARDING_FILTER', 'IXSCAN'],
    ],
    [
      { a: 5 },
      { shardFilter: { ...mine, pattern: [ascending('z')] }, projection: { a: 1, _id: 0 } },
      ['PROJECTION_SIMPLE', 'SHARDING_FILTER', 'FETCH', 'IXSCAN'],
    ],
    [{ c: 'x1' }, { shardFilter: mine, limit: 3 }, ['LIMIT', 'SHARDING_FILTER', 'COLLSCAN']],
    [{ _id: 5 }, { shardFilter: mine }, ['SHARDING_FILTER', 'IDHACK']],
  ]
  for (const [wanted, query, expected] of cases)
    t.same(stages(planOf(collection, wanted, query)), expected, JSON.stringify([wanted, query]))
  t.same(find(collection, { a: 5, b: { $lt: 20 } }, { projection: { b: 1, a: 1, _id: 0 } }), [
    { a: 5, b: 5 },
    { a: 5, b: 15 },
  ])
  t.same(
    find(collection, { a: 5 }, { projection: { b: 1, a: 1, _id: 0 } })[0],
    { a: 5, b: null },
    'missing fields are null, and fields are in the order of the index',
  )
  t.equal(find(collection, { a: 4 }, { shardFilter: mine }).length, 10)
  t.equal(find(collection, { a: 5 }, { shardFilter: { ...mine, owns: () => false } }).length, 0)
  const hashed = collectionOf(hundred, [[{ a: 1, b: 'hashed', c: 1 }]])
  const compound = { ...mine, pattern: [ascending('a'), { path: 'b', direction: 'hashed' } as const] }
  const covered = { shardFilter: compound, projection: { a: 1, _id: 0 } }
  t.same(
    stages(planOf(hashed, { a: 5 }, covered)),
    ['PROJECTION_COVERED', 'SHARDING_FILTER', 'IXSCAN'],
    'a hash in the index is enough for a hashed field of the shard key',
  )
  t.same(find(hashed, { a: 4 }, covered).length, 10)
  t.same(
    stages(planOf(hashed, { a: 5 }, { ...covered, shardFilter: { ...compound, hashesCover: false } })),
    ['PROJECTION_SIMPLE', 'SHARDING_FILTER', 'FETCH', 'IXSCAN'],
    'servers before 4.4 read the document',
  )
  t.same(
    stages(planOf(hashed, { a: 5 }, { ...covered, shardFilter: { ...compound, pattern: [ascending('b')] } })),
    ['PROJECTION_SIMPLE', 'SHARDING_FILTER', 'FETCH', 'IXSCAN'],
    'a shard key of values needs more than a hash',
  )
  t.same(
    stages(planOf(hashed, { a: 5, b: 5 }, covered)),
    ['PROJECTION_SIMPLE', 'SHARDING_FILTER', 'FETCH', 'IXSCAN'],
    'a predicate on the hashed field reads the document, because values may have the same hash',
  )
  t.same(
    stages(planOf(hashed, { a: 5 }, { ...covered, projection: { b: 1, _id: 0 } })),
    ['PROJECTION_SIMPLE', 'FETCH', 'SHARDING_FILTER', 'IXSCAN'],
    'a projected hashed field is read from the document',
  )
  const arrays = collectionOf([{ a: [1, 2], b: 1 }], [[{ a: 1, b: 1 }]])
  t.same(stages(planOf(arrays, { a: 1 }, { projection: { a: 1, _id: 0 } })), ['PROJECTION_SIMPLE', 'FETCH', 'IXSCAN'])
  t.same(stages(planOf(arrays, { a: 1 }, { projection: { b: 1, _id: 0 } })), ['PROJECTION_COVERED', 'IXSCAN'])
})

t.test('covered rows have the values of the documents', async (t) => {
  let covered = 0
  const projections = fc.constantFrom<Document>(
    { b: 1, _id: 0 },
    { b: 1, c: 1, _id: 0 },
    { a: 1, _id: 0 },
    { 'a.b': 1, _id: 0 },
  )
  check(
    fc.property(fc.array(fields, { maxLength: 25 }), filter, projections, (documents, wanted, projection) => {
      let collection: Collection
      try {
        collection = collectionOf(documents, [[{ b: 1, c: 1 }], [{ a: 1 }], [{ 'a.b': 1, c: 1 }]])
      } catch {
        return true
      }
      const plan = planOf(collection, wanted, { projection })
      if (stages(plan).includes('FETCH') || stages(plan).includes('COLLSCAN')) return true
      covered++
      // Index keys have null for missing fields.
      const text = (row: Document): string =>
        JSON.stringify(row)
          .replaceAll(/"\w":null,?/g, '')
          .replaceAll(/"a":\{\},?/g, '')
          .replaceAll(',}', '}')
      const plain = find(collection, wanted, { projection, hint: { $natural: 1 } })
      return run(plan).map(text).sort().join() === plain.map(text).sort().join()
    }),
    2000,
  )
  t.ok(covered > 100, `${covered} plans were covered`)
})

t.test('min and max restrict a hinted index, or fail as on the server', async (t) => {
  const collection = collectionOf(hundred, [
    [{ a: 1, b: -1 }],
    [{ c: 1 }, { collation: { locale: 'en', strength: 2 } }],
  ])
  const ids = (wanted: Document, query: PlainQuery): unknown[] => find(collection, wanted, query).map(({ b }) => b)
  const hint = { a: 1, b: -1 }
  t.same(ids({}, { hint, min: { a: 9, b: 39 } }), [39, 29, 19, 9])
  t.same(ids({}, { hint, max: { a: 0, b: 70 } }), [90, 80])
  t.same(ids({}, { hint, min: { a: 0, b: 10 }, max: { a: 1, b: 71 } }), [10, 0, 91, 81])
  t.same(ids({ b: { $lt: 20 } }, { hint, min: { a: 9, b: 39 } }), [19, 9])
  t.same(ids({}, { hint, min: { a: 9, b: 39 }, sort: { a: -1, b: 1 } }), [9, 19, 29, 39])
  t.same(ids({}, { hint, min: { a: 9, b: 39 }, sort: { b: 1 }, limit: 2 }), [9, 19])
  t.same(stages(planOf(collection, {}, { hint, min: { a: 9, b: 39 } })), ['FETCH', 'IXSCAN'])
  const refused: [query: PlainQuery, code: number][] = [
    [{ min: { a: 1, b: 1 } }, 51173],
    [{ hint: { $natural: 1 }, min: { a: 1, b: 1 } }, 291],
    [{ hint, min: { a: 1 } }, 51174],
    [{ hint, min: { b: 1, a: 1 } }, 51174],
    [{ hint, min: { a: 5, b: 1 }, max: { a: 4, b: 1 } }, 51175],
    [{ hint, min: { a: 5, b: 1 }, max: { a: 5, b: 1 } }, 51175],
    [{ hint: { c: 1 }, min: { c: 'x1' } }, 51174],
  ]
  for (const [query, code] of refused)
    t.equal(errorOf(() => planOf(collection, {}, query)).code, code, JSON.stringify(query))
  t.match(
    errorOf(() => planOf(collection, {}, { min: { a: 1, b: 1 } })),
    {
      message:
        'error processing query: ns=db.cTree: $and\nSort: {}\nProj: {}\n planner returned error :: caused by :: When using min()/max() a hint of which index to use must be provided',
    },
  )
  t.equal(
    find(collection, {}, { hint: { c: 1 }, min: { c: 'X1' }, collation: { locale: 'en', strength: 2 } }).length,
    66,
  )
})

t.test('min and max return what a comparison of keys returns', async () => {
  check(
    fc.property(
      fc.array(fc.record({ b: scalar, c: scalar }), { maxLength: 30 }),
      scalar,
      scalar,
      (documents, low, high) => {
        const collection = collectionOf(documents, [[{ b: 1 }]])
        const keyOf = (value: unknown): string => encodeKeyString([findField(encode({ value }), 'value')])
        if (keyOf(low) >= keyOf(high)) return true
        const found = find(collection, {}, { hint: 'b_1', min: { b: low }, max: { b: high } })
        const expected = documents.filter(({ b }) => keyOf(b) >= keyOf(low) && keyOf(b) < keyOf(high))
        return found.length === expected.length
      },
    ),
    500,
  )
})

t.test('returnKey returns index keys', async (t) => {
  const collection = collectionOf([{ a: [3, 4], b: 'x' }, { a: 5 }], [[{ a: 1, b: -1 }]])
  t.same(find(collection, { a: { $gt: 3 } }, { returnKey: true }), [
    { a: 4, b: 'x' },
    { a: 5, b: null },
  ])
  t.same(find(collection, { b: 'x' }, { returnKey: true }), [{}])
  t.same(find(collection, { _id: 1 }, { returnKey: true, projection: { b: 1 } }), [{ _id: 1 }])
  t.same(find(collection, { a: { $gt: 0 } }, { returnKey: true, sort: { b: 1 } }), [
    { a: 5, b: null },
    { a: 3, b: 'x' },
  ])
  t.same(stages(planOf(collection, { a: 5 }, { returnKey: true })), ['RETURN_KEY', 'IXSCAN'])
  const anywhere = collectionOf([{ a: { b: 7 } }], [[{ '$**': 1 }]])
  t.same(find(anywhere, { 'a.b': 7 }, { returnKey: true }), [{ $_path: 'a.b', 'a.b': 7 }])
})

t.test('a count uses the cheapest plan', async (t) => {
  const collection = collectionOf(hundred, [[{ a: 1, b: 1 }], [{ tags: 1 }]])
  const count = (wanted: Document, query: PlainQuery = {}): [string[], number] => {
    const plan = planCount(collection, requestOf(wanted, query))
    return [stages(plan), runCount(plan)]
  }
  t.same(count({}), [['RECORD_STORE_FAST_COUNT'], 100])
  t.same(count({}, { skip: 95 }), [['RECORD_STORE_FAST_COUNT'], 5])
  t.same(count({}, { skip: 195, limit: 3 }), [['RECORD_STORE_FAST_COUNT'], 0])
  t.same(count({}, { limit: 7 }), [['RECORD_STORE_FAST_COUNT'], 7])
  t.same(count({ a: 5 }), [['COUNT', 'COUNT_SCAN'], 10])
  t.same(count({ a: { $gt: 7 } }), [['COUNT', 'COUNT_SCAN'], 20])
  t.same(count({ a: 5, b: { $lte: 25 } }), [['COUNT', 'COUNT_SCAN'], 3])
  t.same(count({ a: { $in: [1, 2] } }), [['COUNT', 'IXSCAN'], 20])
  t.same(count({ a: 5, c: 'x0' }), [['COUNT', 'FETCH', 'IXSCAN'], 3])
  t.same(count({ c: 'x0' }, { limit: 5, skip: 2 }), [['COUNT', 'COLLSCAN'], 5])
  t.same(count({ c: 'x0' }, { skip: 30 }), [['COUNT', 'COLLSCAN'], 4])
  t.same(count({}, { hint: { a: 1, b: 1 } }), [['COUNT', 'COUNT_SCAN'], 100])
  t.same(count({ a: 4 }, { shardFilter: { ...mine, owns: (document) => (decode(document).b as number) > 50 } }), [
    ['COUNT', 'SHARDING_FILTER', 'IXSCAN'],
    5,
  ])
  const arrays = collectionOf([{ a: [1, 2, 3] }, { a: 2 }], [[{ a: 1 }]])
  t.equal(runCount(planCount(arrays, requestOf({ a: { $gt: 0 } }))), 2, 'each document once')
})

t.test('a count is the number of rows', async () => {
  check(
    fc.property(fc.array(fields, { maxLength: 25 }), filter, (documents, wanted) => {
      const collection = collectionOf(documents, [[{ a: 1 }], [{ b: 1, c: -1 }]])
      const matcher = compileFilter(encode(wanted), context)
      const expected = [...collection.scan()].filter(({ document }) => matcher.matches(document)).length
      return runCount(planCount(collection, requestOf(wanted))) === expected
    }),
    1000,
  )
})

t.test('a distinct scans one key per value if the index allows it', async (t) => {
  const collection = collectionOf(hundred, [[{ a: 1, b: 1 }], [{ c: 1, a: 1 }]])
  const distinct = (key: string, wanted: Document = {}, query: PlainQuery = {}): [string[], number] => {
    const plan = planDistinct(collection, { ...requestOf(wanted, query), key })
    return [stages(plan), run(plan).length]
  }
  const covered = ['PROJECTION_COVERED', 'DISTINCT_SCAN']
  t.same(distinct('a'), [covered, 10])
  t.same(distinct('c'), [covered, 3])
  t.same(distinct('a', { a: { $gt: 6 } }), [covered, 3])
  t.same(distinct('a', { c: 'x1' }), [covered, 10])
  t.same(distinct('b', { a: { $gt: 6 } }), [['FETCH', 'IXSCAN'], 30])
  t.same(distinct('b'), [['COLLSCAN'], 100])
  t.same(distinct('a', { b: { $lt: 5 } })[1], 5)
  t.same(distinct('a', {}, { shardFilter: { ...mine, owns: (document) => (decode(document).b as number) >= 90 } }), [
    covered,
    10,
  ])
  const arrays = collectionOf([{ a: [1, 2] }], [[{ a: 1 }]])
  t.same(stages(planDistinct(arrays, { ...requestOf({}), key: 'a' })), ['COLLSCAN'])
})

t.test('D304 distinct values are those of a scan', async () => {
  check(
    fc.property(fc.array(fields, { maxLength: 25 }), filter, fc.constantFrom('b', 'c'), (documents, wanted, key) => {
      const collection = collectionOf(documents, [[{ b: 1, c: 1 }], [{ c: -1 }], [{ a: 1, c: 1 }]])
      const valuesOf = (plan: QueryPlan): string => {
        const keys = new Set<string>()
        const executor = executePlan(plan)
        for (let row = executor.next(); row !== null; row = executor.next()) {
          const found = findField(row.document, key)
          if (found !== undefined) keys.add(encodeKeyString([found]))
        }
        return [...keys].sort().join()
      }
      const plain = planQuery(collection, requestOf(wanted, { hint: { $natural: 1 } }))
      return valuesOf(planDistinct(collection, { ...requestOf(wanted), key })) === valuesOf(plain)
    }),
    1000,
  )
})

t.test('indexes count the operations that used them', async (t) => {
  const collection = collectionOf(hundred, [[{ a: 1 }], [{ b: 1 }]])
  const ops = (): number[] => collection.indexes().map(({ usage }) => usage.ops)
  find(collection, { a: 1 })
  find(collection, { $or: [{ a: 1 }, { b: 1 }, { a: 2, c: 'x' }] })
  find(collection, { _id: 1 })
  find(collection, { x: 1 })
  executePlan(planOf(collection.snapshot(), { b: 5 }))
  t.same(ops(), [1, 2, 2])
  t.equal(collection.index('a_1')!.usage.sinceMs, 1_700_000_000_000)
})

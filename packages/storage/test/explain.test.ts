import t from 'tap'
import { BsonType, decode, encode, findField, FieldIterator, MaxKey, MinKey, type Document } from '@shardlab/bson'
import { parseFilter } from '@shardlab/query'
import {
  describeExecution,
  describeFilter,
  describePlan,
  executePlan,
  planCount,
  planDistinct,
  planSummary,
} from '../src/index.js'
import { collectionOf, hundred } from './support/collection.js'
import { planOf, requestOf, runCount, type PlainQuery } from './support/query.js'

const collection = collectionOf(hundred, [
  [{ a: 1, b: -1 }],
  [{ b: 1 }],
  [{ c: 1 }, { collation: { locale: 'en', strength: 2 } }],
])

const winning = (wanted: Document, query: PlainQuery = {}): Document =>
  decode(describePlan(planOf(collection, wanted, query).root))

const executed = (wanted: Document, query: PlainQuery = {}): Document => {
  const executor = executePlan(planOf(collection, wanted, query))
  while (executor.next() !== null) continue
  return decode(describeExecution(executor.root))
}

const scanOfA = {
  stage: 'IXSCAN',
  keyPattern: { a: 1, b: -1 },
  indexName: 'a_1_b_-1',
  isMultiKey: false,
  multiKeyPaths: { a: [], b: [] },
  isUnique: false,
  isSparse: false,
  isPartial: false,
  indexVersion: 2,
  direction: 'forward',
}

t.test('plans are described as the server describes them', async (t) => {
  t.same(winning({ a: { $in: [5, 1] }, c: 'x' }, { limit: 3 }), {
    stage: 'LIMIT',
    limitAmount: 3,
    inputStage: {
      stage: 'FETCH',
      filter: { c: { $eq: 'x' } },
      inputStage: { ...scanOfA, indexBounds: { a: ['[1, 1]', '[5, 5]'], b: ['[MaxKey, MinKey]'] } },
    },
  })
  t.same(winning({ a: 5, b: { $gt: 3, $lte: 50 } }, { projection: { b: 1, _id: 0 } }), {
    stage: 'PROJECTION_COVERED',
    transformBy: { b: 1, _id: 0 },
    inputStage: { ...scanOfA, indexBounds: { a: ['[5, 5]'], b: ['[50, 3)'] } },
  })
  t.same(winning({ x: 1 }, { sort: { x: -1 }, skip: 2, limit: 5 }), {
    stage: 'SKIP',
    skipAmount: 2,
    inputStage: {
      stage: 'SORT',
      sortPattern: { x: -1 },
      memLimit: 104857600,
      limitAmount: 7,
      type: 'simple',
      inputStage: { stage: 'COLLSCAN', filter: { x: { $eq: 1 } }, direction: 'forward' },
    },
  })
  t.same(winning({ a: /^x.*y$/ }), {
    stage: 'FETCH',
    inputStage: {
      stage: 'IXSCAN',
      filter: { a: { $regex: '^x.*y$' } },
      ...without(scanOfA, 'stage'),
      indexBounds: { a: ['["x", "y")', '[/^x.*y$/, /^x.*y$/]'], b: ['[MaxKey, MinKey]'] },
    },
  })
  t.same(winning({ a: { $in: [1, 2] } }, { sort: { b: 1 } }), {
    stage: 'FETCH',
    inputStage: {
      stage: 'SORT_MERGE',
      sortPattern: { b: 1 },
      inputStages: [1, 2].map((a) => ({
        ...scanOfA,
        direction: 'backward',
        indexBounds: { a: [`[${a}, ${a}]`], b: ['[MinKey, MaxKey]'] },
      })),
    },
  })
  t.same(winning({ _id: 5 }), { stage: 'IDHACK' })
  t.same(winning({ $alwaysFalse: 1 }), { stage: 'EOF' })
  t.same(winning({}, { sort: { $natural: -1 } }), { stage: 'COLLSCAN', direction: 'backward' })
  t.same(winning({}, { hint: 'a_1_b_-1', min: { a: 5, b: 9 } })['inputStage'].indexBounds, {
    startKey: { a: 5, b: 9 },
    endKey: { a: new MaxKey(), b: new MinKey() },
  })
  const collated = winning({ c: 'X1' }, { collation: { locale: 'en', strength: 2 } })['inputStage']
  t.match(collated.collation, { locale: 'en', strength: 2 })
  t.match(collated.indexBounds.c[0], /^\[CollationKey\(0x[0-9a-f]+\), CollationKey\(0x[0-9a-f]+\)\]$/)
  const rejected = planOf(collection, { a: 5, b: 15 }).rejected.map(
    (plan) => decode(describePlan(plan))['inputStage'].indexName,
  )
  t.same(rejected, ['b_1'])
})

function without(document: Document, name: string): Document {
  const { [name]: _, ...rest } = document
  return rest
}

t.test('the branches of $or are described as inputs', async (t) => {
  t.match(winning({ $or: [{ a: 1, c: 'x' }, { b: 2 }] }), {
    stage: 'FETCH',
    inputStage: {
      stage: 'OR',
      inputStages: [
        { stage: 'FETCH', filter: { c: { $eq: 'x' } } },
        { stage: 'IXSCAN', indexName: 'b_1' },
      ],
    },
  })
})

const common = (nReturned: number, works: number): Document => ({
  nReturned,
  executionTimeMillisEstimate: 0,
  works,
  advanced: nReturned,
  needTime: works - nReturned - 1,
  needYield: 0,
  saveState: 0,
  restoreState: 0,
  isEOF: 1,
})

t.test('runs are described with the counters of each stage', async (t) => {
  t.same(executed({ c: 'x1' }), {
    stage: 'COLLSCAN',
    filter: { c: { $eq: 'x1' } },
    ...common(33, 101),
    direction: 'forward',
    docsExamined: 100,
  })
  t.same(executed({ a: 5, c: 'x1' }), {
    stage: 'FETCH',
    filter: { c: { $eq: 'x1' } },
    ...common(3, 11),
    docsExamined: 10,
    alreadyHasObj: 0,
    inputStage: {
      stage: 'IXSCAN',
      ...common(10, 11),
      ...without(scanOfA, 'stage'),
      indexBounds: { a: ['[5, 5]'], b: ['[MaxKey, MinKey]'] },
      keysExamined: 10,
      seeks: 1,
      dupsTested: 0,
      dupsDropped: 0,
    },
  })
  t.match(executed({ c: 'x1' }, { sort: { x: -1 } }), {
    stage: 'SORT',
    ...common(33, 135),
    sortPattern: { x: -1 },
    memLimit: 104857600,
    type: 'simple',
    totalDataSizeSorted: 33 * 38,
    usedDisk: false,
    spills: 0,
    spilledDataStorageSize: 0,
  })
  t.same(executed({ _id: 5 }), { stage: 'IDHACK', ...common(1, 2), keysExamined: 1, docsExamined: 1 })
  t.same(executed({ _id: 500 }), { stage: 'IDHACK', ...common(0, 1), keysExamined: 0, docsExamined: 0 })
  const shardFilter = {
    pattern: [{ path: 'z', direction: 1 as const }],
    hashesCover: true,
    owns: (document: Uint8Array) => decode(document)['b'] > 50,
  }
  t.match(executed({ c: 'x1' }, { shardFilter }), {
    stage: 'SHARDING_FILTER',
    nReturned: 16,
    chunkSkips: 17,
    inputStage: { stage: 'COLLSCAN', nReturned: 33 },
  })
})

t.test('counts and distinct values have plans of their own', async (t) => {
  const plan = planCount(collection, requestOf({ a: { $gte: 8 } }))
  t.same(decode(describePlan(plan.root)), {
    stage: 'COUNT',
    inputStage: {
      ...without(without(scanOfA, 'direction'), 'stage'),
      stage: 'COUNT_SCAN',
      indexBounds: {
        startKey: { a: 8, b: new MaxKey() },
        startKeyInclusive: true,
        endKey: { a: Infinity, b: new MinKey() },
        endKeyInclusive: true,
      },
    },
  })
  const executor = executePlan(plan)
  while (executor.next() !== null) continue
  t.match(decode(describeExecution(executor.root)), {
    nCounted: 20,
    nSkipped: 0,
    inputStage: { stage: 'COUNT_SCAN', keysExamined: 21 },
  })
  t.equal(runCount(plan), 20)
  t.same(decode(describePlan(planCount(collection, requestOf({})).root)), { stage: 'RECORD_STORE_FAST_COUNT' })
  t.match(decode(describePlan(planDistinct(collection, { ...requestOf({}), key: 'a' }).root)), {
    stage: 'PROJECTION_COVERED',
    transformBy: { _id: 0, a: 1 },
    inputStage: { ...scanOfA, stage: 'DISTINCT_SCAN' },
  })
})

t.test('8.0 shows isCached and EXPRESS_IXSCAN', async (t) => {
  const style = { express: 'id', isCached: true } as const
  t.same(decode(describePlan(planOf(collection, { _id: 5 }).root, style)), {
    isCached: false,
    stage: 'EXPRESS_IXSCAN',
    keyPattern: '{ _id: 1 }',
    indexName: '_id_',
  })
  const executor = executePlan(planOf(collection, { _id: 5 }, { projection: { a: 1 } }))
  while (executor.next() !== null) continue
  t.same(Object.keys(decode(describeExecution(executor.root, style))), [
    'isCached',
    'stage',
    'keyPattern',
    'indexName',
    'projection',
    'projectionCovered',
    'keysExamined',
    'docsExamined',
    'nReturned',
  ])
  t.same(Object.keys(decode(describePlan(planOf(collection, { a: 5 }).root, style))), [
    'isCached',
    'stage',
    'inputStage',
  ])
  t.equal(planSummary(planOf(collection, { _id: 5 }), style), 'EXPRESS_IXSCAN { _id: 1 }')
})

t.test('equality on a field is EXPRESS_IXSCAN only if an index guarantees one document', async (t) => {
  const style = { express: 'equality' } as const
  const unique = collectionOf(
    [
      { a: 1, h: 1, l: [1] },
      { a: 2, h: 2, l: [2] },
    ],
    [[{ a: 1 }, { unique: true }], [{ h: 'hashed' }], [{ l: 1 }, { unique: true }], [{ c: 1, d: 1 }]],
  )
  const stageOf = (wanted: Document, query: PlainQuery = {}): string =>
    decode(describePlan(planOf(unique, wanted, query).root, style))['stage']
  const executor = executePlan(planOf(unique, { a: 2 }))
  while (executor.next() !== null) continue
  t.same(decode(describeExecution(executor.root, style)), {
    stage: 'EXPRESS_IXSCAN',
    keyPattern: '{ a: 1 }',
    indexName: 'a_1',
    keysExamined: 1,
    docsExamined: 1,
    nReturned: 1,
  })
  t.equal(stageOf({ a: { $gt: 1 } }), 'FETCH')
  t.equal(stageOf({ a: 2, h: 2 }), 'FETCH')
  t.equal(stageOf({ a: 2 }, { projection: { a: 1 } }), 'PROJECTION_SIMPLE')
  t.equal(stageOf({ h: 2 }), 'FETCH', 'a hashed index')
  t.equal(stageOf({ l: 2 }), 'FETCH', 'an index with arrays')
  t.equal(stageOf({ c: 1 }), 'FETCH', 'an index that may have several')
  t.equal(stageOf({ c: 1 }, { limit: 1 }), 'EXPRESS_IXSCAN')
  t.equal(stageOf({ c: 1, d: 1 }, { limit: 1 }), 'LIMIT')
})

t.test('indexes with a hashed field show no multikey paths', async (t) => {
  const hashed = collectionOf([{ h: 1 }], [[{ h: 'hashed' }]])
  t.same(Object.keys(decode(describePlan(planOf(hashed, { h: 1 }).root))['inputStage']), [
    'stage',
    'keyPattern',
    'indexName',
    'isMultiKey',
    'isUnique',
    'isSparse',
    'isPartial',
    'indexVersion',
    'direction',
    'indexBounds',
  ])
})

t.test('a plan summary lists the leaves of the plan', async (t) => {
  const summary = (wanted: Document): string => planSummary(planOf(collection, wanted))
  t.equal(summary({ a: 5 }), 'IXSCAN { a: 1, b: -1 }')
  t.equal(summary({ x: 5 }), 'COLLSCAN')
  t.equal(summary({ _id: 5 }), 'IDHACK')
  t.equal(summary({ $or: [{ a: 5 }, { b: 5 }] }), 'IXSCAN { a: 1, b: -1 }, IXSCAN { b: 1 }')
})

t.test('numeric types are described as on the server', async (t) => {
  const executor = executePlan(planOf(collection, { a: 5 }, { sort: { c: 1 }, limit: 3 }))
  while (executor.next() !== null) continue
  for (const it = new FieldIterator(describeExecution(executor.root)); it.next();) {
    if (it.value().isNumber()) t.equal(it.type, BsonType.int32, it.name())
  }
  t.equal(findField(describePlan(planOf(collection, { x: 1 }, { limit: 3 }).root), 'limitAmount')!.type, BsonType.int32)
})

t.test('parsedQuery shows predicates in normal form', async (t) => {
  const shown = (filter: Document): Document => decode(describeFilter(parseFilter(encode(filter))))
  const cases: [filter: Document, shown: Document][] = [
    [{}, {}],
    [{ a: 1 }, { a: { $eq: 1 } }],
    [{ b: 1, a: 1 }, { $and: [{ a: { $eq: 1 } }, { b: { $eq: 1 } }] }],
    [{ a: { $lt: 5, $gt: 1 } }, { $and: [{ a: { $lt: 5 } }, { a: { $gt: 1 } }] }],
    [
      { $and: [{ a: 1 }, { $and: [{ b: 2 }, { c: { $exists: true } }] }] },
      { $and: [{ a: { $eq: 1 } }, { b: { $eq: 2 } }, { c: { $exists: true } }] },
    ],
    [{ $and: [{ a: 1 }] }, { a: { $eq: 1 } }],
    [{ $or: [{ a: 1 }] }, { a: { $eq: 1 } }],
    [{ $or: [{ a: 2 }, { a: 1 }] }, { a: { $in: [1, 2] } }],
    [{ $or: [{ b: 2 }, { a: { $gt: 1 } }] }, { $or: [{ b: { $eq: 2 } }, { a: { $gt: 1 } }] }],
    [{ a: { $in: [3, 1, 3] } }, { a: { $in: [1, 3] } }],
    [{ a: { $in: [3] } }, { a: { $eq: 3 } }],
    [{ a: { $in: [] } }, { $alwaysFalse: 1 }],
    [{ a: { $ne: 1 } }, { a: { $not: { $eq: 1 } } }],
    [{ a: { $nin: [1, 2] } }, { a: { $not: { $in: [1, 2] } } }],
    [{ a: { $exists: false } }, { a: { $not: { $exists: true } } }],
    [{ a: { $not: { $gt: 1, $lt: 5 } } }, { a: { $not: { $lt: 5, $gt: 1 } } }],
    [{ $nor: [{ a: 1 }, { b: 1 }] }, { $nor: [{ a: { $eq: 1 } }, { b: { $eq: 1 } }] }],
    [{ $nor: [{ a: 1 }] }, { a: { $not: { $eq: 1 } } }],
    [{ a: /x/i }, { a: { $regex: 'x', $options: 'i' } }],
    [{ a: { $all: [1, 2] } }, { $and: [{ a: { $eq: 1 } }, { a: { $eq: 2 } }] }],
    [{ a: { $size: 2 } }, { a: { $size: 2 } }],
    [{ a: { $type: 'string' } }, { a: { $type: [2] } }],
    [{ a: { $type: 'number' } }, { a: { $type: ['number'] } }],
    [
      { a: { $elemMatch: { b: 1, c: { $gt: 2 } } } },
      { a: { $elemMatch: { $and: [{ b: { $eq: 1 } }, { c: { $gt: 2 } }] } } },
    ],
    [{ a: { $elemMatch: { $gt: 1, $lt: 5 } } }, { a: { $elemMatch: { $gt: 1, $lt: 5 } } }],
    [{ a: { $bitsAllSet: [1, 3] } }, { a: { $bitsAllSet: [1, 3] } }],
    [{ $expr: { $eq: ['$a', 1] } }, { $expr: { $eq: ['$a', 1] } }],
  ]
  for (const [filter, expected] of cases) t.same(shown(filter), expected, JSON.stringify(filter))
})

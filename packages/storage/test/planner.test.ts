import fc from 'fast-check'
import t from 'tap'
import { encode, type Document } from '@shardlab/bson'
import { compileFilter, parseSort, sortKeyOf } from '@shardlab/query'
import { createMemoryEngine, executePlan, stagesOf, type Collection } from '../src/index.js'
import { check } from '@shardlab/bson/testing'
import { collectionOf, hundred, type IndexChoice } from './support/collection.js'
import { fields, filter, sort } from './support/documents.js'
import { applyAll, createIndexOf, createOf, deleteOf, insertOf } from './support/log.js'
import { context, errorOf, find, planOf, type PlainQuery } from './support/query.js'

const indexChoices: readonly IndexChoice[] = [
  [{ a: 1 }],
  [{ a: -1, b: 1 }],
  [{ b: 1, a: 1 }],
  [{ b: 1, c: -1 }],
  [{ 'a.b': 1 }],
  [{ 'a.b': 1, 'a.c': 1 }],
  [{ c: 1, 'a.c': -1 }],
  [{ b: 'hashed' }],
  [{ c: 1, b: 'hashed' }],
  [{ a: 1 }, { sparse: true, name: 'a_sparse' }],
  [
    { b: 1, c: 1 },
    { sparse: true, name: 'bc_sparse' },
  ],
  [{ b: 1 }, { partialFilterExpression: { b: { $gt: 0 } }, name: 'b_partial' }],
  [{ c: 1 }, { partialFilterExpression: { a: { $exists: true } }, name: 'c_partial' }],
  [
    { a: 1, c: 1 },
    { hidden: true, name: 'ac_hidden' },
  ],
]

/**
 * Null: the documents have parallel arrays, which an index cannot contain. These properties do not
 * test them.
 */
function collectionIfValid(documents: readonly Document[], indexes: readonly IndexChoice[]): Collection | null {
  try {
    return collectionOf(documents, indexes)
  } catch {
    return null
  }
}

t.test('every plan returns what a scan, a filter and a sort return', async (t) => {
  let indexed = 0
  check(
    fc.property(
      fc.array(fields, { maxLength: 30 }),
      fc.subarray([...indexChoices], { minLength: 1, maxLength: 4 }),
      filter,
      sort,
      fc.nat({ max: 3 }),
      fc.nat({ max: 6 }),
      (documents, indexes, wanted, order, skip, limit) => {
        const collection = collectionIfValid(documents, indexes)
        if (collection === null) return true
        const matcher = compileFilter(encode(wanted), context)
        const matching = [...collection.scan()].filter(({ document }) => matcher.matches(document))
        const plan = planOf(collection, wanted, { sort: order })
        if (plan.root.stage !== 'COLLSCAN') indexed++
        const pattern = parseSort(encode(order))
        let keys: string[]
        try {
          keys = matching.map(({ document }) => sortKeyOf(document, pattern)).sort()
        } catch {
          return true
        }
        const all = [...rows(plan)]
        const inOrder = all.map((document) => sortKeyOf(document, pattern))
        const sameSet =
          all.map(text).sort().join() ===
          matching
            .map(({ document }) => text(document))
            .sort()
            .join()
        const cut = [...rows(planOf(collection, wanted, { sort: order, skip, limit }))]
        const cutKeys = cut.map((document) => sortKeyOf(document, pattern))
        return sameSet && same(inOrder, keys) && same(cutKeys, keys.slice(skip, limit === 0 ? undefined : skip + limit))
      },
    ),
    2000,
  )
  t.ok(indexed > 500, `${indexed} plans used an index`)
})

t.test('a hinted index returns the same if it contains all documents', async () => {
  check(
    fc.property(
      fc.array(fields, { maxLength: 20 }),
      fc.constantFrom(...indexChoices.slice(0, 9)),
      filter,
      (documents, choice, wanted) => {
        const collection = collectionIfValid(documents, [choice])
        if (collection === null) return true
        const expected = find(collection, wanted, { hint: { $natural: 1 } })
        const found = find(collection, wanted, { hint: choice[0] })
        return (
          found
            .map((row) => text(encode(row)))
            .sort()
            .join() ===
          expected
            .map((row) => text(encode(row)))
            .sort()
            .join()
        )
      },
    ),
    1000,
  )
})

function* rows(plan: ReturnType<typeof planOf>): Generator<Uint8Array> {
  const executor = executePlan(plan)
  for (let row = executor.next(); row !== null; row = executor.next()) yield row.document
}

function text(document: Uint8Array): string {
  return Buffer.from(document).toString('latin1')
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, i) => key === b[i])
}

function choice(collection: Collection, wanted: Document, query: PlainQuery = {}): string {
  const plan = planOf(collection, wanted, query)
  const stages = [...stagesOf(plan.root)]
  const scans = stages.flatMap((stage) =>
    'scan' in stage ? [`${stage.scan.entry.index.name}${stage.scan.reverse ? ' backward' : ''}`] : [],
  )
  const merging = stages.find(({ stage }) => stage === 'OR' || stage === 'SORT_MERGE')
  const where = scans.length === 0 ? stages.at(-1)!.stage : scans.join(' ')
  const name = merging === undefined ? where : `${merging.stage} ${where}`
  return stages.some(({ stage }) => stage === 'SORT') ? `${name} SORT` : name
}

t.test("the planner chooses the server's index", async (t) => {
  const collection = collectionOf(hundred, [
    [{ a: 1 }],
    [{ a: 1, b: -1 }],
    [{ c: 1, a: 1 }],
    [{ b: 1 }, { unique: true }],
    [{ d: 'hashed' }],
  ])
  const cases: [filter: Document, query: PlainQuery, choice: string][] = [
    [{ _id: 5 }, {}, 'IDHACK'],
    [{ _id: { $eq: 5 } }, {}, 'IDHACK'],
    [{ _id: { $gt: 5 } }, {}, '_id_'],
    [{ _id: 5, a: 1 }, {}, '_id_'],
    [{}, {}, 'COLLSCAN'],
    [{ x: 5 }, {}, 'COLLSCAN'],
    [{ x: 5 }, { sort: { x: 1 } }, 'COLLSCAN SORT'],
    [{}, { sort: { _id: -1 } }, '_id_ backward'],
    [{}, { sort: { $natural: -1 } }, 'COLLSCAN'],
    [{ a: 5 }, {}, 'a_1'],
    [{ a: 5, b: { $gt: 5 } }, {}, 'a_1_b_-1'],
    [{ a: 5, b: 15 }, {}, 'b_1'],
    [{ a: 5 }, { sort: { b: 1 } }, 'a_1_b_-1 backward'],
    [{ a: 5 }, { sort: { b: -1 } }, 'a_1_b_-1'],
    [{ a: 5 }, { sort: { a: -1, b: -1 } }, 'a_1_b_-1'],
    [{}, { sort: { a: 1, b: -1 } }, 'a_1_b_-1'],
    [{}, { sort: { a: -1, b: 1 } }, 'a_1_b_-1 backward'],
    [{}, { sort: { a: 1, b: 1 } }, 'COLLSCAN SORT'],
    [{ a: { $in: [1, 2] } }, { sort: { b: 1 } }, 'a_1 SORT'],
    [{ c: 'x1', a: 4 }, {}, 'c_1_a_1'],
    [{ d: 5 }, {}, 'd_hashed'],
    [{ d: { $gt: 5 } }, {}, 'COLLSCAN'],
    [{ $or: [{ b: 5 }, { c: 'x1' }] }, {}, 'OR b_1 c_1_a_1'],
    [{ $or: [{ b: 5 }, { x: 1 }] }, {}, 'COLLSCAN'],
    [{ $or: [{ b: 5 }, { b: 6 }] }, {}, 'b_1'],
    [{ $alwaysFalse: 1 }, {}, 'EOF'],
    [{ a: 5 }, { hint: 'b_1' }, 'b_1'],
    [{ _id: 5 }, { hint: { b: 1 } }, 'b_1'],
    [{ a: 5 }, { hint: { $natural: -1 } }, 'COLLSCAN'],
  ]
  for (const [wanted, query, expected] of cases)
    t.equal(choice(collection, wanted, query), expected, JSON.stringify([wanted, query]))
  t.same(
    errorOf(() => planOf(collection, {}, { hint: 'nope' })),
    {
      code: 2,
      codeName: 'BadValue',
      message:
        'error processing query: ns=db.cTree: $and\nSort: {}\nProj: {}\n planner returned error :: caused by :: hint provided does not correspond to an existing index',
      extra: null,
    },
  )
})

t.test('a query without a plan is shown as a tree', async (t) => {
  const collection = collectionOf(hundred, [])
  const textOf = (wanted: Document, query: PlainQuery = {}): string =>
    errorOf(() => planOf(collection, wanted, { ...query, hint: 'nope' })).message.replace(/ planner returned .*/, '')
  t.equal(
    textOf(
      { a: 5, $or: [{ b: { $gt: 1 } }, { c: { $exists: false } }, { d: { $in: [1, 'x'] } }] },
      { sort: { a: -1 }, limit: 3, skip: 2 },
    ),
    [
      'error processing query: ns=db.c limit=3 skip=2Tree: $and',
      '    $or',
      '        b $gt 1',
      '        d $in [ 1 "x" ]',
      '        $not',
      '            c exists',
      '    a $eq 5',
      'Sort: { a: -1 }',
      'Proj: {}',
      '',
    ].join('\n'),
  )
  t.equal(textOf({ a: /x/ }), 'error processing query: ns=db.c', 'some predicates have no text')
})

t.test('sparse, partial and hidden indexes are used only if they contain all matches', async (t) => {
  const collection = collectionOf(hundred, [
    [{ s: 1 }, { sparse: true }],
    [{ b: 1 }, { partialFilterExpression: { b: { $gte: 50 } } }],
    [{ c: 1 }, { hidden: true }],
    [{ a: 1 }, { partialFilterExpression: { c: { $exists: true }, b: { $gt: 5 } } }],
  ])
  const cases: [filter: Document, query: PlainQuery, choice: string][] = [
    [{ s: 1 }, {}, 's_1'],
    [{ s: { $exists: true } }, {}, 's_1'],
    [{ s: null }, {}, 'COLLSCAN'],
    [{ s: { $ne: 1 } }, {}, 'COLLSCAN'],
    [{}, { sort: { s: 1 } }, 'COLLSCAN SORT'],
    [{ b: 60 }, {}, 'b_1'],
    [{ b: { $gt: 50 } }, {}, 'b_1'],
    [{ b: { $in: [60, 70] } }, {}, 'b_1'],
    [{ b: { $gt: 49 } }, {}, 'COLLSCAN'],
    [{ b: 10 }, {}, 'COLLSCAN'],
    [{}, { sort: { b: 1 } }, 'COLLSCAN SORT'],
    [{ c: 'x1' }, {}, 'COLLSCAN'],
    [{ a: 1, b: 6, c: 'x' }, {}, 'a_1'],
    [{ a: 1, b: 6 }, {}, 'COLLSCAN'],
    [
      {
        $or: [
          { a: 1, b: 6, c: 'x' },
          { a: 2, b: 8, c: 'y' },
        ],
      },
      {},
      'OR a_1 a_1',
    ],
  ]
  for (const [wanted, query, expected] of cases)
    t.equal(choice(collection, wanted, query), expected, JSON.stringify([wanted, query]))
  t.equal(find(collection, {}, { hint: 's_1' }).length, 0, 'a hinted sparse index returns only its documents')
  t.equal(errorOf(() => planOf(collection, {}, { hint: 'c_1' })).code, 2, 'a hidden index cannot be hinted')
})

t.test('of the fields below one array only the first keeps its bounds', async (t) => {
  const collection = collectionOf(
    [
      {
        a: [
          { b: 1, c: 2 },
          { b: 2, c: 1 },
        ],
      },
      { a: { b: 1, c: 1 } },
      { a: { b: 1, c: 3 } },
    ],
    [[{ 'a.b': 1, 'a.c': 1 }]],
  )
  const wanted = { 'a.b': 1, 'a.c': 1 }
  t.equal(choice(collection, wanted), 'a.b_1_a.c_1')
  t.same(
    find(collection, wanted).map(({ _id }) => _id),
    [1, 0],
  )
})

t.test('an array sorts by all its elements, whatever the query restricts', async (t) => {
  const collection = collectionOf(
    [
      { a: [1, 9], b: 1 },
      { a: [5, 6], b: 1 },
      { a: 7, b: 1 },
    ],
    [[{ a: 1 }], [{ b: 1, a: 1 }]],
  )
  t.equal(choice(collection, { a: { $gt: 4 } }, { sort: { a: 1 } }), 'a_1', 'the whole index, in its order')
  t.same(
    find(collection, { a: { $gt: 4 } }, { sort: { a: 1 } }).map(({ _id }) => _id),
    [0, 1, 2],
  )
  t.equal(choice(collection, { b: 1 }, { sort: { a: -1 } }), 'b_1_a_1 backward')
  t.same(
    find(collection, { b: 1 }, { sort: { a: -1 } }).map(({ _id }) => _id),
    [0, 2, 1],
  )
  t.same(
    find(collection, { a: { $in: [5, 6, 9] } }, { sort: { a: 1 } }).map(({ _id }) => _id),
    [0, 1],
    'equality does not fix the sort value of an array',
  )
})

t.test('D301 each branch of $or uses one index, and so does a whole $and', async (t) => {
  const collection = collectionOf(hundred, [[{ a: 1 }], [{ c: 1 }], [{ b: 1 }]])
  const shapes = ({ root, rejected }: ReturnType<typeof planOf>): string[] =>
    [root, ...rejected].map((plan) => [...stagesOf(plan)].map(({ stage }) => stage).join(' '))
  t.same(shapes(planOf(collection, { a: 5, c: 'x1' })), ['FETCH IXSCAN', 'FETCH IXSCAN'])
  t.same(shapes(planOf(collection, { b: { $gt: 5 }, $or: [{ a: 5 }, { c: 'x1' }] })), [
    'OR FETCH IXSCAN FETCH IXSCAN',
    'FETCH IXSCAN',
  ])
})

t.test('D302 every query runs its own trial', async (t) => {
  const engine = createMemoryEngine()
  applyAll(engine, [createOf('db.c'), createIndexOf('db.c', { a: 1 }), createIndexOf('db.c', { b: 1 })])
  for (let i = 0; i < 50; i++) engine.apply(insertOf('db.c', { _id: i, a: i, b: 1 }))
  const collection = engine.collection('db.c')!
  const chosen = (): string => choice(collection, { a: 5, b: 1 })
  t.equal(chosen(), 'a_1')
  const plan = planOf(collection, { a: 5, b: 1 })
  t.same(
    plan.trials.map(({ root }) => [root.rows, root.works]),
    [
      [1, 2],
      [0, 2],
    ],
    'the trial ends with the first plan that is done',
  )
  t.ok(plan.trials[0]!.score > plan.trials[1]!.score)
  for (let i = 50; i < 200; i++) engine.apply(insertOf('db.c', { _id: i, a: 5, b: 2 }))
  for (let i = 1; i < 50; i++) engine.apply(deleteOf('db.c', i === 5 ? 0 : i))
  t.equal(chosen(), 'b_1')
})

import { decode, encode, fromRawValue, type Document } from '@shardlab/bson'
import t from 'tap'
import {
  compileFilter,
  compileProjection,
  keyTuplesOf,
  fieldPath,
  parseSort,
  sortKeyOf,
  sortKeyValues,
} from '../src/index.js'
import { codeOf, context, failure, json, project } from './support/helpers.js'

t.test('projections give the documents of the server', (t) => {
  const table: [projection: Document, document: Document, expected: Document][] = [
    [{}, { _id: 1, a: 1 }, { _id: 1, a: 1 }],
    [{ a: 1 }, { _id: 1, b: 2, a: 3 }, { _id: 1, a: 3 }],
    [
      { b: 1, a: 1 },
      { _id: 1, a: 3, b: 2 },
      { _id: 1, a: 3, b: 2 },
    ],
    [{ _id: 0, a: 1 }, { _id: 1, a: 3, b: 2 }, { a: 3 }],
    [{ _id: 0 }, { _id: 1, a: 3 }, { a: 3 }],
    [{ _id: 1 }, { _id: 1, a: 3 }, { _id: 1 }],
    [{ a: 0 }, { _id: 1, a: 3, b: 2 }, { _id: 1, b: 2 }],
    [
      { _id: 1, a: 0 },
      { _id: 1, a: 3, b: 2 },
      { _id: 1, b: 2 },
    ],
    [{ 'a.b': 1 }, { _id: 1, a: { b: 1, c: 2 }, d: 3 }, { _id: 1, a: { b: 1 } }],
    [{ a: { b: 1 } }, { _id: 1, a: { b: 1, c: 2 } }, { _id: 1, a: { b: 1 } }],
    [
      { 'a.b': 1 },
      { _id: 1, a: [{ b: 1, c: 2 }, 5, { c: 1 }, [{ b: 3, c: 4 }]] },
      { _id: 1, a: [{ b: 1 }, {}, [{ b: 3 }]] },
    ],
    [{ 'a.b': 1 }, { _id: 1, a: 5 }, { _id: 1 }],
    [{ 'a.b': 0 }, { _id: 1, a: [{ b: 1, c: 2 }, 5] }, { _id: 1, a: [{ c: 2 }, 5] }],
    [
      { a: 1, x: { $add: ['$a', 1] } },
      { _id: 1, a: 3, x: 9 },
      { _id: 1, a: 3, x: 4 },
    ],
    [
      { x: '$a', y: 'text' },
      { _id: 1, a: 3 },
      { _id: 1, x: 3, y: 'text' },
    ],
    [{ 'a.n': '$b' }, { _id: 1, a: [{ q: 1 }, 5], b: 2 }, { _id: 1, a: [{ n: 2 }, { n: 2 }] }],
    [{ 'a.n': '$b' }, { _id: 1, b: 2 }, { _id: 1, a: { n: 2 } }],
    [{ a: { $slice: 2 } }, { _id: 1, a: [1, 2, 3], b: 1 }, { _id: 1, a: [1, 2], b: 1 }],
    [{ a: { $slice: -2 } }, { _id: 1, a: [1, 2, 3], b: 1 }, { _id: 1, a: [2, 3], b: 1 }],
    [
      { a: { $slice: [1, 1] }, b: 1 },
      { _id: 1, a: [1, 2, 3], b: 1, c: 1 },
      { _id: 1, a: [2], b: 1 },
    ],
    [{ a: { $elemMatch: { $gt: 1 } } }, { _id: 1, a: [1, 2, 3], b: 1 }, { _id: 1, a: [2] }],
    [{ a: { $elemMatch: { x: 1 } } }, { _id: 1, a: [{ x: 2 }] }, { _id: 1 }],
  ]
  for (const [projection, document, expected] of table)
    t.equal(json(project(projection, document)), json(expected), JSON.stringify(projection))
  const filter = compileFilter(encode({ a: { $gt: 1 } }), context)
  t.equal(
    json(
      decode(
        compileProjection(encode({ 'a.$': 1 }), context, { filter }).apply(encode({ _id: 1, a: [1, 2, 3], b: 1 })),
      ),
    ),
    json({ _id: 1, a: [2] }),
  )
  const sort = parseSort(encode({ a: -1, b: 1 }))
  const withKey = compileProjection(encode({ $sortKey: { $meta: 'sortKey' } }), context, { sort })
  t.equal(json(decode(withKey.apply(encode({ _id: 1, a: [1, 5] })))), json({ _id: 1, a: [1, 5], $sortKey: [5, null] }))
  t.end()
})

t.test('invalid projections are refused with the code of the server', (t) => {
  const table: [projection: Document, code: number, message?: string][] = [
    [{ a: 1, b: 0 }, 31254, 'Cannot do exclusion on field b in inclusion projection'],
    [{ a: 0, b: 1 }, 31253, 'Cannot do inclusion on field b in exclusion projection'],
    [{ a: 1, 'a.b': 1 }, 31249, 'Path collision at a.b remaining portion b'],
    [{ 'a.b': 1, a: 1 }, 31250, 'Path collision at a'],
    [{ a: {} }, 51270],
    [{ a: 0, b: '$c' }, 31310],
    [{ a: 0, b: { $add: [1, 2] } }, 31252],
    [{ a: { $slice: 'x' } }, 28667],
    [{ 'a.b': { $elemMatch: { c: 1 } } }, 31275],
    [{ 'a.$': 1 }, 51050],
    [{ a: { $nope: 1 } }, 31325],
    [{ 'a.': 1 }, 40353],
  ]
  for (const [projection, code, message] of table) {
    const error = failure(() => project(projection, {}))
    t.equal(error?.code ?? 0, code, JSON.stringify(projection))
    if (message !== undefined) t.equal(error?.message, message)
  }
  t.end()
})

t.test('sort keys order documents as on the server', (t) => {
  const key = (sort: Document, document: Document) => sortKeyOf(encode(document), parseSort(encode(sort)))
  const ordered = (sort: Document, ...documents: Document[]) => {
    const keys = documents.map((document) => key(sort, document))
    for (let i = 1; i < keys.length; i++)
      t.ok(
        keys[i - 1]! < keys[i]!,
        `${JSON.stringify(sort)}: ${JSON.stringify(documents[i - 1])} < ${JSON.stringify(documents[i])}`,
      )
  }
  ordered({ a: 1 }, { a: [] }, { a: null }, { a: 1 }, { a: 'x' }, { a: { b: 1 } }, { a: new Date(0) })
  ordered({ a: 1 }, { a: [7, 1] }, { a: 2 }, { a: [9, 3] })
  ordered({ a: -1 }, { a: [9, 3] }, { a: [7, 1] }, { a: 2 }, {})
  ordered({ a: 1, b: -1 }, { a: 1, b: 5 }, { a: 1, b: 2 }, { a: 2, b: 9 })
  ordered({ 'a.b': 1 }, {}, { a: [{ b: 4 }, { b: 1 }] }, { a: { b: 2 } })
  // The lowest tuple decides, not the lowest value of each field.
  ordered(
    { 'a.b': 1, 'a.c': 1 },
    {
      a: [
        { b: 1, c: 5 },
        { b: 2, c: 0 },
      ],
    },
    { a: [{ b: 1, c: 6 }] },
  )
  t.equal(key({ a: 1 }, {}), key({ a: 1 }, { a: null }))
  t.equal(
    codeOf(() => key({ a: 1, b: 1 }, { a: [1], b: [2] })),
    2,
  )
  t.same(
    sortKeyValues(encode({ a: [3, 1], b: 'x' }), parseSort(encode({ a: -1, b: 1 }))).map((value) =>
      fromRawValue(value!),
    ),
    [3, 'x'],
  )
  for (const [bad, code] of [
    [{ a: 2 }, 15975],
    [{ a: 'x' }, 15974],
    [{ a: { $meta: 'x' } }, 31138],
  ] as const)
    t.equal(
      codeOf(() => parseSort(encode(bad))),
      code,
    )
  t.equal(parseSort(encode({ $natural: -1 })).natural, -1)
  t.end()
})

t.test('key tuples are those that an index stores', (t) => {
  const tuples = (document: Document, ...paths: string[]) =>
    keyTuplesOf(encode(document), paths.map(fieldPath)).map((tuple) =>
      tuple.map((value) => (value === undefined ? 'missing' : value.type === 6 ? 'undefined' : fromRawValue(value))),
    )
  t.same(tuples({ a: 1 }, 'a', 'b'), [[1, 'missing']])
  t.same(tuples({ a: [1, 2], b: 3 }, 'a', 'b'), [
    [1, 3],
    [2, 3],
  ])
  t.same(tuples({ a: [] }, 'a'), [['undefined']])
  t.same(tuples({ a: [] }, 'a.b'), [[null]])
  t.same(tuples({ a: [{ b: 1, c: 2 }, { b: 3 }, 5] }, 'a.b', 'a.c'), [
    [1, 2],
    [3, 'missing'],
    ['missing', 'missing'],
  ])
  t.same(tuples({ a: [{ b: [1, 2] }] }, 'a.b'), [[1], [2]])
  t.same(tuples({ a: [5, 6] }, 'a.0'), [[5]])
  t.same(tuples({ a: [[1, 2], 3] }, 'a'), [[[1, 2]], [3]])
  t.equal(
    codeOf(() => tuples({ a: [1], b: [2] }, 'a', 'b')),
    171,
  )
  t.end()
})

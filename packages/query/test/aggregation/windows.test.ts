import { encode, toExtendedJson, type Document } from '@shardlab/bson'
import t, { type Test } from 'tap'
import { aggregate, codeOf, context, json, run } from '../support/helpers.js'
import { column, day } from '../support/windows.js'

function check(t: Test, rows: [output: Document, expected: Document][]): void {
  for (const [output, expected] of rows) t.same(column(output), expected, JSON.stringify(output))
  t.end()
}

t.test('accumulators cover the documents of each window', (t) =>
  check(t, [
    [{ $sum: '$v' }, { '#1': 35, '#4': 35, '#3': 35, '#2': 4, '#6': 4, '#5': 4 }],
    [
      { $sum: '$v', window: { documents: ['unbounded', 'current'] } },
      { '#1': 10, '#4': 15, '#3': 35, '#2': 1, '#6': 4, '#5': 4 },
    ],
    [
      { $sum: '$v', window: { documents: [-1, 0] } },
      { '#1': 10, '#4': 15, '#3': 25, '#2': 1, '#6': 4, '#5': 3 },
    ],
    [
      { $sum: '$v', window: { documents: [1, 'unbounded'] } },
      { '#1': 25, '#4': 20, '#3': 0, '#2': 3, '#6': 0, '#5': 0 },
    ],
    [
      { $avg: '$v', window: { documents: [-1, 1] } },
      { '#1': 7.5, '#4': 35 / 3, '#3': 12.5, '#2': 2, '#6': 2, '#5': 3 },
    ],
    [
      { $avg: '$v', window: { documents: [-5, -1] } },
      { '#1': null, '#4': 10, '#3': 7.5, '#2': null, '#6': 1, '#5': 2 },
    ],
    [
      { $min: '$v', window: { documents: [-1, 0] } },
      { '#1': 10, '#4': 5, '#3': 5, '#2': 1, '#6': 1, '#5': 3 },
    ],
    [
      { $max: '$v', window: { documents: [0, 1] } },
      { '#1': 10, '#4': 20, '#3': 20, '#2': 3, '#6': 3, '#5': null },
    ],
    [
      { $push: '$v', window: { documents: [-1, 0] } },
      { '#1': [10], '#4': [10, 5], '#3': [5, 20], '#2': [1], '#6': [1, 3], '#5': [3, null] },
    ],
    [
      { $count: {}, window: { documents: [-1, 0] } },
      { '#1': 1, '#4': 2, '#3': 2, '#2': 1, '#6': 2, '#5': 2 },
    ],
    [
      { $stdDevPop: '$v', window: { documents: [-1, 0] } },
      { '#1': 0, '#4': 2.5, '#3': 7.5, '#2': 0, '#6': 1, '#5': 0 },
    ],
    [
      { $first: '$v', window: { documents: [-1, 0] } },
      { '#1': 10, '#4': 10, '#3': 5, '#2': 1, '#6': 1, '#5': 3 },
    ],
    [{ $last: '$v' }, { '#1': 20, '#4': 20, '#3': 20, '#2': null, '#6': null, '#5': null }],
    [
      { $first: '$v', window: { documents: [1, 1] } },
      { '#1': 5, '#4': 20, '#3': null, '#2': 3, '#6': null, '#5': null },
    ],
    [
      { $firstN: { n: 2, input: '$v' } },
      { '#1': [10, 5], '#4': [10, 5], '#3': [10, 5], '#2': [1, 3], '#6': [1, 3], '#5': [1, 3] },
    ],
    [
      { $maxN: { n: 2, input: '$v' }, window: { documents: ['unbounded', 0] } },
      { '#1': [10], '#4': [10, 5], '#3': [20, 10], '#2': [1], '#6': [3, 1], '#5': [3, 1] },
    ],
    [
      { $top: { output: '$_id', sortBy: { v: -1 } }, window: { documents: [-1, 0] } },
      { '#1': 1, '#4': 1, '#3': 3, '#2': 2, '#6': 6, '#5': 6 },
    ],
    [{ $median: { input: '$v', method: 'approximate' } }, { '#1': 10, '#4': 10, '#3': 10, '#2': 1, '#6': 1, '#5': 1 }],
    [
      { $percentile: { input: '$v', p: [0, 1], method: 'approximate' }, window: { documents: [-1, 0] } },
      { '#1': [10, 10], '#4': [5, 10], '#3': [5, 20], '#2': [1, 1], '#6': [1, 3], '#5': [3, 3] },
    ],
  ]),
)

t.test('$shift and $documentNumber count positions', (t) => {
  check(t, [
    [{ $shift: { output: '$v', by: 1 } }, { '#1': 5, '#4': 20, '#3': null, '#2': 3, '#6': null, '#5': null }],
    [
      { $shift: { output: '$v', by: -2, default: 'none' } },
      { '#1': 'none', '#4': 'none', '#3': 10, '#2': 'none', '#6': 'none', '#5': 1 },
    ],
    [{ $documentNumber: {} }, { '#1': 1, '#4': 2, '#3': 3, '#2': 1, '#6': 2, '#5': 3 }],
  ])
})

t.test('ranks are the same for equal values, and null equals missing', (t) => {
  const scores = [
    { _id: 1, s: 5 },
    { _id: 2 },
    { _id: 3, s: 7 },
    { _id: 4, s: 5 },
    { _id: 5, s: null },
    { _id: 6, s: [5, 9] },
  ]
  const rest = { sortBy: { s: 1 } }
  t.same(column({ $rank: {} }, scores, rest), { '#2': 1, '#5': 1, '#1': 3, '#4': 3, '#6': 3, '#3': 6 })
  t.same(column({ $denseRank: {} }, scores, rest), { '#2': 1, '#5': 1, '#1': 2, '#4': 2, '#6': 2, '#3': 3 })
  t.end()
})

t.test('ranges select numbers and dates by their distance', (t) => {
  const points = [1, 2, 4, 4, 9].map((x, index) => ({ _id: index, x, v: 1 }))
  const rest = { sortBy: { x: 1 } }
  const count = (range: unknown[], unit?: string) => ({
    $sum: '$v',
    window: { range, ...(unit === undefined ? {} : { unit }) },
  })
  t.same(column(count([-2, 0]), points, rest), { '#0': 1, '#1': 2, '#2': 3, '#3': 3, '#4': 1 })
  t.same(column(count(['unbounded', 'current']), points, rest), { '#0': 1, '#1': 2, '#2': 3, '#3': 4, '#4': 5 })
  t.same(column(count([0.5, 5]), points, rest), { '#0': 3, '#1': 2, '#2': 1, '#3': 1, '#4': 0 })
  t.same(column(count([-1, 'unbounded']), points, rest), { '#0': 5, '#1': 5, '#2': 3, '#3': 3, '#4': 1 })
  const dates = [1, 1.5, 2, 4].map((number, index) => ({
    _id: index,
    x: day(Math.floor(number), (number % 1) * 24),
    v: 1,
  }))
  t.same(column(count([-1, 0], 'day'), dates, rest), { '#0': 1, '#1': 2, '#2': 3, '#3': 1 })
  t.same(column(count([-12, 12], 'hour'), dates, rest), { '#0': 2, '#1': 3, '#2': 2, '#3': 1 })
  t.same(column(count(['unbounded', 'unbounded'], 'month'), dates, rest), { '#0': 4, '#1': 4, '#2': 4, '#3': 4 })
  t.equal(
    codeOf(() => column(count([-1, 0]), dates, rest)),
    5429413,
  )
  t.equal(
    codeOf(() => column(count([-1, 0], 'day'), points, rest)),
    5429513,
  )
  t.equal(
    codeOf(() => column(count([-1, 0]), [{ _id: 1, x: 'text' }], rest)),
    5429414,
  )
  t.end()
})

t.test('output paths are set in nested documents and in arrays', (t) => {
  const results = aggregate(
    [
      {
        $setWindowFields: {
          sortBy: { _id: -1 },
          output: { 'a.n': { $documentNumber: {} }, 'a.m': { $sum: 1 }, b: { $first: '$missing' } },
        },
      },
    ],
    [
      { _id: 1, a: { x: 1 }, b: 1 },
      { _id: 2, a: [{ y: 1 }, {}] },
    ],
  )
  t.same(results.map(json), [
    json({
      _id: 2,
      a: [
        { y: 1, n: 1, m: 2 },
        { n: 1, m: 2 },
      ],
    }),
    json({ _id: 1, a: { x: 1, n: 2, m: 2 } }),
  ])
  t.end()
})

t.test('partitions and ranks compare strings by the collation', (t) => {
  const strings = new Intl.Collator('en', { sensitivity: 'base' }).compare
  const stage = encode({
    $setWindowFields: { partitionBy: '$g', sortBy: { s: 1 }, output: { r: { $rank: {} }, n: { $sum: 1 } } },
  })
  const input = [
    { _id: 1, g: 'X', s: 'b' },
    { _id: 2, g: 'x', s: 'B' },
    { _id: 3, g: 'y', s: 'a' },
    { _id: 4, g: 'x', s: 'A' },
  ]
  const results = run([stage], input.map(encode), { ...context, strings }).map((document) => toExtendedJson(document))
  t.same(results, [
    json({ _id: 4, g: 'x', s: 'A', r: 1, n: 3 }),
    json({ _id: 1, g: 'X', s: 'b', r: 2, n: 3 }),
    json({ _id: 2, g: 'x', s: 'B', r: 2, n: 3 }),
    json({ _id: 3, g: 'y', s: 'a', r: 1, n: 1 }),
  ])
  t.end()
})

import { Decimal128, encode, Long, toExtendedJson, type Document } from '@shardlab/bson'
import t, { type Test } from 'tap'
import { aggregate, codeOf, context, failure, json, run } from './support/helpers.js'

const documents: Document[] = [
  { _id: 1, g: 'a', t: 1, v: 10 },
  { _id: 2, g: 'b', t: 1, v: 1 },
  { _id: 3, g: 'a', t: 3, v: 20 },
  { _id: 4, g: 'a', t: 2, v: 5 },
  { _id: 5, g: 'b', t: 5, v: null },
  { _id: 6, g: 'b', t: 2, v: 3 },
]

/** The output field of every document by `_id`, in the order of the stage. */
function column(
  output: Document,
  input: Document[] = documents,
  rest: Document = { partitionBy: '$g', sortBy: { t: 1 } },
): Document {
  const results = aggregate([{ $setWindowFields: { ...rest, output: { r: output } } }], input)
  return Object.fromEntries(results.map((result) => [`#${result._id}`, result.r]))
}

function check(t: Test, rows: [output: Document, expected: Document][]): void {
  for (const [output, expected] of rows) t.same(column(output), expected, JSON.stringify(output))
  t.end()
}

const day = (number: number, hour = 0) => new Date(Date.UTC(2020, 0, number, hour))

t.test('accumulators over windows of documents', (t) =>
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

t.test('places and ranks', (t) => {
  check(t, [
    [{ $shift: { output: '$v', by: 1 } }, { '#1': 5, '#4': 20, '#3': null, '#2': 3, '#6': null, '#5': null }],
    [
      { $shift: { output: '$v', by: -2, default: 'none' } },
      { '#1': 'none', '#4': 'none', '#3': 10, '#2': 'none', '#6': 'none', '#5': 1 },
    ],
    [{ $documentNumber: {} }, { '#1': 1, '#4': 2, '#3': 3, '#2': 1, '#6': 2, '#5': 3 }],
  ])
})

t.test('ranks share a place for equal values, and null equals missing', (t) => {
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

t.test('ranges of numbers and of dates', (t) => {
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

t.test('derivatives and integrals', (t) => {
  const moves = [
    { _id: 1, at: day(1), km: 100 },
    { _id: 2, at: day(1, 2), km: 120 },
    { _id: 3, at: day(1, 3), km: 150 },
  ]
  const rest = { sortBy: { at: 1 } }
  t.same(column({ $derivative: { input: '$km', unit: 'hour' }, window: { documents: [-1, 0] } }, moves, rest), {
    '#1': null,
    '#2': 10,
    '#3': 30,
  })
  t.same(
    column({ $integral: { input: '$km', unit: 'hour' }, window: { documents: ['unbounded', 'current'] } }, moves, rest),
    {
      '#1': 0,
      '#2': 220,
      '#3': 355,
    },
  )
  const numbers = [1, 2, 4].map((x) => ({ _id: x, x, y: x * x }))
  t.same(column({ $derivative: { input: '$y' }, window: { documents: [-1, 0] } }, numbers, { sortBy: { x: 1 } }), {
    '#1': null,
    '#2': 3,
    '#4': 6,
  })
  t.same(column({ $integral: { input: '$y' }, window: { documents: [-1, 0] } }, numbers, { sortBy: { x: 1 } }), {
    '#1': 0,
    '#2': 2.5,
    '#4': 20,
  })
  t.equal(
    codeOf(() => column({ $derivative: { input: '$km' }, window: { documents: [-1, 0] } }, moves, rest)),
    5624901,
  )
  t.equal(
    codeOf(() =>
      column({ $derivative: { input: '$y', unit: 'day' }, window: { documents: [-1, 0] } }, numbers, {
        sortBy: { x: 1 },
      }),
    ),
    5624900,
  )
  t.equal(
    codeOf(() =>
      column({ $derivative: { input: '$q' }, window: { documents: [-1, 0] } }, numbers, { sortBy: { x: 1 } }),
    ),
    5624903,
  )
  t.equal(
    codeOf(() => column({ $derivative: { input: '$km', unit: 'month' }, window: { documents: [-1, 0] } }, moves, rest)),
    5490710,
  )
  t.equal(
    codeOf(() => column({ $integral: { input: '$q' } }, numbers, { sortBy: { x: 1 } })),
    5423900,
  )
  t.end()
})

t.test('moving averages and covariance', (t) => {
  const prices = [13, 15.4, 12].map((v, index) => ({ _id: index, t: index, v }))
  const rest = { sortBy: { t: 1 } }
  t.same(column({ $expMovingAvg: { input: '$v', N: 2 } }, prices, rest), {
    '#0': 13,
    '#1': 14.6,
    '#2': 12.866666666666667,
  })
  t.same(column({ $expMovingAvg: { input: '$v', alpha: 0.75 } }, prices, rest), { '#0': 13, '#1': 14.8, '#2': 12.7 })
  const pairs = [
    { _id: 1, t: 1, x: 1, y: 2 },
    { _id: 2, t: 2, x: 2, y: 4 },
    { _id: 3, t: 3, x: 3, y: 'no number' },
    { _id: 4, t: 4, x: 4, y: 9 },
  ]
  const running = { documents: ['unbounded', 'current'] }
  t.same(column({ $covariancePop: ['$x', '$y'], window: running }, pairs, rest), {
    '#1': 0,
    '#2': 0.5,
    '#3': 0.5,
    '#4': 11 / 3,
  })
  t.same(column({ $covarianceSamp: ['$x', '$y'], window: running }, pairs, rest), {
    '#1': null,
    '#2': 1,
    '#3': 1,
    '#4': 5.5,
  })
  t.end()
})

t.test('filling', (t) => {
  const gaps = [
    { _id: 1, x: 0 },
    { _id: 2, x: 1, v: 10 },
    { _id: 3, x: 2, v: null },
    { _id: 4, x: 4, v: 40 },
    { _id: 5, x: 5 },
  ]
  const rest = { sortBy: { x: 1 } }
  t.same(column({ $locf: '$v' }, gaps, rest), { '#1': null, '#2': 10, '#3': 10, '#4': 40, '#5': 40 })
  t.same(column({ $linearFill: '$v' }, gaps, rest), { '#1': null, '#2': 10, '#3': 20, '#4': 40, '#5': null })
  t.equal(
    codeOf(() => column({ $linearFill: '$v' }, [...gaps, { _id: 6, x: 5 }], rest)),
    6050106,
  )
  t.equal(
    codeOf(() => column({ $linearFill: '$v' }, [{ _id: 1, x: 1, v: 'a' }], rest)),
    14,
  )
  const filled = aggregate(
    [
      {
        $fill: {
          sortBy: { x: 1 },
          partitionByFields: ['g'],
          output: { v: { method: 'linear' }, w: { value: { $add: ['$x', 1] } }, l: { method: 'locf' } },
        },
      },
    ],
    [
      { _id: 1, g: 1, x: 1, v: 1, l: 5 },
      { _id: 2, g: 2, x: 1, l: null },
      { _id: 3, g: 1, x: 2, w: 7 },
      { _id: 4, g: 1, x: 3, v: 5 },
    ],
  )
  t.same(filled, [
    { _id: 1, g: 1, x: 1, v: 1, l: 5, w: 2 },
    { _id: 3, g: 1, x: 2, w: 7, v: 3, l: 5 },
    { _id: 4, g: 1, x: 3, v: 5, l: 5, w: 4 },
    { _id: 2, g: 2, x: 1, l: null, v: null, w: 2 },
  ])
  t.equal(
    codeOf(() => aggregate([{ $fill: { output: {} } }], [])),
    6050203,
  )
  t.equal(
    codeOf(() => aggregate([{ $fill: { output: { a: { method: 'x' } } } }], [])),
    6050202,
  )
  t.equal(
    codeOf(() => aggregate([{ $fill: { output: { a: { method: 'locf', value: 1 } } } }], [])),
    6050201,
  )
  t.equal(
    codeOf(() => aggregate([{ $fill: { partitionBy: 1, output: { a: { value: 1 } } } }], [])),
    14,
  )
  t.equal(
    codeOf(() => aggregate([{ $fill: { output: { a: { method: 'linear' } } } }], [])),
    605001,
  )
  t.end()
})

t.test('number types are the server’s', (t) => {
  const typed = (output: Document, values: unknown[]) => {
    const stages = [
      encode({ $setWindowFields: { sortBy: { _id: 1 }, output: { r: output } } }),
      encode({ $project: { _id: 0, r: 1 } }),
    ]
    return run(
      stages,
      values.map((v, _id) => encode({ _id, v })),
    ).map((document) => toExtendedJson(document, { canonical: true }))
  }
  const long = Long.fromNumber(5)
  const r = (value: unknown) => toExtendedJson(encode({ r: value }), { canonical: true })
  t.same(typed({ $sum: '$v' }, [long]), [r(long)], 'a window that nothing leaves keeps the long')
  t.same(typed({ $sum: '$v', window: { documents: [-1, 0] } }, [long]), [r(5)], 'one that values leave gives an int')
  t.same(typed({ $sum: '$v', window: { documents: [0, 0] } }, [Decimal128.fromString('1.5')]), [
    r(Decimal128.fromString('1.5')),
  ])
  t.same(typed({ $documentNumber: {} }, [1]), [r(1)])
  t.end()
})

t.test('output paths and order', (t) => {
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

t.test('partitions and ranks obey the collation', (t) => {
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

t.test('what is refused', (t) => {
  const rows: [specification: unknown, code: number, message?: string][] = [
    [1, 9, 'the $setWindowFields stage specification must be an object, found int'],
    [{}, 40414, "BSON field '$setWindowFields.output' is missing but a required field"],
    [{ output: {}, foo: 1 }, 40415, "BSON field '$setWindowFields.foo' is an unknown field."],
    [{ output: 1 }, 14],
    [{ output: { a: 1 } }, 9, "The field 'a' must be an object"],
    [{ output: { a: {} } }, 9, 'Expected a $-prefixed window function'],
    [{ output: { a: { b: 1 } } }, 9, 'Expected a $-prefixed window function, b'],
    [{ output: { a: { $summ: 1 } } }, 9, 'Unrecognized window function, $summ'],
    [{ output: { a: { $sum: 1, $avg: 1 } } }, 9, 'Cannot specify two functions in window function spec'],
    [{ output: { a: { $sum: 1, windoww: {} } } }, 9, 'Window function found an unknown argument: windoww'],
    [{ output: { a: { $sum: 1 }, 'a.b': { $sum: 1 } } }, 6307900],
    [{ output: { a: { $rank: {} } } }, 5371602],
    [{ sortBy: { x: 1 }, output: { a: { $rank: 1 } } }, 5371603],
    [{ sortBy: { x: 1 }, output: { a: { $rank: {}, window: {} } } }, 5371601],
    [{ output: { a: { $sum: 1, window: { documents: [-1, 0] } } } }, 5339901],
    [{ sortBy: { x: 1 }, output: { a: { $sum: 1, window: { documents: [1, 0] } } } }, 5339900],
    [{ sortBy: { x: 1 }, output: { a: { $sum: 1, window: { range: [1, 'current'] } } } }, 5339900],
    [{ sortBy: { x: 1 }, output: { a: { $sum: 1, window: { documents: [0.5, 1] } } } }, 9],
    [{ sortBy: { x: 1, y: 1 }, output: { a: { $sum: 1, window: { range: [0, 1] } } } }, 5339902],
    [{ sortBy: { x: -1 }, output: { a: { $sum: 1, window: { range: [0, 1] } } } }, 8947401],
    [
      { sortBy: { x: 1 }, output: { a: { $sum: 1, window: { range: [0, 1], unit: 'eon' } } } },
      9,
      'unknown time unit value: eon',
    ],
    [{ sortBy: { x: 1 }, output: { a: { $sum: 1, window: { documents: [0, 1], unit: 'day' } } } }, 9],
    [{ output: { a: { $derivative: { input: '$x' } } } }, 9, '$derivative requires a sortBy'],
    [
      { sortBy: { x: 1 }, output: { a: { $derivative: { input: '$x' } } } },
      9,
      '$derivative requires explicit window bounds',
    ],
    [{ output: { a: { $shift: { output: '$x', by: 1 } } } }, 9, "'$shift' requires a sortBy"],
    [{ sortBy: { x: 1 }, output: { a: { $shift: { output: '$x', by: 0.5 } } } }, 9],
    [{ sortBy: { x: 1 }, output: { a: { $expMovingAvg: { input: '$x', alpha: 2 } } } }, 9],
    [{ partitionBy: [1], output: {} }, 14, 'An expression used to partition cannot evaluate to value of type array'],
    [{ output: { a: { $firstN: { n: 0, input: '$x' } } } }, 5787908],
    [{ output: { a: { $count: 1 } } }, 9, '$count only accepts an empty object as input'],
    [{ output: { a: { $locf: '$x', window: {} } } }, 9, "'window' field is not allowed in $locf"],
  ]
  for (const [specification, code, message] of rows) {
    const error = failure(() => aggregate([{ $setWindowFields: specification }], []))
    t.equal(error?.code ?? 0, code, JSON.stringify(specification))
    if (message !== undefined) t.equal(error?.message, message)
  }
  t.equal(
    codeOf(() => aggregate([{ $setWindowFields: { partitionBy: '$g', output: {} } }], [{ g: [1] }])),
    14,
  )
  t.end()
})

t.test('a release knows the functions of its time', (t) => {
  const stage = [encode({ $setWindowFields: { sortBy: { x: 1 }, output: { a: { $locf: '$v' } } } })]
  t.equal(
    codeOf(() => run(stage, [], { ...context, languageVersion: 4.4 })),
    40324,
  )
  t.equal(
    codeOf(() => run(stage, [], { ...context, languageVersion: 5 })),
    9,
  )
  t.equal(
    codeOf(() => run(stage, [], { ...context, languageVersion: 6 })),
    0,
  )
  t.end()
})

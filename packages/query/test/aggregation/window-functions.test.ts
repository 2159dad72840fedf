import { Decimal128, encode, Long, toExtendedJson, type Document } from '@shardlab/bson'
import t from 'tap'
import { aggregate, codeOf, run } from '../support/helpers.js'
import { column, day } from '../support/windows.js'

t.test('derivatives and integrals use the unit of time', (t) => {
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

t.test('moving averages and covariances ignore values that are not numbers', (t) => {
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

t.test('$locf, $linearFill and $fill fill in missing values', (t) => {
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

t.test('results have the number types of the server', (t) => {
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
  t.same(typed({ $sum: '$v' }, [long]), [r(long)], 'a window whose lower end is fixed keeps the long')
  t.same(
    typed({ $sum: '$v', window: { documents: [-1, 0] } }, [long]),
    [r(5)],
    'a window whose lower end moves gives an int',
  )
  t.same(typed({ $sum: '$v', window: { documents: [0, 0] } }, [Decimal128.fromString('1.5')]), [
    r(Decimal128.fromString('1.5')),
  ])
  t.same(typed({ $documentNumber: {} }, [1]), [r(1)])
  t.end()
})

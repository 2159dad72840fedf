import { Decimal128, encode, decode, findField, Long, type Document } from '@shardlab/bson'
import t from 'tap'
import { ValueList } from '../../src/values/value-store.js'
import { accumulatorOperators } from '../../src/aggregation/accumulators/table.js'
import { compileCollation, splitPipeline, type EvaluationContext } from '../../src/index.js'
import { aggregate, codeOf, context, failure, run } from '../support/helpers.js'

const documents: Document[] = [
  { _id: 1, k: 'a', n: 5, s: 'x' },
  { _id: 2, k: 'b', n: 1, s: 'Y' },
  { _id: 3, k: 'a', n: 2, s: 'y' },
  { _id: 4, k: 'a', n: null, s: 'X' },
  { _id: 5, k: 'a', s: 'z' },
  { _id: 6, k: 'b', n: 9, s: 'y' },
]

/** By `_id`; computed as a whole and in two halves over three shards, which must agree. */
function grouped(accumulators: Document, over: EvaluationContext = context): Document {
  const stages = [{ $group: { _id: '$k', ...accumulators } }, { $sort: { _id: 1 } }].map((stage) => encode(stage))
  const whole = run(stages, documents.map(encode), over).map((document) => decode(document))
  const { shardsPart, mergerPart } = splitPipeline(stages)
  const parts = [0, 1, 2].flatMap((shard) =>
    run(shardsPart, documents.filter(({ _id }) => Math.floor((_id - 1) / 2) === shard).map(encode), over),
  )
  const merged = run(mergerPart, parts, over).map((document) => decode(document))
  if (JSON.stringify(whole) !== JSON.stringify(merged))
    throw new Error(`${JSON.stringify(merged)} instead of ${JSON.stringify(whole)}`)
  return Object.fromEntries(
    whole.map(({ _id, ...fields }) => [_id, Object.keys(fields).length === 1 ? Object.values(fields)[0] : fields]),
  )
}

t.test('sums of integers are exact beyond the safe integers of JavaScript', (t) => {
  const sum = accumulatorOperators.get('$sum')!.create(new ValueList(), undefined)
  const largest = findField(encode({ n: 0x7fff_ffff }), 'n')!
  const count = 4_194_400
  for (let i = 0; i < count; i++) sum.add(largest)
  t.equal(sum.result().asBigInt(), BigInt(count) * 0x7fff_ffffn)
  for (let i = 0; i < 3; i++) sum.add(findField(encode({ n: 1 }), 'n'))
  t.equal(sum.result().asBigInt(), BigInt(count) * 0x7fff_ffffn + 3n)
  t.end()
})

t.test('the accumulators of N values give the same result whole and merged', (t) => {
  const table: [accumulator: Document, expected: Document][] = [
    [{ $firstN: { n: 2, input: '$n' } }, { a: [5, 2], b: [1, 9] }],
    [{ $firstN: { n: 4, input: '$n' } }, { a: [5, 2, null, null], b: [1, 9] }],
    [{ $lastN: { n: 3, input: '$s' } }, { a: ['y', 'X', 'z'], b: ['Y', 'y'] }],
    [{ $minN: { n: 2, input: '$n' } }, { a: [2, 5], b: [1, 9] }],
    [{ $maxN: { n: 1, input: '$n' } }, { a: [5], b: [9] }],
    [{ $top: { output: '$_id', sortBy: { n: -1 } } }, { a: 1, b: 6 }],
    [
      { $topN: { n: 2, output: ['$_id', '$n'], sortBy: { n: 1, _id: -1 } } },
      {
        a: [
          [5, null],
          [4, null],
        ],
        b: [
          [2, 1],
          [6, 9],
        ],
      },
    ],
    [{ $bottom: { output: '$_id', sortBy: { n: 1 } } }, { a: 1, b: 6 }],
    [{ $bottomN: { n: 2, output: '$_id', sortBy: { s: 1, _id: 1 } } }, { a: [3, 5], b: [2, 6] }],
    [
      { $mergeObjects: { $cond: ['$n', { last: '$n', [`x`]: '$_id' }, null] } },
      { a: { last: 2, x: 3 }, b: { last: 9, x: 6 } },
    ],
    [{ $count: {} }, { a: 4, b: 2 }],
    [{ $push: '$n' }, { a: [5, 2, null], b: [1, 9] }],
    [{ $median: { input: '$n', method: 'approximate' } }, { a: 2, b: 1 }],
    [{ $percentile: { input: '$n', p: [0.1, 0.9], method: 'approximate' } }, { a: [2, 5], b: [1, 9] }],
    [{ $percentile: { input: '$s', p: [0.5], method: 'approximate' } }, { a: [null], b: [null] }],
    [{ $stdDevPop: '$n' }, { a: 1.5, b: 4 }],
    [{ $avg: '$s' }, { a: null, b: null }],
  ]
  for (const [accumulator, expected] of table)
    t.same(grouped({ v: accumulator }), expected, JSON.stringify(accumulator))
  t.end()
})

t.test('accumulators compare strings by the collation', (t) => {
  const { compare } = compileCollation(encode({ locale: 'en', strength: 2 }))!
  const over = { ...context, strings: compare }
  t.same(grouped({ v: { $addToSet: '$s' } }, over), { a: ['x', 'y', 'z'], b: ['Y'] })
  t.same(grouped({ v: { $min: '$s' } }, over), { a: 'x', b: 'Y' })
  t.same(grouped({ v: { $maxN: { n: 2, input: '$s' } } }, over), { a: ['z', 'y'], b: ['y', 'Y'] })
  t.same(grouped({ v: { $bottomN: { n: 2, output: '$_id', sortBy: { s: 1, _id: 1 } } } }, over), {
    a: [3, 5],
    b: [2, 6],
  })
  t.end()
})

t.test('n may depend on the group key', (t) => {
  const stages = [
    {
      $group: {
        _id: { k: '$k', n: { $cond: [{ $eq: ['$k', 'a'] }, 1, 2] } },
        v: { $firstN: { n: '$n', input: '$_id' } },
      },
    },
    { $sort: { _id: 1 } },
  ]
  t.same(
    aggregate(stages, documents).map(({ v }) => v),
    [[1], [2, 6]],
  )
  t.end()
})

t.test('D101 percentiles are exact', (t) => {
  const many = Array.from({ length: 5000 }, (_, index) => ({ _id: index, n: (index * 7919) % 5000 }))
  const percentile = { $percentile: { input: '$n', p: [0, 0.001, 0.5, 0.9999, 1], method: 'approximate' } }
  t.same(
    aggregate([{ $group: { _id: null, p: percentile, m: { $median: { input: '$n', method: 'approximate' } } } }], many),
    [{ _id: null, p: [0, 4, 2499, 4999, 4999], m: 2499 }],
  )
  const median = (input: unknown) =>
    aggregate([{ $project: { _id: 0, v: { $median: { input, method: 'approximate' } } } }], [{ _id: 1 }])[0]?.v
  t.equal(median([3, 1, 'x', 2]), 2)
  t.equal(median(7), 7)
  t.equal(median('x'), null)
  t.equal(median(Decimal128.fromString('1.5')), 1.5)
  t.same(
    aggregate(
      [{ $project: { v: { $percentile: { input: '$list', p: [0.5, 1], method: 'approximate' } } } }],
      [{ list: [1, 2] }, {}],
    ).map(({ v }) => v),
    [
      [1, 2],
      [null, null],
    ],
  )
  t.end()
})

t.test('invalid accumulators are refused with the code of the server', (t) => {
  const table: [accumulator: unknown, code: number, message?: string][] = [
    [1, 40234, "The field 'v' must be an accumulator object"],
    [{ $sum: 1, $avg: 2 }, 40238],
    [{ $nope: 1 }, 15952, "unknown group operator '$nope'"],
    [{ $sum: [1, 2] }, 40237, 'The $sum accumulator is a unary operator'],
    [{ $firstN: 5 }, 5787801],
    [{ $firstN: { input: 1 } }, 5787906, "Missing value for 'n'"],
    [{ $firstN: { n: 1 } }, 5787907],
    [{ $firstN: { n: 1, input: 1, x: 1 } }, 5787901],
    [{ $firstN: { n: 0, input: 1 } }, 5787908, "'n' must be greater than 0, found 0"],
    [{ $firstN: { n: 'x', input: 1 } }, 5787902],
    [{ $firstN: { n: 1.5, input: 1 } }, 5787903],
    [{ $topN: { n: 1, output: 1 } }, 5788005, "Missing value for 'sortBy'"],
    [{ $top: { n: 1, output: 1, sortBy: { a: 1 } } }, 5788002],
    [{ $median: { input: 1 } }, 40414],
    [{ $median: { input: 1, method: 'exact' } }, 2],
    [{ $percentile: { input: 1, p: 0.5, method: 'approximate' } }, 7750301],
    [{ $percentile: { input: 1, p: ['x'], method: 'approximate' } }, 7750302],
    [{ $percentile: { input: 1, p: [2], method: 'approximate' } }, 7750303],
    [{ $accumulator: {} }, 4544707, "$accumulator missing required argument 'init'"],
    [{ $accumulator: { init: '', accumulate: '', merge: '', accumulateArgs: [] } }, 31264],
    [{ $mergeObjects: '$n' }, 40400],
    [{ $push: { $divide: [1, 0] } }, 2],
  ]
  for (const [v, code, message] of table) {
    const error = failure(() => aggregate([{ $group: { _id: null, v } }], documents))
    t.equal(error?.code ?? 0, code, JSON.stringify(v))
    if (message !== undefined) t.equal(error?.message, message)
  }
  for (const [stage, code] of [
    [{ $group: { _id: { a: 1 } } }, 17390],
    [{ $group: { v: { $sum: 1 } } }, 15955],
    [{ $group: { _id: 1, 'a.b': { $sum: 1 } } }, 40235],
    [{ $group: 1 }, 15947],
  ] as const)
    t.equal(
      codeOf(() => aggregate([stage], documents)),
      code,
      JSON.stringify(stage),
    )
  t.end()
})

t.test('$bucketAuto rounds boundaries to preferred numbers', (t) => {
  const table: [
    granularity: string,
    numbers: unknown[],
    buckets: number,
    expected: [min: number, max: number, count: number][],
  ][] = [
    [
      'R5',
      [1, 2, 3, 10, 25, 60],
      2,
      [
        [0.63, 4, 3],
        [4, 63, 3],
      ],
    ],
    [
      '1-2-5',
      [0, 0, 3, 7],
      2,
      [
        [0, 2, 2],
        [2, 10, 2],
      ],
    ],
    [
      'POWERSOF2',
      [1, 5, 9, 100],
      4,
      [
        [0.5, 2, 1],
        [2, 8, 1],
        [8, 16, 1],
        [16, 128, 1],
      ],
    ],
    ['POWERSOF2', [Long.fromNumber(4)], 1, [[2, 8, 1]]],
    ['E6', [0.8, 12, 14], 1, [[0.68, 15, 3]]],
    ['R80', [5], 3, [[4.87, 5.15, 1]]],
  ]
  for (const [granularity, numbers, buckets, expected] of table) {
    const stage = { $bucketAuto: { groupBy: '$n', buckets, granularity } }
    const results = aggregate(
      [stage],
      numbers.map((n) => ({ n })),
    )
    t.same(
      results.map(({ _id, count }) => [Number(_id.min), Number(_id.max), count]),
      expected,
      `${granularity} ${JSON.stringify(numbers)}`,
    )
  }
  const output = { first: { $first: '$_id' }, all: { $push: '$_id' }, sum: { $sum: '$n' } }
  const given = [3, 1, 2].map((n, index) => ({ _id: index, n }))
  t.same(aggregate([{ $bucketAuto: { groupBy: '$n', buckets: 1, output } }], given), [
    { _id: { min: 1, max: 3 }, first: 0, all: [0, 1, 2], sum: 6 },
  ])
  t.end()
})

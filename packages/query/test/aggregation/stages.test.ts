import { encode, Long, type Document } from '@shardlab/bson'
import fc from 'fast-check'
import t from 'tap'
import { languageOf, splitPipeline } from '../../src/index.js'
import { aggregate, failure, json, run } from '../support/helpers.js'

const scores = [5, 1, 9, 3, 7].map((n, _id) => ({ _id, n, k: n % 2 === 1 && n > 4 ? 'big' : 'small' }))

t.test('accumulators give the values and types of the server', (t) => {
  const table: [accumulator: Document, expected: unknown][] = [
    [{ $stdDevPop: '$n' }, Math.sqrt(8)],
    [{ $stdDevSamp: '$n' }, Math.sqrt(10)],
    [{ $stdDevSamp: '$q' }, null],
    [{ $firstN: { n: 2, input: '$n' } }, [5, 1]],
    [{ $lastN: { n: 2, input: '$q' } }, [null, null]],
    [{ $minN: { n: 2, input: '$n' } }, [1, 3]],
    [{ $maxN: { n: 9, input: '$n' } }, [9, 7, 5, 3, 1]],
    [{ $maxN: { n: 9, input: '$q' } }, []],
    [{ $top: { sortBy: { n: -1 }, output: '$_id' } }, 2],
    [
      { $topN: { n: 2, sortBy: { n: 1 }, output: ['$n', '$k'] } },
      [
        [1, 'small'],
        [3, 'small'],
      ],
    ],
    [{ $bottom: { sortBy: { n: 1 }, output: '$n' } }, 9],
    [{ $bottomN: { n: 2, sortBy: { n: 1 }, output: '$n' } }, [7, 9]],
    [{ $mergeObjects: { last: '$n' } }, { last: 7 }],
  ]
  for (const [accumulator, expected] of table)
    t.same(
      aggregate([{ $group: { _id: null, v: accumulator } }], scores).map(json),
      [json({ _id: null, v: expected })],
      JSON.stringify(accumulator),
    )
  const errors: [accumulator: Document, code: number, message?: string][] = [
    [{ $firstN: { input: '$n' } }, 5787906, "Missing value for 'n'"],
    [{ $firstN: { n: 1 } }, 5787907, "Missing value for 'input'"],
    [{ $firstN: { n: 0, input: '$n' } }, 5787908],
    [{ $firstN: { n: 'x', input: '$n' } }, 5787902],
    [{ $topN: { n: 1, sortBy: { n: 1 } } }, 5788004],
    [{ $top: { n: 1, sortBy: { n: 1 }, output: 1 } }, 5788002],
    [{ $top: { output: 1 } }, 5788005],
    [{ $count: 1 }, 14],
  ]
  for (const [accumulator, code, message] of errors) {
    const error = failure(() => aggregate([{ $group: { _id: null, v: accumulator } }], scores))
    t.equal(error?.code ?? 0, code, JSON.stringify(accumulator))
    if (message !== undefined) t.equal(error?.message, message)
  }
  t.end()
})

t.test('a sample of size 0 is empty before 7.0', (t) => {
  const empty = [{ $sample: { size: 0 } }]
  t.same(aggregate(empty, scores, { language: languageOf('5.0') }), [])
  t.equal(
    failure(() => aggregate([{ $sample: { size: -1 } }], scores, { language: languageOf('5.0') }))?.message,
    'size argument to $sample must not be negative',
  )
  t.equal(failure(() => aggregate(empty, scores))?.code, 28747)
  t.end()
})

t.test('property: split accumulators give the results of whole ones', (t) => {
  const accumulators: Document[] = [
    { $minN: { n: 3, input: '$n' } },
    { $maxN: { n: 3, input: '$n' } },
    { $topN: { n: 2, sortBy: { n: -1, _id: 1 }, output: '$_id' } },
    { $bottom: { sortBy: { n: 1, _id: 1 }, output: '$_id' } },
    { $count: {} },
    { $avg: '$n' },
  ]
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: -9, max: 9 }), fc.nat(2)), { maxLength: 60 }),
      fc.constantFrom(...accumulators),
      (given, v) => {
        const stages = [encode({ $group: { _id: null, v } })]
        const documents = given.map(([n, shard], _id) => ({ shard, bytes: encode({ _id, n }) }))
        const { shardsPart, mergerPart } = splitPipeline(stages)
        const streams = [0, 1, 2].flatMap((shard) =>
          run(
            shardsPart,
            documents.filter((document) => document.shard === shard).map(({ bytes }) => bytes),
          ),
        )
        const whole = run(
          stages,
          documents.map(({ bytes }) => bytes),
        )
        return Buffer.concat(run(mergerPart, streams)).equals(Buffer.concat(whole))
      },
    ),
    { numRuns: 300 },
  )
  // The sum overflows int32 on one shard but not over all shards.
  const sum = splitPipeline([encode({ $group: { _id: null, v: { $sum: '$n' } } })])
  const partials = [[{ n: 1 }], [{ n: -2147483648 }, { n: -1 }]].flatMap((part) =>
    run(
      sum.shardsPart,
      part.map((document) => encode(document)),
    ),
  )
  t.strictSame(Buffer.from(run(sum.mergerPart, partials)[0]!), Buffer.from(encode({ _id: null, v: -2147483648 })))
  const deviation = splitPipeline([encode({ $group: { _id: null, v: { $stdDevPop: '$n' } } })])
  const halves = [scores.slice(0, 2), scores.slice(2), []].flatMap((part) =>
    run(
      deviation.shardsPart,
      part.map((document) => encode(document)),
    ),
  )
  const merged = run(deviation.mergerPart, halves)
  t.equal(merged.length, 1)
  t.ok(Math.abs(Buffer.from(merged[0]!).readDoubleLE(merged[0]!.length - 9) - Math.sqrt(8)) < 1e-12)
  t.end()
})

t.test('buckets, facets and redaction give the documents of the server', (t) => {
  const table: [stages: Document[], expected: Document[]][] = [
    [
      [{ $bucket: { groupBy: '$n', boundaries: [0, 4, 8], default: 'rest' } }],
      [
        { _id: 0, count: 2 },
        { _id: 4, count: 2 },
        { _id: 'rest', count: 1 },
      ],
    ],
    [
      [{ $bucket: { groupBy: '$n', boundaries: [0, 5, 10], output: { total: { $sum: '$n' } } } }],
      [
        { _id: 0, total: 4 },
        { _id: 5, total: 21 },
      ],
    ],
    [
      [{ $bucketAuto: { groupBy: '$n', buckets: 2 } }],
      [
        { _id: { min: 1, max: 7 }, count: 3 },
        { _id: { min: 7, max: 9 }, count: 2 },
      ],
    ],
    [
      [{ $bucketAuto: { groupBy: '$k', buckets: 5, output: { n: { $max: '$n' } } } }],
      [
        { _id: { min: 'big', max: 'small' }, n: 9 },
        { _id: { min: 'small', max: 'small' }, n: 3 },
      ],
    ],
    [
      [
        {
          $facet: {
            count: [{ $count: 'n' }],
            first: [{ $sort: { n: 1 } }, { $limit: 1 }, { $project: { n: 1 } }],
            none: [{ $match: { n: 99 } }],
          },
        },
      ],
      [{ count: [{ n: 5 }], first: [{ _id: 1, n: 1 }], none: [] }],
    ],
    [[{ $match: { _id: 9 } }, { $facet: { all: [{ $limit: 1 }] } }], [{ all: [] }]],
    [[{ $sample: { size: 9 } }, { $count: 'n' }], [{ n: 5 }]],
    [[{ $sample: { size: 2 } }, { $count: 'n' }], [{ n: 2 }]],
  ]
  for (const [stages, expected] of table)
    t.same(aggregate(stages, scores).map(json), expected.map(json), JSON.stringify(stages))
  const secret = { _id: 1, level: 1, a: { level: 5, x: 1 }, list: [{ level: 1, y: 2 }, { level: 5 }, 3], plain: 0 }
  const redact = { $redact: { $cond: [{ $lte: ['$level', 3] }, '$$DESCEND', '$$PRUNE'] } }
  t.same(aggregate([redact], [secret, { level: 9 }]), [{ _id: 1, level: 1, list: [{ level: 1, y: 2 }, 3], plain: 0 }])
  t.same(aggregate([{ $redact: '$$KEEP' }], [secret]), [secret])
  // At every level $$ROOT is the whole document and $$CURRENT the embedded one.
  const byRoot = { $redact: { $cond: [{ $lte: ['$$CURRENT.level', '$$ROOT.limit'] }, '$$DESCEND', '$$PRUNE'] } }
  t.same(aggregate([byRoot], [{ limit: 2, level: 1, a: { level: 2, b: [{ level: 3 }, { level: 0 }] } }]), [
    { limit: 2, level: 1, a: { level: 2, b: [{ level: 0 }] } },
  ])
  const errors: [stage: Document, code: number, message?: string][] = [
    [{ $bucket: 1 }, 40201],
    [{ $bucket: { groupBy: 'n', boundaries: [1, 2] } }, 40202],
    [
      { $bucket: { groupBy: '$n', boundaries: [1] } },
      40192,
      "The $bucket 'boundaries' field must have at least 2 values, but found 1 value(s).",
    ],
    [{ $bucket: { groupBy: '$n', boundaries: [1, 'x'] } }, 40193],
    [{ $bucket: { groupBy: '$n', boundaries: [2, 1] } }, 40194],
    [{ $bucket: { groupBy: '$n', boundaries: [1, 9], default: 5 } }, 40199],
    [{ $bucket: { groupBy: '$n', boundaries: [0, 1] } }, 40066],
    [{ $bucket: { groupBy: '$n' } }, 40198],
    [{ $bucketAuto: { groupBy: '$n', buckets: 0 } }, 40243],
    [{ $bucketAuto: { groupBy: '$n', buckets: 2, granularity: 'R6' } }, 40257, "Unknown rounding granularity 'R6'"],
    [{ $bucketAuto: { groupBy: '$n', buckets: 2, granularity: 5 } }, 40261],
    [{ $bucketAuto: { groupBy: '$k', buckets: 2, granularity: 'R5' } }, 40258],
    [{ $bucketAuto: { groupBy: '$n', buckets: 2, output: { a: { $firstN: { n: '$k', input: '$n' } } } } }, 4544714],
    [{ $bucketAuto: { groupBy: '$n', buckets: 2, size: 1 } }, 40245],
    [{ $facet: {} }, 40169],
    [{ $facet: { a: 1 } }, 40170, 'arguments to $facet must be arrays, a is type int'],
    [{ $facet: { a: [] } }, 2],
    [{ $facet: { a: [{ $facet: { b: [] } }] } }, 40600, '$facet is not allowed to be used within a $facet stage'],
    [{ $facet: { a: [{ $nope: 1 }] } }, 40324],
    [{ $sample: { size: Long.fromNumber(-1) } }, 28747],
    [{ $sample: {} }, 28749],
    [{ $redact: 'x' }, 17053],
  ]
  for (const [stage, code, message] of errors) {
    const error = failure(() => aggregate([stage], scores))
    t.equal(error?.code ?? 0, code, JSON.stringify(stage))
    if (message !== undefined) t.equal(error?.message, message)
  }
  t.end()
})

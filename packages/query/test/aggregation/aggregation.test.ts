import { Decimal128, encode, hashValue, Long, toExtendedJson, toRawValue, type Document } from '@shardlab/bson'
import fc from 'fast-check'
import t from 'tap'
import { compilePipeline, parseSort, sortKeyOf, splitPipeline } from '../../src/index.js'
import { aggregate, codeOf, context, evaluate, failure, json, run } from '../support/helpers.js'

const v = (value: unknown) => json({ v: value })

t.test('expressions evaluate to the value and type of the server', (t) => {
  const table: [expression: unknown, document: Document, expected: string][] = [
    ['$a.b', { a: { b: 1 } }, v(1)],
    ['$a.b', { a: [{ b: 1 }, 5, {}, { b: 2 }] }, v([1, 2])],
    ['$a.b', {}, '{}'],
    ['$a.0', { a: [1] }, v([])],
    ['$$ROOT', { a: 1 }, v({ a: 1 })],
    ['$$CURRENT.a', { a: 1 }, v(1)],
    ['$$REMOVE', {}, '{}'],
    ['$$NOW', {}, v(new Date(context.now()))],
    [{ $literal: '$a' }, {}, v('$a')],
    [{ x: '$a', y: '$q' }, { a: 1 }, v({ x: 1 })],
    [['$a', '$q'], { a: 1 }, v([1, null])],
    [{ $eq: ['$a', 1] }, { a: Long.fromNumber(1) }, v(true)],
    [{ $lt: ['$q', null] }, {}, v(true)],
    [{ $eq: ['$q', null] }, {}, v(false)],
    [{ $cmp: ['x', 5] }, {}, v(1)],
    [{ $and: ['$a', { $gt: ['$a', 0] }] }, { a: 1 }, v(true)],
    [{ $or: [] }, {}, v(false)],
    [{ $not: [0] }, {}, v(true)],
    [{ $cond: ['$a', 'y', 'n'] }, { a: 0 }, v('n')],
    [{ $cond: { if: true, then: 1, else: 2 } }, {}, v(1)],
    [{ $ifNull: ['$a', '$b', 3] }, { a: null }, v(3)],
    [
      {
        $switch: {
          branches: [
            { case: false, then: 1 },
            { case: true, then: 2 },
          ],
          default: 3,
        },
      },
      {},
      v(2),
    ],
    [{ $add: [1, 2] }, {}, v(3)],
    [{ $add: [2147483647, 1] }, {}, v(Long.fromString('2147483648'))],
    [{ $add: ['$q', 1] }, {}, v(null)],
    [{ $add: [new Date(5), 2] }, {}, v(new Date(7))],
    [{ $add: [Decimal128.fromString('0.1'), 1] }, {}, v(Decimal128.fromString('1.1'))],
    [{ $subtract: [new Date(9), new Date(5)] }, {}, v(Long.fromNumber(4))],
    [{ $subtract: [5, 7] }, {}, v(-2)],
    [{ $multiply: [2, 3, 4] }, {}, v(24)],
    [{ $divide: [6, 4] }, {}, v(1.5)],
    [{ $mod: [-7, 4] }, {}, v(-3)],
    [{ $abs: -5 }, {}, v(5)],
    [{ $concat: ['a', 'b', 'c'] }, {}, v('abc')],
    [{ $concat: ['a', null] }, {}, v(null)],
    [{ $toString: 5 }, {}, v('5')],
    [{ $toUpper: 'äb' }, {}, v('äB')],
    [{ $toLower: null }, {}, v('')],
    [{ $type: '$q' }, {}, v('missing')],
    [{ $type: '$a' }, { a: Long.fromNumber(1) }, v('long')],
    [{ $size: '$a' }, { a: [1, 2] }, v(2)],
    [{ $arrayElemAt: ['$a', -1] }, { a: [1, 2] }, v(2)],
    [{ $arrayElemAt: ['$a', 5] }, { a: [1, 2] }, '{}'],
    [{ $in: [2, '$a'] }, { a: [1, Long.fromNumber(2)] }, v(true)],
    [{ $map: { input: '$a', as: 'x', in: { $add: ['$$x', '$b'] } } }, { a: [1, 2], b: 10 }, v([11, 12])],
    [{ $filter: { input: '$a', cond: { $gt: ['$$this', 1] } } }, { a: [1, 2, 3] }, v([2, 3])],
    [{ $reduce: { input: '$a', initialValue: 0, in: { $add: ['$$value', '$$this'] } } }, { a: [1, 2, 3] }, v(6)],
    [
      { $let: { vars: { x: '$a' }, in: { $let: { vars: { y: { $add: ['$$x', 1] } }, in: ['$$x', '$$y'] } } } },
      { a: 1 },
      v([1, 2]),
    ],
    [
      { $map: { input: [1, 2], as: 'x', in: { $map: { input: [10], as: 'y', in: { $add: ['$$x', '$$y'] } } } } },
      {},
      v([[11], [12]]),
    ],
    [{ $mergeObjects: ['$a', { b: 2 }] }, { a: { b: 1, c: 1 } }, v({ b: 2, c: 1 })],
    [{ $toHashedIndexKey: 'string to hash' }, {}, v(Long.fromString('763543691661428748'))],
    [{ $toHashedIndexKey: '$q' }, {}, v(Long.fromBigInt(hashValue(toRawValue(null))))],
    [{ $rand: {} }, {}, v(0.5)],
  ]
  for (const [expression, document, expected] of table)
    t.equal(evaluate(expression, document), expected, JSON.stringify(expression))
  const errors: [expression: unknown, code: number, message?: string][] = [
    [{ $nope: 1 }, 168, "Unrecognized expression '$nope'"],
    ['$$nope', 17276, 'Use of undefined variable: nope'],
    [{ $eq: [1] }, 16020, 'Expression $eq takes exactly 2 arguments. 1 were passed in.'],
    [{ $add: ['x', 1] }, 14, '$add only supports numeric or date types, not string'],
    [{ $divide: [1, 0] }, 2, "can't $divide by zero"],
    [{ $size: 5 }, 17124, 'The argument to $size must be an array, but was of type: int'],
    [{ $concat: [1] }, 16702, '$concat only supports strings, not int'],
    [{ $add: [1], $subtract: [1] }, 15983],
    ['$a.', 40353],
  ]
  for (const [expression, code, message] of errors) {
    const error = failure(() => evaluate(expression))
    t.equal(error?.code ?? 0, code, JSON.stringify(expression))
    if (message !== undefined) t.equal(error?.message, message)
  }
  t.end()
})

const sales = [
  { _id: 1, k: 'a', n: 5, tags: ['x', 'y'] },
  { _id: 2, k: 'b', n: Long.fromNumber(7), tags: [] },
  { _id: 3, k: 'a', n: 2.5 },
  { _id: 4, n: null, tags: 'z' },
]

t.test('stages output the documents of the server', (t) => {
  const table: [stages: Document[], expected: Document[]][] = [
    [
      [{ $match: { k: 'a' } }, { $project: { _id: 0, n: 1 } }],
      [{ n: 5 }, { n: 2.5 }],
    ],
    [
      [{ $sort: { n: -1 } }, { $limit: 2 }, { $project: { _id: 1 } }],
      [{ _id: 2 }, { _id: 1 }],
    ],
    [
      [{ $sort: { n: 1 } }, { $skip: 1 }, { $limit: 2 }, { $project: { _id: 1 } }],
      [{ _id: 3 }, { _id: 1 }],
    ],
    [
      [{ $group: { _id: '$k', total: { $sum: '$n' }, avg: { $avg: '$n' }, c: { $count: {} } } }],
      [
        { _id: 'a', total: 7.5, avg: 3.75, c: 2 },
        { _id: 'b', total: Long.fromNumber(7), avg: 7, c: 1 },
        { _id: null, total: 0, avg: null, c: 1 },
      ],
    ],
    [
      [
        {
          $group: {
            _id: null,
            min: { $min: '$n' },
            max: { $max: '$n' },
            first: { $first: '$_id' },
            last: { $last: '$q' },
            all: { $push: '$k' },
          },
        },
      ],
      [{ _id: null, min: 2.5, max: Long.fromNumber(7), first: 1, last: null, all: ['a', 'b', 'a'] }],
    ],
    [
      [{ $unwind: '$tags' }, { $project: { tags: 1 } }],
      [
        { _id: 1, tags: 'x' },
        { _id: 1, tags: 'y' },
        { _id: 4, tags: 'z' },
      ],
    ],
    [
      [
        { $match: { _id: { $in: [1, 2] } } },
        { $unwind: { path: '$tags', preserveNullAndEmptyArrays: true, includeArrayIndex: 'i' } },
        { $project: { tags: 1, i: 1 } },
      ],
      [
        { _id: 1, tags: 'x', i: Long.fromNumber(0) },
        { _id: 1, tags: 'y', i: Long.fromNumber(1) },
        { _id: 2, i: null },
      ],
    ],
    [[{ $count: 'n' }], [{ n: 4 }]],
    [[{ $match: { k: 'zz' } }, { $count: 'n' }], []],
    [[{ $sortByCount: '$k' }, { $limit: 1 }], [{ _id: 'a', count: 2 }]],
    [[{ $match: { _id: 1 } }, { $replaceRoot: { newRoot: { id: '$_id' } } }], [{ id: 1 }]],
    [
      [{ $match: { _id: 1 } }, { $addFields: { n: { $add: ['$n', 1] }, 'x.y': 1 } }, { $unset: ['tags', 'k'] }],
      [{ _id: 1, n: 6, x: { y: 1 } }],
    ],
    [[{ $match: { _id: 1 } }, { $set: { k: '$$REMOVE', tags: 1 } }], [{ _id: 1, n: 5, tags: 1 }]],
  ]
  for (const [stages, expected] of table)
    t.same(aggregate(stages, sales).map(json), expected.map(json), JSON.stringify(stages))
  t.end()
})

t.test('group keys that compare as equal make one group', (t) => {
  const groups = aggregate(
    [{ $group: { _id: '$a', n: { $sum: 1 } } }],
    [{ a: 1 }, { a: Long.fromNumber(1) }, { a: Decimal128.fromString('1.0') }, { a: '1' }, { a: [1] }, {}, { a: null }],
  )
  t.same(
    groups.map((group) => group.n),
    [3, 1, 1, 2],
  )
  t.end()
})

t.test('invalid stages are refused with the code of the server', (t) => {
  const table: [stages: Document[], code: number, message?: string][] = [
    [[{ $foo: 1 }], 40324, "Unrecognized pipeline stage name: '$foo'"],
    [[{}], 40323, 'A pipeline stage specification object must contain exactly one field.'],
    [[{ $limit: 0 }], 15958, 'the limit must be positive'],
    [[{ $skip: -1 }], 5107200],
    [[{ $group: {} }], 15955, 'a group specification must include an _id'],
    [[{ $group: { _id: 1, a: { $foo: 1 } } }], 15952, "unknown group operator '$foo'"],
    [[{ $group: { _id: 1, a: 5 } }], 40234],
    [
      [{ $project: { a: 1, b: 0 } }],
      31254,
      'Invalid $project :: caused by :: Cannot do exclusion on field b in inclusion projection',
    ],
    [[{ $project: {} }], 51272],
    [
      [{ $addFields: { a: { b: {} } } }],
      40180,
      'Invalid $addFields :: caused by :: an empty object is not a valid value. Found empty object at path a.b',
    ],
    [[{ $set: { a: {} } }], 40180],
    [[{ $addFields: {} }], 40177, 'Invalid $addFields :: caused by :: specification must have at least one field'],
    [[{ $unwind: 'a' }], 28818],
    [[{ $count: '' }], 40157],
    [[{ $replaceRoot: { newRoot: '$k' } }], 40228],
    [[{ $sort: {} }], 15976],
  ]
  for (const [stages, code, message] of table) {
    const error = failure(() => aggregate(stages, sales))
    t.equal(error?.code ?? 0, code, JSON.stringify(stages))
    if (message !== undefined) t.equal(error?.message, message)
  }
  const small = () => {
    const pipeline = compilePipeline([encode({ $sort: { a: 1 } })], context, { memoryLimitBytes: 30 }).open()
    for (let i = 0; i < 5; i++) pipeline.push(encode({ a: i }))
  }
  t.equal(codeOf(small), 292)
  t.end()
})

t.test('a run reports when it needs no more input, and a pipeline reports the query that a plan can run', (t) => {
  const pipeline = compilePipeline(
    [encode({ $match: { a: 1 } }), encode({ $match: { b: 1 } }), encode({ $limit: 2 })],
    context,
  )
  t.equal(toExtendedJson(pipeline.leadingFilter!), json({ $and: [{ a: 1 }, { b: 1 }] }))
  const open = pipeline.open()
  for (let i = 0; i < 2; i++) {
    t.notOk(open.satisfied)
    open.push(encode({ a: 1, b: 1 }))
  }
  t.ok(open.satisfied)
  t.equal(open.output.length, 2)
  t.equal(compilePipeline([encode({ $collStats: {} })], context).source?.name, '$collStats')
  const applied = compilePipeline([encode({ $match: { a: 1 } })], context).openAfterLeading()
  applied.push(encode({ a: 2 }))
  t.equal(applied.output.length, 1)
  t.end()
})

t.test('a pipeline splits into a part for the shards and a part for the merger', (t) => {
  const split = (...stages: Document[]) => {
    const { shardsPart, mergerPart, mergeSort } = splitPipeline(stages.map((stage) => encode(stage)))
    return {
      shards: shardsPart.map((stage) => toExtendedJson(stage)),
      merger: mergerPart.map((stage) => toExtendedJson(stage)),
      sort: mergeSort === null ? null : toExtendedJson(mergeSort),
    }
  }
  const match = { $match: { a: 1 } }
  t.same(split(match, { $unwind: '$b' }), { shards: [json(match), json({ $unwind: '$b' })], merger: [], sort: null })
  t.same(split(match, { $sort: { a: 1 } }, { $skip: 2 }, { $limit: 3 }), {
    shards: [json(match), json({ $sort: { a: 1 } }), json({ $limit: Long.fromNumber(5) })],
    merger: [json({ $skip: 2 }), json({ $limit: 3 })],
    sort: json({ a: 1 }),
  })
  t.same(split({ $limit: 3 }, match), {
    shards: [json({ $limit: Long.fromNumber(3) })],
    merger: [json({ $limit: 3 }), json(match)],
    sort: null,
  })
  t.same(split({ $skip: 3 }, match), { shards: [], merger: [json({ $skip: 3 }), json(match)], sort: null })
  const count = split({ $count: 'n' })
  t.equal(count.merger.length, 2)
  t.same(split({ $group: { _id: '$k', n: { $avg: '$v' } } }), {
    shards: [json({ $group: { _id: '$k', n: { $avg: '$v' }, $willBeMerged: true } })],
    merger: [json({ $group: { _id: '$$ROOT._id', n: { $avg: '$$ROOT.n' }, $doingMerge: true } })],
    sort: null,
  })
  t.end()
})

t.test('property: a split pipeline over any distribution gives the results of the whole pipeline', (t) => {
  const documents = fc.array(
    fc.record({
      k: fc.constantFrom('a', 'b', null),
      n: fc.oneof(
        fc.integer(),
        fc.constant('text'),
        fc.integer().map((n) => Long.fromNumber(n)),
      ),
      shard: fc.nat(2),
    }),
    { maxLength: 20 },
  )
  const pipelines: Document[][] = [
    [
      { $match: { k: 'a' } },
      {
        $group: {
          _id: '$k',
          sum: { $sum: '$n' },
          avg: { $avg: '$n' },
          min: { $min: '$n' },
          max: { $max: '$n' },
          c: { $count: {} },
          set: { $addToSet: '$k' },
        },
      },
    ],
    [{ $group: { _id: '$k', c: { $count: {} } } }, { $sort: { _id: 1 } }],
    [{ $sort: { n: 1, _id: 1 } }, { $skip: 2 }, { $limit: 5 }],
    [{ $sort: { n: -1, _id: -1 } }, { $project: { n: 1 } }],
    [{ $count: 'total' }],
    [{ $sortByCount: '$k' }, { $sort: { count: 1, _id: 1 } }],
    [{ $group: { _id: null, '': { $sum: 1 } } }],
  ]
  fc.assert(
    fc.property(documents, fc.constantFrom(...pipelines), (given, stages) => {
      const all = given.map((document, index) => ({
        shard: document.shard,
        bytes: encode({ _id: index, k: document.k, n: document.n }),
      }))
      const encoded = stages.map((stage) => encode(stage))
      const whole = run(
        encoded,
        all.map((document) => document.bytes),
      )
      const { shardsPart, mergerPart, mergeSort } = splitPipeline(encoded)
      const streams = [0, 1, 2].map((shard) =>
        run(
          shardsPart,
          all.filter((document) => document.shard === shard).map((document) => document.bytes),
        ),
      )
      let merged = streams.flat()
      if (mergeSort !== null) {
        const sort = parseSort(mergeSort)
        merged = merged
          .map((document) => ({ key: sortKeyOf(document, sort), document }))
          .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
          .map((entry) => entry.document)
      }
      const result = run(mergerPart, merged)
      const text = (list: Uint8Array[]) => list.map((document) => toExtendedJson(document, { canonical: true }))
      const ordered = stages.some((stage) => '$sort' in stage)
      const [left, right] = [text(result), text(whole)]
      return JSON.stringify(ordered ? left : left.sort()) === JSON.stringify(ordered ? right : right.sort())
    }),
    { numRuns: 300 },
  )
  t.end()
})

import { decode, encode, type Document } from '@shardlab/bson'
import fc from 'fast-check'
import t from 'tap'
import { compilePipeline, splitBeforeJoins } from '../../src/index.js'
import { aggregate, context, failure, json } from '../support/helpers.js'

const compile = (stages: readonly Document[], target?: 'collection' | 'none') =>
  compilePipeline(
    stages.map((stage) => encode(stage)),
    context,
    { db: 'test', ...(target === undefined ? {} : { target }) },
  )
const order = (...stages: Document[]) => compile(stages).stages.map((stage) => decode(stage))

t.test('stages are refused in positions that the server does not allow', (t) => {
  const table: [stages: Document[], target: 'collection' | 'none', code: number, message?: string][] = [
    [
      [{ $match: {} }, { $collStats: {} }],
      'collection',
      40602,
      '$collStats is only valid as the first stage in a pipeline',
    ],
    [[{ $out: 'x' }, { $match: {} }], 'collection', 40601, '$out can only be the final stage in the pipeline'],
    [[{ $merge: 'x' }, { $match: {} }], 'collection', 40601],
    [[{ $facet: { a: [{ $out: 'x' }] } }], 'collection', 40600, '$out is not allowed to be used within a $facet stage'],
    [[{ $facet: { a: [{ $indexStats: {} }] } }], 'collection', 40600],
    [[{ $documents: [] }], 'collection', 73, "'$documents' can only be run with {aggregate: 1}"],
    [[{ $documents: [] }], 'none', 0],
    [[], 'none', 73, '{aggregate: 1} is not valid for an empty pipeline.'],
    [[{ $match: {} }], 'none', 73, "{aggregate: 1} is not valid for '$match'; a collection is required."],
    [[{ $collStats: {} }], 'none', 73],
    [[{ $currentOp: {} }], 'none', 0],
    [[{ $currentOp: {} }], 'collection', 73],
    [[{ $currentOp: 1 }], 'none', 14, '$currentOp options must be specified in an object, but found: int'],
    [[{ $indexStats: { a: 1 } }], 'collection', 28803],
    [[{ $collStats: 1 }], 'collection', 5447000, '$collStats must take a nested object but found: $collStats: 1'],
    [[{ $changeStream: {} }], 'none', 0],
    [[{ $changeStream: 1 }], 'none', 50808],
    [[{ $match: {} }, { $changeStream: {} }], 'collection', 40602],
    [[{ $search: {} }], 'collection', 31082],
    [[{ $listSearchIndexes: {} }], 'collection', 31082],
    [
      Array.from({ length: 1001 }, () => ({ $match: {} })),
      'collection',
      9,
      'Pipeline length must be no longer than 1000 stages',
    ],
  ]
  for (const [stages, target, code, message] of table) {
    const error = failure(() => compile(stages, target))
    t.equal(error?.code ?? 0, code, JSON.stringify(stages.slice(0, 3)))
    if (message !== undefined) t.equal(error?.message, message)
  }
  t.match(failure(() => compile([{ $listSearchIndexes: {} }]))?.message, /Atlas/)
  t.equal(compile([{ $match: {} }, { $merge: 'x' }]).writer?.name, '$merge')
  t.equal(compile([{ $match: {} }]).writer, null)
  t.end()
})

t.test('the arguments of $out and $merge are parsed', (t) => {
  const table: [stage: Document, code: number, message?: string][] = [
    [{ $out: 1 }, 16990, '$out only supports a string or object argument, but found int'],
    [{ $out: { db: 'a' } }, 40414, "BSON field '$out.coll' is missing but a required field"],
    [{ $out: { db: 'a', coll: 'b', x: 1 } }, 40415],
    [{ $out: '' }, 73],
    [{ $out: 'system.x' }, 17385, "Can't $out to special collection: system.x"],
    [{ $out: { db: 'config', coll: 'b' } }, 31321, "Can't $out to internal database: config"],
    [{ $out: { db: 'a', coll: 'b' } }, 0],
    [{ $merge: 1 }, 14, '$merge requires a string or object argument, but found int'],
    [{ $merge: {} }, 40414],
    [{ $merge: { into: 'x', nope: 1 } }, 40415],
    [{ $merge: { into: 1 } }, 51178],
    [{ $merge: { into: '' } }, 5786800],
    [{ $merge: { into: { db: 'x' } } }, 5786801],
    [{ $merge: { into: 'x', on: 1 } }, 51186],
    [{ $merge: { into: 'x', on: [1] } }, 51134],
    [{ $merge: { into: 'x', on: [] } }, 51187],
    [{ $merge: { into: 'x', on: ['a', 'a'] } }, 31465, "Found a duplicate field 'a'"],
    [{ $merge: { into: 'x', whenMatched: 1 } }, 51191],
    [
      { $merge: { into: 'x', whenMatched: 'pipeline' } },
      2,
      "Enumeration value 'pipeline' for field 'whenMatched' is not a valid value.",
    ],
    [
      { $merge: { into: 'x', whenNotMatched: 'x' } },
      2,
      "Enumeration value 'x' for field '$merge.whenNotMatched' is not a valid value.",
    ],
    [
      { $merge: { into: 'x', whenMatched: 'fail', whenNotMatched: 'discard' } },
      51181,
      "Combination of $merge modes 'whenMatched: fail' and 'whenNotMatched: discard' is not supported",
    ],
    [{ $merge: { into: 'x', let: { a: 1 } } }, 51199],
    [{ $merge: { into: 'x', let: { new: 1 }, whenMatched: [] } }, 51273],
    [{ $merge: { into: 'x', whenMatched: [{ $match: {} }] } }, 72],
    [{ $merge: { into: 'x', whenMatched: [{ $set: { a: '$$new.a' } }] } }, 0],
    [{ $merge: { into: 'x', let: { v: '$a' }, whenMatched: [{ $set: { a: '$$w' } }] } }, 17276],
    [{ $merge: { into: { db: 'admin', coll: 'x' } } }, 31320],
    [{ $merge: 'system.x' }, 31319],
  ]
  for (const [stage, code, message] of table) {
    const error = failure(() => compile([stage]))
    t.equal(error?.code ?? 0, code, JSON.stringify(stage))
    if (message !== undefined) t.equal(error?.message, message)
  }
  t.end()
})

t.test('D204 $out makes no time-series collections', (t) => {
  const stage = { $out: { db: 'a', coll: 'b', timeseries: { timeField: 't' } } }
  t.equal(failure(() => compile([stage]))?.codeName, 'InvalidOptions')
  t.end()
})

t.test('filters move in front of stages that do not change the fields they test', (t) => {
  const match = { $match: { a: 1 } }
  t.same(order({ $sort: { b: 1 } }, match), [match, { $sort: { b: 1 } }])
  t.same(order({ $addFields: { b: 2 } }, match), [match, { $addFields: { b: 2 } }])
  t.same(order({ $addFields: { 'a.x': 2 } }, match), [{ $addFields: { 'a.x': 2 } }, match])
  t.same(order({ $unset: 'b' }, match), [match, { $unset: 'b' }])
  t.same(order({ $unwind: '$b' }, match), [match, { $unwind: '$b' }])
  t.same(order({ $unwind: { path: '$b', includeArrayIndex: 'a' } }, match), [
    { $unwind: { path: '$b', includeArrayIndex: 'a' } },
    match,
  ])
  t.same(order({ $project: { a: 1 } }, match), [match, { $project: { a: 1 } }])
  t.same(order({ $project: { b: 1 } }, match), [{ $project: { b: 1 } }, match])
  t.same(order({ $project: { a: '$b' } }, match), [{ $project: { a: '$b' } }, match])
  t.same(order({ $project: { _id: '$b' } }, { $match: { _id: 1 } }), [
    { $project: { _id: '$b' } },
    { $match: { _id: 1 } },
  ])
  t.same(order({ $project: { b: 0 } }, match), [match, { $project: { b: 0 } }])
  t.same(order({ $limit: 2 }, match), [{ $limit: 2 }, match])
  t.same(order({ $group: { _id: '$a' } }, match).length, 2)
  const lookup = { $lookup: { from: 'f', localField: 'x', foreignField: 'y', as: 'j' } }
  t.same(
    order(lookup, { $match: { a: 1, 'j.0.b': 2 } }),
    [match, lookup, { $match: { 'j.0.b': 2 } }],
    'a filter is split',
  )
  t.same(order({ $set: { b: 1 } }, { $match: { $or: [{ a: 1 }, { b: 1 }] } }).length, 2)
  t.same(order({ $set: { c: 1 } }, { $match: { $or: [{ a: 1 }, { b: 1 }] } })[0], {
    $match: { $or: [{ a: 1 }, { b: 1 }] },
  })
  t.same(order({ $set: { c: 1 } }, { $match: { $expr: { $eq: ['$a', 1] } } })[0], { $set: { c: 1 } })
  t.end()
})

t.test('limits move in front of one-to-one stages', (t) => {
  t.same(order({ $sort: { a: 1 } }, { $project: { a: 1 } }, { $skip: 1 }, { $limit: 2 }), [
    { $sort: { a: 1 } },
    { $skip: 1 },
    { $limit: 2 },
    { $project: { a: 1 } },
  ])
  t.same(order({ $unwind: '$a' }, { $limit: 2 }), [{ $unwind: '$a' }, { $limit: 2 }])
  t.end()
})

t.test('a plan can run the first stages', (t) => {
  const leading = (...stages: Document[]) => {
    const { filter, sort, skip, limit, stageCount } = compile(stages).leading
    return [
      filter === null ? null : json(decode(filter)),
      sort === null ? null : json(decode(sort)),
      skip,
      limit,
      stageCount,
    ]
  }
  const a = { $match: { a: 1 } }
  t.same(leading(a, { $sort: { b: 1 } }, { $skip: 5 }, { $limit: 10 }, { $group: { _id: null } }), [
    json({ a: 1 }),
    json({ b: 1 }),
    5,
    10,
    4,
  ])
  t.same(leading({ $limit: 10 }, { $skip: 4 }, { $limit: 3 }), [null, null, 4, 3, 3])
  t.same(leading({ $limit: 10 }, { $skip: 4 }), [null, null, 4, 6, 2])
  t.same(leading({ $limit: 3 }, { $skip: 4 }), [null, null, 0, 3, 1], 'a limit of 0 would mean no limit')
  t.same(leading(a, { $sort: { b: 1 } }, { $match: { c: 2 } }), [
    json({ $and: [{ a: 1 }, { c: 2 }] }),
    json({ b: 1 }),
    0,
    0,
    3,
  ])
  t.same(leading({ $group: { _id: 1 } }, { $sort: { _id: 1 } }), [null, null, 0, 0, 0])
  t.end()
})

t.test('splitBeforeJoins cuts a pipeline in front of its first join', (t) => {
  const split = (...stages: Document[]) => {
    const { shardsPart, mergerPart } = splitBeforeJoins(stages.map((stage) => encode(stage)))
    return [shardsPart.map((stage) => decode(stage)), mergerPart.map((stage) => decode(stage))]
  }
  const facet = { $facet: { a: [{ $unionWith: 'f' }] } }
  t.same(split({ $group: { _id: '$a' } }, { $limit: 1 }, { $unionWith: 'f' }, { $limit: 2 }), [
    [{ $group: { _id: '$a' } }, { $limit: 1 }],
    [{ $unionWith: 'f' }, { $limit: 2 }],
  ])
  t.same(split({ $match: {} }, facet), [[{ $match: {} }], [facet]])
  t.same(split({ $facet: { a: [{ $limit: 1 }] } })[1], [])
  t.end()
})

const field = fc.constantFrom('a', 'b', 'c')
const stage: fc.Arbitrary<Document> = fc.oneof(
  fc
    .record({ name: field, value: fc.integer({ min: 0, max: 2 }) })
    .map(({ name, value }): Document => ({ $match: { [name]: value } })),
  fc.record({ x: field, y: field }).map(({ x, y }): Document => ({ $match: { $or: [{ [x]: 0 }, { [`${y}.a`]: 1 }] } })),
  fc.record({ name: field, from: field }).map(({ name, from }): Document => ({ $addFields: { [name]: `$${from}` } })),
  field.map((name): Document => ({ $unset: name })),
  fc
    .record({ x: field, y: field })
    .map(({ x, y }): Document => ({ $project: { [x]: 1, ...(x === y ? {} : { [y]: '$a' }) } })),
  field.map((name): Document => ({ $project: { [name]: 0 } })),
  field.map((name): Document => ({ $unwind: { path: `$${name}`, preserveNullAndEmptyArrays: true } })),
  field.map((name): Document => ({ $sort: { [name]: 1, _id: 1 } })),
  fc.integer({ min: 1, max: 4 }).map((n): Document => ({ $limit: n })),
  fc.integer({ min: 0, max: 2 }).map((n): Document => ({ $skip: n })),
)
const scalar = fc.constantFrom<unknown>(0, 1, 2, null)
const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.record({ a: scalar }, { requiredKeys: [] }))

t.test('property: reordering does not change the results', (t) => {
  fc.assert(
    fc.property(
      fc.array(stage, { minLength: 1, maxLength: 5 }),
      fc.array(fc.record({ a: value, b: value, c: value }, { requiredKeys: [] }), { maxLength: 6 }),
      (stages, documents) => {
        const withIds = documents.map((document, _id) => ({ _id, ...document }))
        // Separate pipelines of one stage cannot be reordered.
        const expected = stages.reduce<Document[]>((input, each) => aggregate([each], input), withIds)
        return aggregate(stages, withIds).map(json).join() === expected.map(json).join()
      },
    ),
    { numRuns: process.env.SHARDLAB_LONG === '1' ? 20_000 : 1000 },
  )
  t.end()
})

import { encode, Long, type Document } from '@shardlab/bson'
import t from 'tap'
import { compileCollation, compilePipeline } from '../../src/index.js'
import { drain, FakeReader, join, joined } from '../support/foreign.js'
import { context, json } from '../support/helpers.js'

const texts = (documents: readonly Document[]) => documents.map(json)

t.test('$lookup matches by equality', (t) => {
  const regex = /x/
  const table: [local: Document, foreign: Document[], ids: unknown[], what: string][] = [
    [
      { a: 1 },
      [
        { _id: 0, b: 1 },
        { _id: 1, b: 2 },
        { _id: 2, b: Long.fromNumber(1) },
      ],
      [0, 2],
      'numbers of any type',
    ],
    [
      {},
      [{ _id: 0 }, { _id: 1, b: null }, { _id: 2, b: 1 }, { _id: 3, b: [] }, { _id: 4, b: [null] }],
      [0, 1, 4],
      'a missing field is null',
    ],
    [{ a: null }, [{ _id: 0 }, { _id: 1, b: null }, { _id: 2, b: 0 }], [0, 1], 'null matches missing'],
    [{ a: [] }, [{ _id: 0 }, { _id: 1, b: [] }, { _id: 2, b: null }], [0, 2], 'an empty array counts as null'],
    [
      { a: [1, 3] },
      [
        { _id: 0, b: 3 },
        { _id: 1, b: [2, 1] },
        { _id: 2, b: [1, 3] },
        { _id: 3, b: 2 },
      ],
      [0, 1, 2],
      'any element, on both sides',
    ],
    [
      { a: [[1, 2]] },
      [
        { _id: 0, b: [1, 2] },
        { _id: 1, b: [[1, 2]] },
        { _id: 2, b: 1 },
      ],
      [0, 1],
      'a nested array is one value',
    ],
    [
      { a: regex },
      [
        { _id: 0, b: 'axb' },
        { _id: 1, b: regex },
      ],
      [1],
      'a regular expression is a value',
    ],
    [
      { a: [regex, 'q'] },
      [
        { _id: 0, b: 'axb' },
        { _id: 1, b: regex },
        { _id: 2, b: 'q' },
      ],
      [1, 2],
      'a regular expression next to other values',
    ],
    [
      { a: { x: 1, y: 2 } },
      [
        { _id: 0, b: { x: 1, y: 2 } },
        { _id: 1, b: { y: 2, x: 1 } },
      ],
      [0],
      'documents with their order of fields',
    ],
  ]
  for (const [local, foreign, ids, what] of table) {
    t.same(joined([local], foreign), [ids], what)
    // One read serves several documents; its results must be assigned to the right ones.
    t.same(joined([local, { a: 'other' }, local], foreign), [ids, [], ids], `${what}, several at once`)
  }
  t.end()
})

t.test('$lookup follows dotted paths through arrays', (t) => {
  const local = [{ a: [{ x: 1 }, { x: [2, 3] }, { y: 4 }] }, { a: { x: 5 } }, { a: [5] }]
  const foreign = [
    { _id: 0, b: [{ c: 1 }] },
    { _id: 1, b: { c: 3 } },
    { _id: 2, b: { c: [5] } },
    { _id: 3, b: [] },
    { _id: 4, b: [{}] },
  ]
  t.same(joined(local, foreign, { localField: 'a.x', foreignField: 'b.c' }), [[0, 1], [2], [4]])
  t.same(
    joined(
      [{ a: [{ x: 7 }, { x: 8 }] }],
      [
        { _id: 0, b: 8 },
        { _id: 1, b: 7 },
      ],
      { localField: 'a.1.x' },
    ),
    [[0]],
    'a number is an array index',
  )
  t.same(
    texts(
      join([{ $lookup: { from: 'f', localField: 'k', foreignField: 'k', as: 'p.q' } }], [{ k: 1, p: { r: 1 } }], {
        f: [{ k: 1 }],
      }),
    ),
    [json({ k: 1, p: { r: 1, q: [{ k: 1 }] } })],
  )
  t.end()
})

t.test('$lookup compares strings by the collation', (t) => {
  const { compare } = compileCollation(encode({ locale: 'en', strength: 2 }))!
  const collated = { ...context, strings: compare }
  const foreign = [
    { _id: 0, b: 'X' },
    { _id: 1, b: 'x' },
    { _id: 2, b: 'y' },
  ]
  t.same(joined([{ a: 'x' }, { a: 'Y' }], foreign, {}, collated), [[0, 1], [2]])
  t.same(joined([{ a: 'x' }, { a: 'Y' }], foreign), [[1], []])
  t.end()
})

t.test('$lookup runs a pipeline on the foreign documents', (t) => {
  const orders = [{ _id: 1, item: 'a', qty: 2 }, { _id: 2, item: 'b', qty: 9 }, { _id: 3 }]
  const stock = [
    { _id: 10, item: 'a', n: 5 },
    { _id: 11, item: 'b', n: 8 },
    { _id: 12, item: 'a', n: 1 },
  ]
  const run = (lookup: Document) =>
    join([{ $lookup: { from: 'stock', as: 's', ...lookup } }], orders, { stock }).map(({ s }) => s)
  const enough = [
    { $match: { $expr: { $and: [{ $eq: ['$item', '$$item'] }, { $gte: ['$n', '$$qty'] }] } } },
    { $project: { n: 1 } },
  ]
  t.same(run({ let: { item: '$item', qty: '$qty' }, pipeline: enough }), [[{ _id: 10, n: 5 }], [], []])
  t.same(run({ let: { m: '$nothing' }, pipeline: [{ $project: { _id: 0, t: { $type: '$$m' } } }, { $limit: 1 }] })[0], [
    { t: 'missing' },
  ])
  t.same(
    run({
      localField: 'item',
      foreignField: 'item',
      pipeline: [{ $match: { n: { $gt: 1 } } }, { $project: { _id: 1 } }],
    }),
    [[{ _id: 10 }], [{ _id: 11 }], []],
    'fields and pipeline together',
  )
  t.same(
    run({
      localField: 'item',
      foreignField: 'item',
      let: { q: '$qty' },
      pipeline: [{ $project: { _id: 0, q: '$$q' } }],
    })[1],
    [{ q: 9 }],
    'fields, pipeline and variables',
  )
  t.same(run({ from: undefined, pipeline: [{ $documents: [{ x: 1 }, { x: 2 }] }, { $match: { x: 2 } }] })[2], [
    { x: 2 },
  ])
  const nested = [
    {
      $lookup: {
        from: 'stock',
        let: { inner: '$item' },
        pipeline: [
          { $match: { $expr: { $and: [{ $eq: ['$item', '$$inner'] }, { $eq: ['$$qty', 2] }] } } },
          { $count: 'n' },
        ],
        as: 'deep',
      },
    },
    { $project: { deep: 1 } },
  ]
  t.same(run({ let: { qty: '$qty' }, pipeline: [{ $match: { _id: 12 } }, ...nested] }), [
    [{ _id: 12, deep: [{ n: 2 }] }],
    [{ _id: 12, deep: [] }],
    [{ _id: 12, deep: [] }],
  ])
  t.end()
})

t.test('the results of a pipeline are read once for the same inputs', (t) => {
  const reads = (lookup: Document, count: number) => {
    const reader = new FakeReader({ f: [{ _id: 1 }] }, 10)
    const stage = encode({ $lookup: { from: 'f', as: 'j', ...lookup } })
    const run = compilePipeline([stage], context, { db: 'test' }).open()
    drain(
      run,
      Array.from({ length: count }, (_, a) => encode({ a: a % 3 })),
      reader,
    )
    return reader.requests.length
  }
  t.equal(reads({ pipeline: [{ $match: { _id: 1 } }] }, 250), 1)
  t.equal(
    reads({ let: { a: '$a' }, pipeline: [{ $match: { $expr: { $eq: ['$_id', '$$a'] } } }] }, 100),
    3,
    'once for each value of the variables',
  )
  t.equal(reads({ pipeline: [{ $sample: { size: 1 } }] }, 5), 5, 'random stages run for each document')
  t.equal(reads({ localField: 'a', foreignField: '_id' }, 250), 3, 'many documents share one read')
  t.end()
})

t.test('$unwind after $lookup gives one document for each match', (t) => {
  const local = [
    { _id: 1, k: 1 },
    { _id: 2, k: 9 },
  ]
  const f = [
    { _id: 10, k: 1 },
    { _id: 11, k: 1 },
  ]
  const lookup = { $lookup: { from: 'f', localField: 'k', foreignField: 'k', as: 'j' } }
  const ids = (unwind: unknown) =>
    join([lookup, { $unwind: unwind }], local, { f }).map(({ _id, j, i }) => [_id, (j as Document | undefined)?._id, i])
  t.same(ids('$j'), [
    [1, 10, undefined],
    [1, 11, undefined],
  ])
  t.same(ids({ path: '$j' }), [
    [1, 10, undefined],
    [1, 11, undefined],
  ])
  const counted = join(
    [lookup, { $unwind: { path: '$j', includeArrayIndex: 'i', preserveNullAndEmptyArrays: true } }],
    local,
    { f },
  )
  t.same(texts(counted), [
    json({ _id: 1, k: 1, j: f[0], i: Long.fromNumber(0) }),
    json({ _id: 1, k: 1, j: f[1], i: Long.fromNumber(1) }),
    json({ _id: 2, k: 9, i: null }),
  ])
  t.end()
})

t.test('a pipeline lists the collections of its joins before it runs', (t) => {
  const names = (...stages: Document[]) =>
    compilePipeline(
      stages.map((stage) => encode(stage)),
      context,
      { db: 'test' },
    ).foreign.map(({ collection }) => collection)
  const inner = { $lookup: { from: 'b', pipeline: [{ $unionWith: 'c' }], as: 'x' } }
  t.same(names({ $match: {} }), [])
  t.same(names({ $lookup: { from: 'a', pipeline: [inner], as: 'y' } }), ['a', 'b', 'c'])
  t.same(
    names({
      $facet: {
        f: [{ $graphLookup: { from: 'g', startWith: 1, connectFromField: 'x', connectToField: 'y', as: 'z' } }],
      },
    }),
    ['g'],
  )
  t.same(names({ $unionWith: { pipeline: [{ $documents: [] }, { $unionWith: 'd' }] } }), ['d'])
  t.end()
})

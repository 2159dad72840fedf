import { encode, Long, type Document } from '@shardlab/bson'
import fc from 'fast-check'
import t from 'tap'
import { compileCollation, compileFilter, compilePipeline, type EvaluationContext } from '../src/index.js'
import { drain, FakeReader, join } from './support/foreign.js'
import { codeOf, context, failure, json } from './support/helpers.js'

const texts = (documents: readonly Document[]) => documents.map(json)

/** Ids of what each document was joined with. */
function joined(
  local: readonly Document[],
  foreign: readonly Document[],
  lookup: Document = {},
  evaluation?: EvaluationContext,
): unknown[] {
  const stage = { $lookup: { from: 'f', localField: 'a', foreignField: 'b', as: 'j', ...lookup } }
  return join([stage], local, { f: foreign }, evaluation).map(({ j }) => (j as Document[]).map(({ _id }) => _id))
}

t.test('$lookup matches by the rules of equality', (t) => {
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
    [
      { a: [] },
      [{ _id: 0 }, { _id: 1, b: [] }, { _id: 2, b: null }],
      [0, 2],
      'an empty array has no value: it counts as null',
    ],
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
      'an array in an array is one value',
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
      'also beside others',
    ],
    [
      { a: { x: 1, y: 2 } },
      [
        { _id: 0, b: { x: 1, y: 2 } },
        { _id: 1, b: { y: 2, x: 1 } },
      ],
      [0],
      'documents with their order',
    ],
  ]
  for (const [local, foreign, ids, what] of table) {
    t.same(joined([local], foreign), [ids], what)
    // Several documents are joined with one read, which is then told apart.
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
    'a number is a place',
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

t.test('$lookup under a collation', (t) => {
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

t.test('$lookup with a pipeline', (t) => {
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
    'both forms together',
  )
  t.same(
    run({
      localField: 'item',
      foreignField: 'item',
      let: { q: '$qty' },
      pipeline: [{ $project: { _id: 0, q: '$$q' } }],
    })[1],
    [{ q: 9 }],
    'with variables',
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

t.test('a pipeline that depends on nothing is read once', (t) => {
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
  t.equal(reads({ pipeline: [{ $sample: { size: 1 } }] }, 5), 5, 'dice are thrown each time')
  t.equal(reads({ localField: 'a', foreignField: '_id' }, 250), 3, 'many documents share one read')
  t.end()
})

t.test('$lookup and $unwind', (t) => {
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

t.test('what joins read is known before they run', (t) => {
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

t.test('wrong arguments', (t) => {
  const lookup = (fields: Document) => ({ $lookup: { from: 'f', as: 'j', ...fields } })
  const graph = (fields: Document) => ({
    $graphLookup: { from: 'f', startWith: 1, connectFromField: 'a', connectToField: 'b', as: 'j', ...fields },
  })
  const table: [stage: Document, code: number, message?: string][] = [
    [{ $lookup: 1 }, 9, 'the $lookup stage specification must be an object, but found int'],
    [lookup({}), 9, "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified"],
    [lookup({ localField: 'a' }), 9],
    [
      lookup({ localField: 'a', pipeline: [] }),
      9,
      "$lookup requires both or neither of 'localField' and 'foreignField' to be specified",
    ],
    [
      lookup({ localField: 'a', foreignField: 'b', let: { x: 1 } }),
      9,
      "$lookup with a 'let' argument must also specify 'pipeline'",
    ],
    [lookup({ localField: 'a', foreignField: 'b', nope: '1' }), 9, 'unknown argument to $lookup: nope'],
    [{ $lookup: { from: 'f', localField: 'a', foreignField: 'b' } }, 9, "must specify 'as' field for a $lookup"],
    [{ $lookup: { as: 'x', pipeline: [{ $match: {} }] } }, 9],
    [{ $lookup: { as: 'x' } }, 9, "must specify 'pipeline' when 'from' is empty"],
    [lookup({ from: 1, pipeline: [] }), 9, "$lookup 'from' field must be a string, but found int"],
    [lookup({ from: { db: 'x', coll: 'y' }, pipeline: [] }), 9],
    [lookup({ from: { db: 'config', coll: 'cache.chunks.a.b' }, pipeline: [] }), 0],
    [lookup({ pipeline: 1 }), 14],
    [lookup({ pipeline: [1] }), 14],
    [lookup({ pipeline: [{ $nope: 1 }] }), 40324],
    [lookup({ pipeline: [{ $out: 'x' }] }), 51047, "$out is not allowed within a $lookup's sub-pipeline"],
    [lookup({ let: { Bad: 1 }, pipeline: [] }), 9],
    [lookup({ let: { x: 1 }, pipeline: [{ $match: { $expr: '$$y' } }] }), 17276],
    [lookup({ let: { x: '$a' }, pipeline: [{ $match: { $expr: { $divide: [1, '$$x'] } } }] }), 0],
    [lookup({ from: '', localField: 'a', foreignField: 'b' }), 73],
    [{ $unionWith: 1 }, 9],
    [{ $unionWith: {} }, 9],
    [{ $unionWith: { coll: 'f', nope: 1 } }, 40415, "BSON field '$unionWith.nope' is an unknown field."],
    [{ $unionWith: { coll: 1 } }, 14],
    [
      { $unionWith: { coll: 'f', pipeline: [{ $merge: 'x' }] } },
      31441,
      "$merge is not allowed within a $unionWith's sub-pipeline",
    ],
    [{ $graphLookup: {} }, 9],
    [graph({ maxDepth: 'x' }), 40100],
    [graph({ maxDepth: -1 }), 40101, 'maxDepth requires a nonnegative argument, found: -1'],
    [graph({ maxDepth: 1.5 }), 40102],
    [graph({ as: 1 }), 40103],
    [graph({ nope: 'x' }), 40104],
    [graph({ as: '' }), 40105],
    [graph({ from: '' }), 73],
    [graph({ restrictSearchWithMatch: 1 }), 40185],
    [graph({ restrictSearchWithMatch: { a: { $nope: 1 } } }), 2],
  ]
  for (const [stage, code, message] of table) {
    const error = failure(() => compilePipeline([encode(stage)], context, { db: 'test' }))
    t.equal(error?.code ?? 0, code, JSON.stringify(stage))
    if (message !== undefined) t.equal(error?.message, message)
  }
  const old = { ...context, languageVersion: 4.4 }
  t.equal(
    codeOf(() =>
      compilePipeline([encode(lookup({ localField: 'a', foreignField: 'b', pipeline: [] }))], old, { db: 'x' }),
    ),
    9,
  )
  t.equal(
    codeOf(() => join([graph({})], [{}], { f: [{ b: 1 }] })),
    40271,
    'documents without _id cannot be told apart',
  )
  t.end()
})

const value = fc.oneof(
  fc.constantFrom<unknown>(null, 1, 2, 'a', 'b', Long.fromNumber(2), 2.5),
  fc.array(fc.constantFrom<unknown>(null, 1, 2, 'a', [1, 2]), { maxLength: 3 }),
  fc.record({ x: fc.constantFrom<unknown>(1, null, [1, 'a']) }, { requiredKeys: [] }),
  fc.array(fc.record({ x: fc.constantFrom<unknown>(1, 2, 'a') }, { requiredKeys: [] }), { maxLength: 2 }),
)
const collection = fc
  .array(fc.record({ a: value, b: value }, { requiredKeys: [] }), { maxLength: 6 })
  .map((documents) => documents.map((document, _id) => ({ _id, ...document })))

/** The values at a path by the obvious way: JavaScript's. */
function reference(document: unknown, names: readonly string[]): unknown[] {
  const [name, ...rest] = names
  if (name === undefined) return Array.isArray(document) ? document : [document]
  if (Array.isArray(document)) return document.flatMap((each) => (isObject(each) ? reference(each, names) : []))
  if (!isObject(document) || !Object.hasOwn(document, name)) return []
  return reference(document[name], rest)
}

const isObject = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Long)

t.test('$lookup is a nested loop', (t) => {
  fc.assert(
    fc.property(
      collection,
      collection,
      fc.constantFrom('a', 'a.x', 'b'),
      fc.constantFrom('a', 'b', 'b.x'),
      (local, foreign, from, to) => {
        const expected = local.map((document) => {
          const values = reference(document, from.split('.'))
          const wanted = values.length === 0 ? [null] : values
          return foreign
            .filter((each) =>
              wanted.some((each1) => compileFilter(encode({ [to]: { $eq: each1 } }), context).matches(encode(each))),
            )
            .map(({ _id }) => _id)
        })
        const found = joined(local, foreign, { localField: from, foreignField: to })
        return JSON.stringify(found) === JSON.stringify(expected)
      },
    ),
    { numRuns: process.env.SHARDLAB_LONG === '1' ? 20_000 : 500 },
  )
  t.end()
})

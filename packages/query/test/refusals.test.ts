import { BSONRegExp, encode, toRawValue, type Document } from '@shardlab/bson'
import t, { type Test } from 'tap'
import {
  compileExpression,
  compileFilter,
  compilePipeline,
  compileProjection,
  languageOf,
  type EvaluationContext,
} from '../src/index.js'
import { aggregate, codeOf, context, evaluate, failure, json, matches, update } from './support/helpers.js'

const v = (value: unknown) => json({ v: value })

function refuses(t: Test, action: () => unknown, code: number, message?: string): void {
  const error = failure(action)
  t.equal(error?.code ?? 0, code, message ?? `code ${code}`)
  if (message !== undefined) t.equal(error?.message, message)
}

t.test('operators are unknown before the release that introduced them', (t) => {
  const speaking = (release: string): EvaluationContext => ({ ...context, language: languageOf(release) })
  const expression = (release: string, value: unknown) => () => compileExpression(toRawValue(value), speaking(release))
  const stage = (release: string, value: Document) => () => compilePipeline([encode(value)], speaking(release))
  refuses(t, expression('4.4', { $getField: 'a' }), 168, "Unrecognized expression '$getField'")
  refuses(t, expression('7.0', { $getField: { field: '$a', input: {} } }), 5654600)
  refuses(t, expression('7.0', { $getField: { $concat: ['a', 'b'] } }), 5654601)
  refuses(t, expression('5.0', { $sortArray: { input: [], sortBy: 1 } }), 168)
  refuses(t, expression('6.0', { $median: { input: 1, method: 'approximate' } }), 168)
  refuses(t, expression('6.0', { $bitAnd: [1] }), 168)
  refuses(t, expression('7.0', { $toUUID: 'x' }), 168)
  refuses(
    t,
    expression('7.0', { $convert: { input: 'x', to: 'binData', format: 'hex' } }),
    9,
    '$convert found an unknown argument: format',
  )
  refuses(t, stage('4.4', { $setWindowFields: { output: {} } }), 40324)
  refuses(t, stage('5.0', { $densify: {} }), 40324)
  refuses(t, stage('5.2', { $fill: { output: {} } }), 40324, "Unrecognized pipeline stage name: '$fill'")
  refuses(t, stage('5.0', { $group: { _id: 1, v: { $top: { output: 1, sortBy: { a: 1 } } } } }), 15952)
  for (const known of [
    expression('5.0', { $getField: 'a' }),
    expression('7.0', { $getField: { $literal: '$a' } }),
    expression('8.0', { $getField: '$a' }),
    expression('8.0', { $toUUID: 'x' }),
    stage('5.3', { $fill: { output: { a: { method: 'locf' } }, sortBy: { b: 1 } } }),
  ])
    t.equal(codeOf(known) === 168 || codeOf(known) === 40324, false)
  t.end()
})

t.test(
  'unknown options of a regular expression are refused since 5.0, and options given twice since 4.2',
  async (t) => {
    const matches = (release: string, filter: Document, document: Document) =>
      compileFilter(encode(filter), { ...context, language: languageOf(release) }).matches(encode(document))
    const unknown = new BSONRegExp('x')
    unknown.options = 'gi'
    for (const filter of [
      { a: { $regex: 'x', $options: 'gi' } },
      { a: unknown },
      { a: { $in: [unknown] } },
      { a: { $all: [unknown] } },
      { a: { $not: unknown } },
    ] as Document[]) {
      const negated = '$not' in (filter['a'] as Document)
      for (const release of ['2.6.12', '4.0.28', '4.4.29'])
        t.equal(matches(release, filter, { a: 'X' }), !negated, `${release} ${JSON.stringify(filter)}`)
      for (const release of ['5.0.31', '8.0.13'])
        t.throws(() => matches(release, filter, {}), { code: 51108, message: ' invalid flag in regex options: g' })
    }
    t.ok(matches('4.4.29', { a: unknown }, { a: unknown }), 'an equal expression matches with its unknown options')
    t.notOk(matches('4.4.29', { a: unknown }, { a: /x/i }))
    const twice = [{ a: { $regex: /x/i, $options: 's' } }, { a: { $options: 'i', $regex: /x/m } }]
    for (const release of ['2.6.12', '4.0.28'])
      for (const filter of twice) t.notOk(matches(release, filter, { a: 'X' }), 'the last options apply')
    t.throws(() => matches('4.4.29', twice[0]!, {}), { code: 51075 })
    t.throws(() => matches('4.4.29', twice[1]!, {}), { code: 51074 })
  },
)

t.test('null matches undefined before 8.0 only', (t) => {
  const bytes = new Uint8Array([8, 0, 0, 0, 6, 97, 0, 0])
  const test = (filter: Document, over: EvaluationContext = context) =>
    compileFilter(encode(filter), over).matches(bytes)
  const before = { ...context, undefinedMatchesNull: true }
  for (const filter of [{ a: null }, { a: { $in: [null] } }, { a: { $lte: null } }]) {
    t.notOk(test(filter), JSON.stringify(filter))
    t.ok(test(filter, before), JSON.stringify(filter))
  }
  t.ok(test({ a: { $ne: null } }))
  t.notOk(test({ a: { $ne: null } }, before))
  t.ok(test({ a: { $type: 'undefined' } }))
  t.end()
})

t.test('JavaScript is refused like on a server without it', (t) => {
  refuses(t, () => matches({ $where: 'true' }, {}), 6108304, 'no globalScriptEngine in $where parsing')
  const call = { $function: { body: 'function() {}', args: [], lang: 'js' } }
  refuses(
    t,
    () => aggregate([{ $project: { a: call } }], [{}]),
    31264,
    'Cannot run server-side javascript without the javascript engine enabled',
  )
  t.same(aggregate([{ $project: { a: call } }], []), [])
  refuses(t, () => evaluate({ $function: { body: '', args: [] } }), 31418)
  refuses(t, () => evaluate({ $function: { body: '', args: [], lang: 'py' } }), 31419)
  refuses(t, () => evaluate({ $function: 1 }), 31260)
  t.end()
})

t.test('$sampleRate and $rand use the random numbers of the context', (t) => {
  const withRandom = (random: number) => ({ ...context, random: () => random })
  const drawn = (rate: unknown, random: number) =>
    compileFilter(encode({ $sampleRate: rate }), withRandom(random)).matches(encode({}))
  t.equal(drawn(0.5, 0.4), true)
  t.equal(drawn(0.5, 0.6), false)
  t.equal(drawn(0, 0), false)
  t.equal(drawn(1, 0.99), true)
  refuses(t, () => drawn(2, 0), 2, 'numeric argument to $sampleRate must be in [0, 1]')
  refuses(t, () => drawn('x', 0), 2, 'argument to $sampleRate must be a numeric type')
  refuses(t, () => evaluate({ $rand: { a: 1 } }), 3040501, '$rand does not currently accept arguments')
  t.end()
})

t.test('invalid projections are refused', (t) => {
  const project = (projection: Document, filter?: Document) => () =>
    compileProjection(
      encode(projection),
      context,
      filter === undefined ? {} : { filter: compileFilter(encode(filter), context) },
    )
  refuses(t, project({ 'a.$': 1 }, { b: 1 }), 31277, "Positional projection 'a.$' does not match the query document.")
  refuses(t, project({ 'a.$.$': 1 }, { a: 1 }), 31287)
  refuses(t, project({ 'a.$': { $slice: 1 } }, { a: 1 }), 31271)
  refuses(t, project({ 'a.$': 'x' }, { a: 1 }), 31308)
  refuses(t, project({ 'a.$': 0 }, { a: 1 }), 31395)
  refuses(t, project({ a: { $add: [1, 2], b: 1 } }), 16410)
  refuses(t, () => compilePipeline([encode({ $unwind: { path: '$a', includeArrayIndex: 'i\0' } })], context), 16411)
  t.equal(codeOf(project({ a: { $slice: ['$b', 1] } })), 0)
  refuses(t, () => aggregate([{ $project: { 'a.$': 1 } }], [{}]), 31324)
  refuses(t, () => aggregate([{ $addFields: { a: 1, 'a.b': 2 } }], [{}]), 40176)
  refuses(t, () => aggregate([{ $addFields: { a: { $add: [1], b: 2 } } }], [{}]), 40181)
  refuses(t, () => aggregate([{ $addFields: { a: { 'b.c': 2 } } }], [{}]), 40183)
  t.end()
})

t.test('invalid operators and options are refused', (t) => {
  const filters: [filter: Document, code: number, message?: string][] = [
    [{ a: { $regex: /a/i, $options: 's' } }, 51075],
    [{ a: { $options: 's', $regex: /a/i } }, 51074, 'options set in both $regex and $options'],
    [{ a: { $options: 's' } }, 2, '$options needs a $regex'],
    [{ a: { $bitsAllSet: [-1] } }, 2, 'Failed to parse bit position. Expected a non-negative number in: 0: -1'],
    [{ a: { $bitsAllSet: [1, 'x'] } }, 2, 'Failed to parse bit position. Expected a number in: 1: "x"'],
    [{ a: { $bitsAllSet: 1.5 } }, 9, 'Expected an integer: $bitsAllSet: 1.5'],
    [
      { a: { $bitsAllSet: 'x' } },
      2,
      '$bitsAllSet takes an Array, a number, or a BinData but received: $bitsAllSet: "x"',
    ],
  ]
  for (const [filter, code, message] of filters) refuses(t, () => matches(filter, {}), code, message)
  const expressions: [expression: unknown, code: number, message?: string][] = [
    [{ $switch: 1 }, 40060, '$switch requires an object as an argument, found: int'],
    [{ $switch: { branches: 1 } }, 40061, "$switch expected an array for 'branches', found: int"],
    [{ $switch: { branches: [1] } }, 40062],
    [{ $switch: { branches: [{ case: 1, then: 1, x: 1 }] } }, 40063],
    [{ $switch: { branches: [{ then: 1 }] } }, 40064],
    [{ $switch: { branches: [{ case: 1 }] } }, 40065],
    [{ $switch: { branches: [], x: 1 } }, 40067],
    [{ $switch: { branches: [] } }, 40068],
    [{ $reduce: { input: [], initialValue: 0 } }, 40079, "$reduce requires 'in' to be specified"],
    [{ $reduce: { x: 1 } }, 40076],
    [{ $setField: { field: '$a', input: {}, value: 1 } }, 4161108],
    [{ $atan2: [1, 'x'] }, 51045, '$atan2 only supports numeric types, not string'],
    [{ $sortArray: { input: [], sortBy: 2 } }, 2942506],
    [{ $sortArray: { input: [], sortBy: 'x' } }, 2942507],
  ]
  for (const [expression, code, message] of expressions) refuses(t, () => evaluate(expression), code, message)
  refuses(
    t,
    () => update({ $rename: { a: 'b.c' } }, { _id: 1, a: 1, b: [{ c: 1 }] }),
    2,
    "The destination field cannot be an array element, 'b.c' in doc with _id: 1 has an array field called 'b'",
  )
  t.equal(update({ $rename: { q: 'b.c' } }, { _id: 1, b: 5 }), null)
  t.equal(update({ $pull: { a: { $gt: 1 } } }, { a: [[2], 1] }), json({ a: [1] }))
  t.end()
})

t.test('D103 regular expressions are those of JavaScript', (t) => {
  t.ok(matches({ a: { $regex: '(?P<x>b)\\z' } }, { a: 'ab' }))
  t.ok(matches({ a: { $regex: '^a.b$' } }, { a: 'a\rb' }))
  t.notOk(matches({ a: { $regex: '^a.b$' } }, { a: 'a\nb' }))
  refuses(t, () => matches({ a: { $regex: 'a++' } }, {}), 51091)
  refuses(t, () => matches({ a: { $regex: '(?>a)' } }, {}), 51091)
  t.end()
})

t.test('D104 $dateFromString without a format knows ISO 8601', (t) => {
  const read = (dateString: string) => evaluate({ $dateFromString: { dateString } })
  t.equal(read('2018-07-04T01:02:03Z'), v(new Date(Date.UTC(2018, 6, 4, 1, 2, 3))))
  t.equal(read('2018/7/4'), v(new Date(Date.UTC(2018, 6, 4))))
  refuses(t, () => read('July 4, 2018'), 241)
  t.end()
})

t.test('D105 text search and places', (t) => {
  refuses(t, () => matches({ $text: { $search: 'x' } }, {}), 27, 'text index required for $text query')
  refuses(t, () => matches({ $text: 1 }, {}), 2, '$text expects an object')
  refuses(t, () => matches({ $text: {} }, {}), 4)
  refuses(t, () => matches({ a: { $elemMatch: { $text: { $search: 'x' } } } }, {}), 2)
  const late = (filter: Document) => () => aggregate([{ $skip: 1 }, { $match: filter }], [])
  refuses(t, late({ $text: { $search: 'x' } }), 17313, '$match with $text is only allowed as the first pipeline stage')
  refuses(t, late({ $or: [{ $text: { $search: 'x' } }] }), 17313)
  refuses(t, late({ $text: 1 }), 2)
  refuses(t, () => aggregate([{ $match: { $text: { $search: 'x' } } }], []), 27)
  refuses(t, () => matches({ a: { $near: [1, 2] } }, {}), 291, 'unable to find index for $geoNear query')
  refuses(t, () => matches({ a: { $geoWithin: { $box: [] } } }, {}), 2, 'unknown operator: $geoWithin')
  refuses(t, () => matches({ a: { $geoIntersects: {} } }, {}), 2)
  refuses(
    t,
    () => aggregate([{ $geoNear: { near: [1, 2], distanceField: 'd' } }], []),
    27,
    '$geoNear requires a 2d or 2dsphere index, but none were found',
  )
  t.end()
})

t.test('D107 $meta', (t) => {
  refuses(
    t,
    () => evaluate({ $meta: 'textScore' }),
    40218,
    'query requires text score metadata, but it is not available',
  )
  refuses(t, () => evaluate({ $meta: 'sortKey' }), 40218)
  refuses(t, () => evaluate({ $meta: 'nope' }), 17308, 'Unsupported argument to $meta: nope')
  refuses(t, () => evaluate({ $meta: 1 }), 17307)
  refuses(t, () => compileProjection(encode({ s: { $meta: 'textScore' } }), context), 40218)
  t.end()
})

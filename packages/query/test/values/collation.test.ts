import { decode, encode, fromRawValue, toExtendedJson, toRawValue, type Document } from '@shardlab/bson'
import t from 'tap'
import {
  compileCollation,
  compileExpression,
  compileFilter,
  compileUpdate,
  letVariables,
  parseSort,
  sortKeyValues,
  sortOrder,
  valueClasses,
  type EvaluationContext,
} from '../../src/index.js'
import { codeOf, context, failure, json, run } from '../support/helpers.js'

const collated = (specification: Document): EvaluationContext => ({
  ...context,
  strings: compileCollation(encode(specification))!.compare,
})

const sorted = (specification: Document, ...texts: string[]) => {
  const { compare } = compileCollation(encode(specification))!
  return texts.toSorted(compare).join(' ')
}

const compared = (specification: Document, a: string, b: string) =>
  Math.sign(compileCollation(encode(specification))!.compare(a, b))

t.test('strengths decide which differences count', (t) => {
  const rows: [options: Document, a: string, b: string, order: number][] = [
    [{ strength: 1 }, 'a', 'Á', 0],
    [{ strength: 1 }, 'a', 'b', -1],
    [{ strength: 2 }, 'a', 'A', 0],
    [{ strength: 2 }, 'a', 'á', -1],
    [{ strength: 3 }, 'a', 'A', -1],
    [{}, 'á', 'a\u0301', 0],
    [{ strength: 1, caseLevel: true }, 'a', 'A', -1],
    [{ strength: 1, caseLevel: true }, 'a', 'á', 0],
    [{ strength: 2, caseLevel: true }, 'a', 'A', -1],
    [{ strength: 2, caseLevel: true }, 'A', 'á', -1],
    [{ caseFirst: 'upper' }, 'a', 'A', 1],
    [{ strength: 1, caseLevel: true, caseFirst: 'upper' }, 'a', 'A', 1],
    [{ numericOrdering: true }, 'a10', 'a9', 1],
    [{}, 'a10', 'a9', -1],
    [{ alternate: 'shifted' }, 'a b', 'ab', 0],
    [{ alternate: 'shifted' }, 'a-b', 'ab', 0],
    [{ alternate: 'shifted', maxVariable: 'space' }, 'a b', 'ab', 0],
    [{ alternate: 'shifted', maxVariable: 'space' }, 'a-b', 'ab', -1],
    [{ alternate: 'shifted', strength: 4 }, 'a b', 'ab', -1],
    [{ alternate: 'shifted', strength: 4 }, 'a b', 'a c', -1],
    [{ strength: 5 }, 'ab', 'a\u00adb', -1],
    [{ strength: 3 }, 'ab', 'a\u00adb', 0],
    [{ backwards: true }, 'coté', 'côte', 1],
    [{ backwards: true, strength: 2 }, 'COTE', 'cote', 0],
    [{}, 'coté', 'côte', -1],
  ]
  for (const [options, a, b, order] of rows) {
    t.equal(compared({ locale: 'en', ...options }, a, b), order, `${JSON.stringify(options)}: ${a} and ${b}`)
    t.equal(compared({ locale: 'en', ...options }, b, a) + order, 0)
  }
  t.end()
})

t.test('locales have their own order and defaults', (t) => {
  t.equal(sorted({ locale: 'de' }, 'z', 'ä', 'a'), 'a ä z')
  t.equal(sorted({ locale: 'sv' }, 'z', 'ä', 'a'), 'a z ä')
  t.equal(sorted({ locale: 'de' }, 'Ärger', 'Az', 'Adz'), 'Adz Ärger Az')
  t.equal(sorted({ locale: 'de@collation=phonebook' }, 'Ärger', 'Az', 'Adz'), 'Adz Ärger Az')
  t.equal(compared({ locale: 'de@collation=phonebook' }, 'Ärger', 'Afer'), -1)
  t.equal(compared({ locale: 'de' }, 'Ärger', 'Afer'), 1)
  t.equal(sorted({ locale: 'fr_CA' }, 'cote', 'côte', 'coté', 'côté'), 'cote côte coté côté')
  t.equal(sorted({ locale: 'fr_CA', backwards: false }, 'cote', 'côte', 'coté', 'côté'), 'cote coté côte côté')
  t.equal(sorted({ locale: 'fr' }, 'cote', 'côte', 'coté', 'côté'), 'cote coté côte côté')
  t.equal(sorted({ locale: 'da' }, 'a', 'A'), 'A a')
  t.equal(sorted({ locale: 'da', caseFirst: 'off' }, 'A', 'a'), 'a A')
  t.equal(sorted({ locale: 'en_US_POSIX' }, 'a', 'B'), 'B a')
  const printed = (specification: Document) => toExtendedJson(compileCollation(encode(specification))!.document)
  t.equal(
    printed({ strength: 2, locale: 'en' }),
    json({
      locale: 'en',
      caseLevel: false,
      caseFirst: 'off',
      strength: 2,
      numericOrdering: false,
      alternate: 'non-ignorable',
      maxVariable: 'punct',
      normalization: false,
      backwards: false,
      version: '57.1',
    }),
  )
  t.match(printed({ locale: 'fr_CA' }), '"backwards":true')
  t.match(printed({ locale: 'th' }), '"alternate":"shifted"')
  t.equal(compileCollation(encode({})), null)
  t.equal(compileCollation(encode({ locale: 'simple' })), null)
  t.end()
})

t.test('D100 normalization is always done and printed as given', (t) => {
  t.equal(compared({ locale: 'en', normalization: false }, 'á', 'a\u0301'), 0)
  t.match(toExtendedJson(compileCollation(encode({ locale: 'vi' }))!.document), '"normalization":false')
  t.end()
})

t.test('D106 the order is that of the ICU of Node', (t) => {
  const words = ['\u4e2d', '\u4e00', '\u9f8d', '\u5b89']
  // ICU no longer has the two orders by character set: the locale's order replaces them.
  for (const variant of ['big5han', 'gb2312han'])
    t.equal(sorted({ locale: `zh@collation=${variant}` }, ...words), sorted({ locale: 'zh' }, ...words))
  t.not(sorted({ locale: 'zh@collation=zhuyin' }, ...words), sorted({ locale: 'zh' }, ...words))
  t.match(toExtendedJson(compileCollation(encode({ locale: 'zh@collation=big5han' }))!.document), '"version":"57.1"')
  t.end()
})

t.test('invalid specifications are refused with the code and message of the server', (t) => {
  const rows: [specification: Document, code: number, message?: string][] = [
    [{ strength: 1 }, 40414, "BSON field 'collation.locale' is missing but a required field"],
    [{ locale: 'en', foo: 1 }, 40415, "BSON field 'collation.foo' is an unknown field."],
    [{ locale: 5 }, 14, "BSON field 'collation.locale' is the wrong type 'int', expected type 'string'"],
    [{ locale: 'en', strength: 'x' }, 14],
    [{ locale: 'en', strength: 6 }, 51024, "BSON field 'strength' value must be <= 5, actual value '6'"],
    [{ locale: 'en', strength: -1 }, 51024],
    [{ locale: 'en', strength: 0 }, 9],
    [{ locale: 'en', strength: 2.5 }, 0],
    [
      { locale: 'en', caseFirst: 'x' },
      2,
      "Enumeration value 'x' for field 'collation.caseFirst' is not a valid value.",
    ],
    [{ locale: 'en', caseLevel: 1 }, 14],
    [{ locale: 'en', backwards: null }, 14],
    [{ locale: '' }, 2],
    [{ locale: 'xx' }, 2, 'Field \'locale\' is invalid in: { locale: "xx" }'],
    [{ locale: 'en-US' }, 2, "Field 'locale' is invalid in: { locale: \"en-US\" }. Did you mean 'en_US'?"],
    [
      { locale: 'en_GB', strength: 2 },
      2,
      "Field 'locale' is invalid in: { locale: \"en_GB\", strength: 2 }. Did you mean 'en'?",
    ],
    [{ locale: 'de@collation=foo' }, 2],
    [{ locale: 'simple', strength: 1 }, 9],
    [{ locale: 'en', strength: 1, backwards: true }, 2],
    [{ locale: 'en', strength: 2, caseFirst: 'upper' }, 2],
    [{ locale: 'en', version: '1.0' }, 161],
  ]
  for (const [specification, code, message] of rows) {
    const error = failure(() => compileCollation(encode(specification)))
    t.equal(error?.code ?? 0, code, JSON.stringify(specification))
    if (message !== undefined) t.equal(error?.message, message)
  }
  t.end()
})

const caseless = collated({ locale: 'en', strength: 2 })

t.test('filters compare strings by the collation', (t) => {
  const rows: [filter: Document, document: Document, matches: boolean][] = [
    [{ a: 'x' }, { a: 'X' }, true],
    [{ a: { $gt: 'x' } }, { a: 'Y' }, true],
    [{ a: { $in: ['x', 'q'] } }, { a: 'Q' }, true],
    [{ a: { $in: Array.from({ length: 30 }, (_, i) => `item ${i}`) } }, { a: 'ITEM 17' }, true],
    [{ a: { $in: Array.from({ length: 30 }, (_, i) => `item ${i}`) } }, { a: 'ITEM 31' }, false],
    [{ a: { $nin: ['x'] } }, { a: 'X' }, false],
    [{ a: { b: 'x' } }, { a: { b: 'X' } }, true],
    [{ a: ['x'] }, { a: ['X'] }, true],
    [{ a: { $elemMatch: { $eq: 'x' } } }, { a: ['X'] }, true],
    [{ a: { $all: ['x', 'Y'] } }, { a: ['X', 'y'] }, true],
    [{ a: /x/ }, { a: 'X' }, false],
    [{ $expr: { $eq: ['$a', 'x'] } }, { a: 'X' }, true],
  ]
  for (const [filter, document, matches] of rows)
    t.equal(compileFilter(encode(filter), caseless).matches(encode(document)), matches, JSON.stringify(filter))
  t.end()
})

t.test('expressions compare strings by the collation', (t) => {
  const rows: [expression: unknown, expected: unknown][] = [
    [{ $eq: ['x', 'X'] }, true],
    [{ $cmp: ['x', 'Y'] }, -1],
    [{ $in: ['x', ['X']] }, true],
    [{ $indexOfArray: [['a', 'X'], 'x'] }, 1],
    [{ $setUnion: [['a', 'A'], ['b']] }, ['a', 'b']],
    [{ $setEquals: [['a'], ['A', 'a']] }, true],
    [{ $setIsSubset: [['a'], ['A']] }, true],
    [{ $setIntersection: [['a'], ['A']] }, ['a']],
    [{ $setDifference: [['a', 'b'], ['A']] }, ['b']],
    [{ $max: ['a', 'B'] }, 'B'],
    [{ $sortArray: { input: ['b', 'A', 'a'], sortBy: 1 } }, ['A', 'a', 'b']],
    [
      { $sortArray: { input: [{ s: 'b' }, { s: 'A' }, { s: 'C' }], sortBy: { s: -1 } } },
      [{ s: 'C' }, { s: 'b' }, { s: 'A' }],
    ],
    [{ $minN: { n: 2, input: ['b', 'A', 'C'] } }, ['A', 'b']],
    [{ $strcasecmp: ['a', 'A'] }, 0],
    [{ $indexOfCP: ['aX', 'x'] }, -1],
  ]
  for (const [expression, expected] of rows) {
    const value = compileExpression(toRawValue(expression), caseless).evaluateOn(encode({}))!
    t.equal(json({ v: fromRawValue(value) }), json({ v: expected }), JSON.stringify(expression))
  }
  t.end()
})

t.test('stages compare strings by the collation', (t) => {
  const input = ['b', 'A', 'B', 'a', 'c'].map((s, _id) => encode({ _id, s }))
  const aggregate = (...stages: Document[]) =>
    run(stages.map(encode), input, caseless).map((document) => decode(document))
  t.same(
    aggregate({ $sort: { s: 1 } }).map((document) => document.s),
    ['A', 'a', 'b', 'B', 'c'],
    'equal strings keep their order',
  )
  t.same(aggregate({ $group: { _id: '$s', n: { $sum: 1 } } }), [
    { _id: 'b', n: 2 },
    { _id: 'A', n: 2 },
    { _id: 'c', n: 1 },
  ])
  t.same(
    aggregate({ $group: { _id: { k: ['$s'] }, n: { $sum: 1 } } }).map((document) => document.n),
    [2, 2, 1],
  )
  t.same(aggregate({ $sortByCount: '$s' })[0]!.count, 2)
  t.same(
    aggregate({
      $group: {
        _id: null,
        set: { $addToSet: '$s' },
        min: { $min: '$s' },
        top: { $top: { sortBy: { s: -1 }, output: '$s' } },
      },
    }),
    [{ _id: null, set: ['b', 'A', 'c'], min: 'A', top: 'c' }],
  )
  t.same(aggregate({ $bucket: { groupBy: '$s', boundaries: ['a', 'B', 'd'] } }), [
    { _id: 'a', count: 2 },
    { _id: 'B', count: 3 },
  ])
  t.same(aggregate({ $bucketAuto: { groupBy: '$s', buckets: 2 } }), [
    { _id: { min: 'A', max: 'c' }, count: 4 },
    { _id: { min: 'c', max: 'c' }, count: 1 },
  ])
  t.end()
})

t.test('updates compare strings by the collation', (t) => {
  const update = (specification: Document, document: Document, arrayFilters: Document[] = []) => {
    const result = compileUpdate(
      { document: encode(specification) },
      { arrayFilters: arrayFilters.map(encode) },
      caseless,
    ).apply(encode(document))
    return result === null ? null : decode(result)
  }
  t.same(update({ $pull: { a: 'x' } }, { a: ['X', 'y'] }), { a: ['y'] })
  t.same(update({ $pull: { a: { $gte: 'x' } } }, { a: ['X', 'a'] }), { a: ['a'] })
  t.same(update({ $pull: { a: { b: 'x' } } }, { a: [{ b: 'X' }] }), { a: [] })
  t.same(update({ $pullAll: { a: ['x'] } }, { a: ['X', 'y'] }), { a: ['y'] })
  t.same(update({ $addToSet: { a: 'x' } }, { a: ['X'] }), null)
  t.same(update({ $push: { a: { $each: ['A'], $sort: 1 } } }, { a: ['b', 'a'] }), { a: ['a', 'A', 'b'] })
  t.same(update({ $push: { a: { $each: [{ s: 'A' }], $sort: { s: 1 } } } }, { a: [{ s: 'b' }] }), {
    a: [{ s: 'A' }, { s: 'b' }],
  })
  t.same(update({ $min: { a: 'B' } }, { a: 'b' }), null)
  t.same(update({ $max: { a: 'B' } }, { a: 'a' }), { a: 'B' })
  t.same(update({ $set: { 'a.$[e]': 1 } }, { a: ['X', 'y'] }, [{ e: 'x' }]), { a: [1, 'y'] })
  t.end()
})

t.test('sortOrder and valueClasses follow the collation', (t) => {
  const sort = parseSort(encode({ s: -1, n: 1 }))
  const order = sortOrder(sort, caseless.strings)
  const documents = [{ s: 'a', n: 2 }, { s: 'A', n: 1 }, { s: ['B', 'c'] }, {}].map(encode)
  t.same(
    documents.toSorted((a, b) => order.compare(order.keyOf(a), order.keyOf(b))).map((document) => decode(document)),
    [{ s: ['B', 'c'] }, { s: 'A', n: 1 }, { s: 'a', n: 2 }, {}],
  )
  t.equal(order.compare(order.keyOfValues([toRawValue('A'), toRawValue(2)]), order.keyOf(documents[0]!)), 0)
  t.equal(sortKeyValues(documents[2]!, sort, caseless.strings)[0]!.asString(), 'c')
  const classOf = valueClasses(caseless.strings)
  t.equal(classOf(toRawValue({ a: ['x'] })), classOf(toRawValue({ a: ['X'] })))
  t.not(classOf(toRawValue('x')), classOf(toRawValue('y')))
  t.not(valueClasses(undefined)(toRawValue('x')), valueClasses(undefined)(toRawValue('X')))
  t.end()
})

t.test('let variables are constants of expressions', (t) => {
  const evaluate = (variables: Document, expression: unknown) => {
    const over = { ...context, variables: letVariables(encode(variables), context) }
    const value = compileExpression(toRawValue(expression), over).evaluateOn(encode({ f: 1 }))
    return value === undefined ? 'missing' : fromRawValue(value)
  }
  t.equal(evaluate({ a: 1, b: { $add: ['$$a', 1] } }, '$$b'), 2)
  t.equal(evaluate({ a: { x: { y: 5 } } }, '$$a.x.y'), 5)
  t.same(evaluate({ a: [{ y: 5 }, { y: 6 }] }, '$$a.y'), [5, 6])
  t.equal(evaluate({ a: '$$REMOVE' }, '$$a'), 'missing')
  t.equal(evaluate({ a: '$$NOW' }, { $type: '$$a' }), 'date')
  t.equal(
    codeOf(() => evaluate({ a: '$f' }, 1)),
    4890500,
  )
  t.equal(
    codeOf(() => evaluate({ a: { $cond: [false, '$$ROOT', 1] } }, 1)),
    4890500,
  )
  t.equal(
    codeOf(() => evaluate({ A: 1 }, 1)),
    9,
  )
  t.equal(
    codeOf(() => evaluate({ 'a-b': 1 }, 1)),
    9,
  )
  t.equal(
    codeOf(() => evaluate({ NOW: 1 }, 1)),
    4738901,
  )
  t.equal(
    codeOf(() => evaluate({ a: 1 }, '$$b')),
    17276,
  )
  t.end()
})

import {
  compareValues,
  documentValue,
  DocumentWriter,
  encode,
  findField,
  hashValue,
  int64Value,
  RawValue,
  toRawValue,
  type Document,
} from '@shardlab/bson'
import t from 'tap'
import {
  boundsFor,
  boundsForOr,
  compileFilter,
  equalityValues,
  parseKeyPattern,
  soleEquality,
  upsertBase,
  type BoundsOptions,
  type KeyBounds,
} from '../../src/index.js'
import { formatDocument, formatValue } from '../../src/index.js'
import { codeOf, context } from '../support/helpers.js'

function root(filter: Document) {
  return compileFilter(encode(filter), context).root
}

function text(bounds: KeyBounds): string {
  return bounds.fields
    .map(
      ({ intervals }) =>
        intervals
          .map(
            (i) =>
              `${i.lowInclusive ? '[' : '('}${formatValue(i.low)}, ${formatValue(i.high)}${i.highInclusive ? ']' : ')'}`,
          )
          .join(' ') || 'nothing',
    )
    .join(' | ')
}

function show(filter: Document, pattern: Document = { a: 1 }, options: BoundsOptions = {}): string {
  return text(boundsFor(root(filter), parseKeyPattern(encode(pattern)), options))
}

const all = '[MinKey, MaxKey]'
const nulls = '[undefined, undefined] [null, null]'

t.test('a single predicate gives the bounds of the server', (t) => {
  const table: [filter: Document, expected: string][] = [
    [{}, all],
    [{ b: 1 }, all],
    [{ a: 5 }, '[5, 5]'],
    [{ a: 'y' }, '["y", "y"]'],
    [{ a: { $in: [3, 1, 2, 1] } }, '[1, 1] [2, 2] [3, 3]'],
    [{ a: { $in: [] } }, 'nothing'],
    [{ a: { $gt: 5 } }, '(5, inf.0]'],
    [{ a: { $gte: 5 } }, '[5, inf.0]'],
    [{ a: { $lt: 5 } }, '[-inf.0, 5)'],
    [{ a: { $lte: 5 } }, '[-inf.0, 5]'],
    [{ a: { $lt: -Infinity } }, 'nothing'],
    [{ a: { $gt: 'x' } }, '("x", {})'],
    [{ a: { $lt: 'x' } }, '["", "x")'],
    [{ a: { $gt: new Date(5) } }, '(new Date(5), new Date(9223372036854775807)]'],
    [{ a: { $gt: false } }, '(false, true]'],
    [{ a: { $gt: true } }, 'nothing'],
    [{ a: { $gte: Number.NaN } }, '[nan.0, nan.0]'],
    [{ a: { $lt: Number.NaN } }, 'nothing'],
    [{ a: null }, nulls],
    [{ a: { $lte: null } }, nulls],
    [{ a: { $gt: null } }, 'nothing'],
    [{ a: { $in: [null, 3] } }, `${nulls} [3, 3]`],
    [{ a: { $exists: false } }, '[null, null]'],
    [{ a: { $exists: true } }, all],
    [{ a: { $gt: 5, $lt: 9 } }, '(5, 9)'],
    [{ a: { $gt: 5, $lt: 5 } }, 'nothing'],
    [{ a: { $gte: 5, $lte: 5 } }, '[5, 5]'],
    [{ a: { $gt: 5, $lt: 'x' } }, 'nothing'],
    [{ $and: [{ a: { $gt: 1 } }, { $and: [{ a: { $lt: 4 } }, { b: 1 }] }] }, '(1, 4)'],
    [{ a: { $in: [1, 5, 9] }, $and: [{ a: { $gt: 4 } }] }, '[5, 5] [9, 9]'],
    [{ $or: [{ a: 'u' }, { a: { $gte: 'y' } }] }, '["u", "u"] ["y", {})'],
    [{ $or: [{ a: 'u' }, { a: { $gte: 'zz' } }, {}] }, all],
    [{ $or: [{ a: 'x' }, { a: { $gt: 'u', $lt: 'u' } }, { a: { $gte: 'y' } }] }, '["x", "x"] ["y", {})'],
    [{ $or: [{ a: 1 }, { b: 1 }] }, all],
    [{ $or: [{ a: { $lt: 3 } }, { a: { $gte: 3, $lt: 7 } }] }, '[-inf.0, 7)'],
    [{ a: { $ne: 5 } }, '[MinKey, 5) (5, MaxKey]'],
    [{ a: { $nin: [1, 3] } }, '[MinKey, 1) (1, 3) (3, MaxKey]'],
    [{ a: { $not: { $gt: 5 } } }, '[MinKey, 5] (inf.0, MaxKey]'],
    [{ a: { $ne: null } }, '[MinKey, undefined) (undefined, null) (null, MaxKey]'],
    [{ $nor: [{ a: 1 }] }, all],
    [{ a: /^abc/ }, '["abc", "abd") [/^abc/, /^abc/]'],
    [{ a: /^ab*/ }, '["a", "b") [/^ab*/, /^ab*/]'],
    [{ a: /^a{0}b/ }, '["", {}) [/^a{0}b/, /^a{0}b/]'],
    [{ a: /^(ab|c)/ }, '["", {}) [/^(ab|c)/, /^(ab|c)/]'],
    [{ a: /^ab|c/ }, '["", {}) [/^ab|c/, /^ab|c/]'],
    [{ a: /abc/ }, '["", {}) [/abc/, /abc/]'],
    [{ a: /^abc/i }, '["", {}) [/^abc/i, /^abc/i]'],
    [{ a: { $regex: '^a\\.b' } }, '["a.b", "a.c") [/^a\\.b/, /^a\\.b/]'],
    [{ a: { $type: 'string' } }, '["", {})'],
    [{ a: { $type: 'number' } }, '[nan.0, inf.0]'],
    [{ a: { $mod: [2, 0] } }, '[nan.0, inf.0]'],
    [{ a: { $elemMatch: { $gt: 1, $lt: 5 } } }, '(1, 5)'],
    [{ $expr: { $eq: ['$a', 1] } }, all],
    [{ $alwaysFalse: 1 }, 'nothing'],
    [{ 'a.b': 1 }, all],
    [{ a: { b: 1 } }, '[{ b: 1 }, { b: 1 }]'],
  ]
  for (const [filter, expected] of table) t.equal(show(filter), expected, JSON.stringify(filter))
  t.end()
})

t.test('compound patterns and dotted paths give bounds for each field', (t) => {
  const ab = { a: 1, b: 1 }
  t.equal(show({ a: { $in: [0, 5] }, b: { $lt: 3 } }, ab), '[0, 0] [5, 5] | [-inf.0, 3)')
  t.equal(show({ b: 1 }, ab), `${all} | [1, 1]`)
  t.equal(show({ a: 1 }, { a: -1, b: 1 }), `[1, 1] | ${all}`)
  t.equal(show({ 'a.b': { $gt: 1 } }, { 'a.b': 1 }), '(1, inf.0]')
  t.equal(show({ a: { $elemMatch: { b: 3 } } }, { 'a.b': 1 }), '[3, 3]')
  t.equal(
    show(
      {
        $or: [
          { a: 1, b: 5 },
          { a: 2, b: 9 },
        ],
      },
      ab,
    ),
    '[1, 1] [2, 2] | [5, 5] [9, 9]',
  )
  const alternatives = boundsForOr(
    root({
      $or: [
        { a: 1, b: 5 },
        { a: 2, b: 9 },
      ],
    }),
    parseKeyPattern(encode(ab)),
  )
  t.same(alternatives.map(text), ['[1, 1] | [5, 5]', '[2, 2] | [9, 9]'])
  const nested = boundsForOr(root({ b: 7, $or: [{ a: 1 }, { a: 2 }] }), parseKeyPattern(encode(ab)))
  t.same(nested.map(text), ['[1, 1] | [7, 7]', '[2, 2] | [7, 7]'])
  t.end()
})

t.test('bounds are exact where they alone decide the predicate', (t) => {
  const exact = (filter: Document, pattern: Document = { a: 1 }) =>
    boundsFor(root(filter), parseKeyPattern(encode(pattern))).fields.map((field) => field.exact)
  t.same(exact({ a: { $gt: 1, $lt: 5 } }), [true])
  t.same(exact({ a: null }), [false])
  t.same(exact({ a: /^abc/ }), [true])
  t.same(exact({ a: /^abc.d/ }), [false])
  t.same(exact({ a: { $exists: true } }), [false])
  t.same(exact({ b: 1 }), [true])
  t.same(
    exact(
      {
        $or: [
          { a: 1, b: 5 },
          { a: 2, b: 9 },
        ],
      },
      { a: 1, b: 1 },
    ),
    [false, false],
  )
  t.same(exact({ $or: [{ a: 1 }, { a: 2 }], b: 1 }, { a: 1, b: 1 }), [true, true])
  t.same(exact({ a: 1, $expr: { $eq: ['$a', 2] } }), [false])
  t.end()
})

t.test('predicates on a multikey field are not intersected', (t) => {
  t.equal(show({ a: { $gt: 2, $lt: 4 } }, { a: 1 }, { multikey: true }), '(2, inf.0]')
  t.equal(show({ a: { $gt: 2 }, $and: [{ a: 7 }] }, { a: 1 }, { multikey: new Set(['a']) }), '[7, 7]')
  t.equal(show({ a: { $elemMatch: { $gt: 2, $lt: 4 } } }, { a: 1 }, { multikey: true }), '(2, 4)')
  t.equal(show({ a: { $ne: 4 } }, { a: 1 }, { multikey: true }), all)
  t.equal(show({ a: [1, 2] }, { a: 1 }, { multikey: true }), '[1, 1] [[ 1, 2 ], [ 1, 2 ]]')
  t.end()
})

t.test('only equalities give bounds on a hashed field', (t) => {
  const hash = (value: unknown) => formatValue(int64Value(hashValue(toRawValue(value))))
  const hashed = { a: 'hashed' }
  t.equal(show({ a: 5 }, hashed), `[${hash(5)}, ${hash(5)}]`)
  t.equal(show({ a: { $gt: 5 } }, hashed), all)
  t.equal(show({ a: { $ne: 5 } }, hashed), all)
  t.equal(show({ a: { $exists: false } }, hashed), all)
  t.equal(show({ a: /^a/ }, hashed), all)
  t.equal(show({ a: { $in: ['x', /^a/] } }, hashed), all)
  t.equal(show({ a: 5, $and: [{ a: { $gt: 1 } }] }, hashed), `[${hash(5)}, ${hash(5)}]`)
  t.equal(boundsFor(root({ a: { $in: [1, 2, 3] } }), parseKeyPattern(encode(hashed))).fields[0]!.intervals.length, 3)
  t.equal(boundsFor(root({ a: null }), parseKeyPattern(encode(hashed))).fields[0]!.intervals.length, 2)
  t.ok(
    compareValues(
      ...(boundsFor(root({ a: { $in: [1, 2] } }), parseKeyPattern(encode(hashed))).fields[0]!.intervals.map(
        (i) => i.low,
      ) as [RawValue, RawValue]),
    ) < 0,
  )
  t.end()
})

t.test('under a collation strings, objects and arrays give no bounds', (t) => {
  const strings = (a: string, b: string) => a.localeCompare(b)
  t.equal(show({ a: 'y' }, { a: 1 }, { strings }), all)
  t.equal(show({ a: 5 }, { a: 1 }, { strings }), '[5, 5]')
  t.equal(show({ a: { $in: [1, 'x'] } }, { a: 1 }, { strings }), all)
  t.equal(show({ a: /^x/ }, { a: 1 }, { strings }), all)
  t.end()
})

t.test('soleEquality recognizes the same equalities as parsing', (t) => {
  const values: unknown[] = [
    1,
    1.5,
    int64Value(7n),
    'x',
    '',
    true,
    new Date(5),
    Buffer.from('ab'),
    null,
    undefined,
    /x/,
    [1],
    {},
    { b: 1 },
  ]
  values.push({ $gt: 1 }, { $eq: 1 }, { $in: [1] }, { $exists: true })
  const filterWith = (...fields: [name: string, value: unknown][]): Uint8Array => {
    const writer = new DocumentWriter(128)
    for (const [name, value] of fields) writer.value(name, value instanceof RawValue ? value : toRawValue(value))
    return writer.finish()
  }
  let recognized = 0
  for (const name of ['a', 'ab', 'a.b', 'b', '', 'é', 'Ã©']) {
    for (const value of values) {
      for (const path of ['a', 'ab', 'a.b', 'é', 'Ã©']) {
        const filter = filterWith([name, value])
        const found = soleEquality(documentValue(filter), path)
        const inside = new DocumentWriter(128).int32('before', 1).document('filter', filter).int32('after', 1).finish()
        t.equal(
          soleEquality(findField(inside, 'filter')!, path) === null,
          found === null,
          'at any offset of the filter',
        )
        if (found === null) continue
        recognized++
        const { root } = compileFilter(filter, context)
        t.match(root, { kind: 'comparison', operator: 'eq', path })
        t.ok(equalityValues(root, [path])!.get(path)!.isIdentical(found.value))
        t.equal(found.get(path), found.value)
        t.equal(found.get('other'), undefined)
      }
    }
  }
  // Eight plain values on three paths of ASCII characters.
  t.equal(recognized, 24)
  const none = (...fields: [name: string, value: unknown][]) =>
    t.equal(soleEquality(documentValue(filterWith(...fields)), 'a'), null)
  none()
  none(['a', 1], ['b', 1])
  none(['a', 1], ['a', 2])
  none(['b', 1], ['a', 1])
  none(['$comment', 'a'])
  t.end()
})

t.test('equalityValues finds the values that equalities fix', (t) => {
  const values = (filter: Document, ...paths: string[]) => {
    const found = equalityValues(root(filter), paths)
    return found === null ? null : [...found].map(([path, value]) => `${path}=${formatValue(value)}`).join(' ')
  }
  t.equal(values({ a: 1, b: { $eq: 2 }, c: { $gt: 1 } }, 'a', 'b'), 'a=1 b=2')
  t.equal(values({ a: { $in: [7] }, $and: [{ b: 'x' }] }, 'b', 'a'), 'b="x" a=7')
  t.equal(values({ a: { b: { c: 5 } } }, 'a.b.c'), 'a.b.c=5')
  t.equal(values({ a: { b: 1 } }, 'a.c'), null)
  t.equal(values({ a: 1 }, 'a', 'b'), null)
  t.equal(values({ a: { $in: [1, 2] } }, 'a'), null)
  t.equal(values({ a: [1, 2] }, 'a'), null)
  t.equal(values({ a: 1, $and: [{ a: 2 }] }, 'a'), null)
  t.equal(values({ $or: [{ a: 1 }, { a: 1 }] }, 'a'), null)
  t.equal(values({ a: null }, 'a'), 'a=null')
  t.equal(values({ 'a.b': 1 }, 'a'), null)
  t.end()
})

t.test('an upsert starts from the equalities of its filter', (t) => {
  const base = (filter: Document) => formatDocument(upsertBase(compileFilter(encode(filter), context)))
  t.equal(
    base({ a: 1, _id: 5, b: { $gt: 1 }, 'c.d': 2, 'c.e': { $in: [3] }, f: /x/ }),
    '{ _id: 5, a: 1, c: { d: 2, e: 3 } }',
  )
  t.equal(base({ $or: [{ a: 1 }] }), '{ a: 1 }')
  t.equal(base({ $or: [{ a: 1 }, { a: 2 }] }), '{}')
  t.equal(base({ a: { $all: [4] } }), '{ a: 4 }')
  t.equal(
    codeOf(() => base({ a: 1, $and: [{ a: 2 }] })),
    54,
  )
  t.equal(
    codeOf(() => base({ a: { b: 1 }, 'a.b': 1 })),
    54,
  )
  t.end()
})

t.test('an upsert of a replacement takes only the equality on _id, and needs all of it', (t) => {
  const base = (filter: Document) => formatDocument(upsertBase(compileFilter(encode(filter), context), ['_id']))
  t.equal(base({ _id: { x: 1 }, a: 1, $and: [{ a: 2 }] }), '{ _id: { x: 1 } }')
  t.equal(base({ 'a._id': 1, _idx: 2 }), '{}')
  t.equal(
    codeOf(() => base({ '_id.x': 1 })),
    111,
  )
  t.equal(
    codeOf(() => base({ _id: 1, $and: [{ _id: 1 }] })),
    54,
  )
  t.end()
})

t.test('invalid key patterns are refused', (t) => {
  t.same(parseKeyPattern(encode({ a: 1, b: -1, 'c.d': 'hashed' })), [
    { path: 'a', direction: 1 },
    { path: 'b', direction: -1 },
    { path: 'c.d', direction: 'hashed' },
  ])
  for (const bad of [{}, { a: 0 }, { a: 'x' }, { a: {} }, { '': 1 }])
    t.equal(
      codeOf(() => parseKeyPattern(encode(bad))),
      67,
    )
  t.end()
})

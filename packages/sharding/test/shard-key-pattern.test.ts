import {
  decode,
  encode,
  hashValue,
  keyStringOfDocument,
  Long,
  toRawValue,
  Decimal128,
  Int32,
  fromRawValue,
  UUID,
  type Document,
} from '@shardlab/bson'
import t from 'tap'
import { ShardKeyPattern, type ExtractedKey } from '../src/index.js'
import { failure, long, max, min, patternOf } from './support/placements.js'

t.test('a cached pattern does not change with the bytes from which it was parsed', async (t) => {
  const bytes = encode({ a: 1 })
  const read = (document: Uint8Array) => ShardKeyPattern.parse(document, { compoundHashed: true })
  const pattern = read(bytes)
  t.equal(read(encode({ a: 1 })), pattern)
  bytes.set(encode({ b: 1 }))
  t.same(read(bytes).paths, ['b'])
  t.same(decode(pattern.document), { a: 1 })
})

t.test('legal patterns are parsed', async (t) => {
  for (const key of [
    { a: 1 },
    { a: 1.0 },
    { a: Long.fromNumber(1) },
    { a: 1.9 },
    { a: Decimal128.fromString('1') },
    { a: Decimal128.fromString('1.5') },
    { a: 1, b: 1 },
    { 'a.b.c': 1 },
    { a: 'hashed' },
    { a: 1, b: 'hashed', c: 1 },
    { a: 'hashed', b: 1 },
    { 'a.$id': 1 },
    { 'a.$ref': 1, 'a.$db': 1 },
    { _id: 1 },
  ] as Document[]) {
    t.equal(
      failure(() => patternOf(key)),
      null,
      JSON.stringify(key),
    )
  }
})

t.test('illegal patterns fail with BadValue', async (t) => {
  for (const [key, text] of [
    [{}, /^Shard key is empty$/],
    [{ '': 1 }, /is empty$/],
    [{ 'a.': 1 }, /^Field a\. contains empty parts$/],
    [{ '.a': 1 }, /contains empty parts/],
    [{ 'a..b': 1 }, /contains empty parts/],
    [{ $a: 1 }, /^Field \$a contains parts that start with '\$'$/],
    [{ 'a.$x': 1 }, /contains parts that start with/],
    [{ $id: 1 }, /contains parts that start with/],
    [{ '$**': 1 }, /contains parts that start with/],
    [
      { a: -1 },
      /can contain at most one 'hashed' field, and\/or multiple numerical fields set to a value of 1\. Failed to parse field a$/,
    ],
    [{ a: 0 }, /Failed to parse field a/],
    [{ a: 2 }, /Failed to parse field a/],
    [{ a: 0.9 }, /Failed to parse field a/],
    [{ a: Number.NaN }, /Failed to parse field a/],
    [{ a: Decimal128.fromString('-1') }, /Failed to parse field a/],
    [{ a: Decimal128.fromString('0.99') }, /Failed to parse field a/],
    [{ a: '1' }, /Failed to parse field a/],
    [{ a: 'text' }, /Failed to parse field a/],
    [{ a: '2d' }, /Failed to parse field a/],
    [{ a: true }, /Failed to parse field a/],
    [{ a: 'hashed', b: 'hashed' }, /Failed to parse field b/],
    [{ a: 1, b: -1 }, /Failed to parse field b/],
  ] as [Document, RegExp][]) {
    const error = failure(() => patternOf(key))
    t.equal(error?.code, 2, JSON.stringify(key))
    t.match(error?.message, text, JSON.stringify(key))
  }
})

t.test('before 4.4 a hashed field must be the only one', async (t) => {
  t.equal(
    failure(() => patternOf({ a: 'hashed' }, false)),
    null,
  )
  t.equal(
    failure(() => patternOf({ a: 1, b: 1 }, false)),
    null,
  )
  t.equal(failure(() => patternOf({ a: 1, b: 'hashed' }, false))?.code, 2)
  t.match(
    failure(() => patternOf({ a: 'hashed', b: 1 }, false)),
    {
      code: 2,
      message: "Field a can only be 1 or 'hashed'",
    },
  )
})

t.test('a pattern has an index name, bounds and flags', async (t) => {
  const pattern = patternOf({ b: 1, 'a.c': 'hashed' })
  t.same(pattern.paths, ['b', 'a.c'])
  t.same(pattern.keyPattern, [
    { path: 'b', direction: 1 },
    { path: 'a.c', direction: 'hashed' },
  ])
  t.equal(pattern.indexName, 'b_1_a.c_hashed')
  t.equal(pattern.isHashed, true)
  t.equal(pattern.hashedIndex, 1)
  t.same(decode(pattern.globalMin), { b: min, 'a.c': min })
  t.same(decode(pattern.globalMax), { b: max, 'a.c': max })
  t.equal(pattern.globalMinKeyString, keyStringOfDocument(pattern.globalMin))
  t.equal(pattern.globalMaxKeyString, keyStringOfDocument(pattern.globalMax))
  t.equal(pattern.isId, false)
  t.equal(patternOf({ _id: 1 }).isId, true)
  t.equal(patternOf({ _id: 'hashed' }).isId, false)
  t.equal(patternOf({ _id: 1, a: 1 }).isId, false)
})

function valuesOf(key: Document, document: Document, missingIsNull = true): unknown {
  const extracted = patternOf(key).extract(encode(document), { missingIsNull })
  return typeof extracted === 'string'
    ? extracted
    : extracted.values.map((value) => fromRawValue(value, { promoteLongs: true }))
}

t.test("a key has the values of the pattern's paths", async (t) => {
  t.same(valuesOf({ a: 1 }, { b: 2, a: 'x' }), ['x'])
  t.same(valuesOf({ b: 1, a: 1 }, { a: 1, b: 2 }), [2, 1], 'in the order of the pattern')
  t.same(valuesOf({ 'a.b': 1 }, { a: { c: 1, b: 7 } }), [7])
  t.same(valuesOf({ 'a.b.c': 1 }, { a: { b: { c: 7 } } }), [7])
  t.same(valuesOf({ a: 1 }, { a: { b: 1 } }), [{ b: 1 }], 'a document is a value')
  t.same(valuesOf({ x: 1, y: 1 }, { x: 'hello' }), ['hello', null])
  t.same(valuesOf({ x: 1, y: 1 }, { y: 'goodbye' }), [null, 'goodbye'])
  t.same(valuesOf({ x: 1, y: 1 }, { z: 'oops' }), [null, null])
  t.same(valuesOf({ 'a.b': 1 }, { a: 5 }), [null], 'after a scalar on the path, the field is missing')
  t.same(valuesOf({ 'a.b': 1 }, { 'a.b': 5 }), [null], 'a field whose name has a dot is not the path')
})

t.test('a document with an array on a path has no key', async (t) => {
  t.equal(valuesOf({ a: 1 }, { a: [1] }), 'array')
  t.equal(valuesOf({ a: 1 }, { a: [] }), 'array')
  t.equal(valuesOf({ 'a.b': 1 }, { a: { b: [1] } }), 'array')
  t.equal(valuesOf({ 'a.b': 1 }, { a: [{ b: 1 }] }), 'array')
  t.equal(valuesOf({ 'a.b.c': 1 }, { a: { b: [{ c: 1 }] } }), 'array')
  t.equal(valuesOf({ a: 1, b: 1 }, { a: 1, b: [1] }), 'array')
  t.equal(valuesOf({ a: 'hashed' }, { a: [1] }), 'array')
  t.same(valuesOf({ a: 1 }, { a: { b: [1] } }), [{ b: [1] }], 'an array inside a value is part of it')
})

t.test('before 4.4 every field must be present, if only as null', async (t) => {
  t.equal(valuesOf({ a: 1, b: 1 }, { a: 1 }, false), 'missing')
  t.equal(valuesOf({ 'a.b': 1 }, { a: 5 }, false), 'missing')
  t.same(valuesOf({ a: 1 }, { a: null }, false), [null])
})

t.test('hashed fields are hashed in their position', async (t) => {
  const hash = (value: unknown) => hashValue(toRawValue(value))
  const extract = (key: Document, document: Document) =>
    (patternOf(key).extract(encode(document)) as ExtractedKey).values.map((value) =>
      value.type === 18 ? value.asBigInt() : fromRawValue(value),
    )
  t.same(extract({ a: 'hashed' }, { a: 1 }), [5902408780260971510n])
  t.same(extract({ a: 'hashed' }, {}), [2338878944348059895n], 'missing hashes as null')
  t.same(extract({ a: 'hashed' }, { a: null }), [2338878944348059895n])
  t.same(extract({ x: 1, a: 'hashed', z: 1 }, { z: 3, a: 'abc', x: 1 }), [1, 8478485326885698097n, 3])
  t.same(extract({ 'a.b': 'hashed' }, { a: { b: 42.5 } }), [hash(42)])
})

t.test('the order of keys is the order of their KeyStrings', async (t) => {
  const pattern = patternOf({ a: 1, b: 1 })
  const place = (document: Document) => (pattern.extract(encode(document)) as ExtractedKey).keyString
  const ascending = [
    {},
    { b: 1 },
    { b: 'x' },
    { a: -5 },
    { a: 1 },
    { a: 1, b: 0 },
    { a: 1, b: true },
    { a: 2 },
    { a: 'A' },
    { a: 'a' },
    { a: { x: 1 } },
    { a: new UUID('0123456789abcdef0123456789abcdef') },
    { a: false },
    { a: new Date(0) },
  ]
  for (let i = 1; i < ascending.length; i++)
    t.ok(
      place(ascending[i - 1]!) < place(ascending[i]!),
      `${JSON.stringify(ascending[i - 1])} < ${JSON.stringify(ascending[i])}`,
    )
  t.equal(place({ a: 1, b: 2 }), place({ a: new Int32(1), b: Decimal128.fromString('2.0') }))
  for (const document of ascending)
    t.ok(pattern.globalMinKeyString < place(document) && place(document) < pattern.globalMaxKeyString)
})

t.test('a key can be made from fixed values', async (t) => {
  const pattern = patternOf({ a: 1, b: 'hashed' })
  const key = pattern.keyFromValues(
    new Map([
      ['b', toRawValue('abc')],
      ['a', toRawValue(1)],
    ]),
  )
  t.equal(key?.keyString, (pattern.extract(encode({ a: 1, b: 'abc' })) as ExtractedKey).keyString)
  t.equal(pattern.keyFromValues(new Map([['a', toRawValue(1)]])), undefined)
  t.equal(
    pattern.keyFromValues(
      new Map([
        ['a', toRawValue(1)],
        ['b', toRawValue([1])],
      ]),
    ),
    undefined,
  )
})

t.test('a bound has every field, in any order, no arrays, and hashed values', async (t) => {
  const pattern = patternOf({ a: 1, 'b.c': 1 })
  t.equal(pattern.keyStringOfBound(encode({ 'b.c': 2, a: 1 })), keyStringOfDocument(encode({ a: 1, 'b.c': 2 })))
  t.equal(pattern.keyStringOfBound(encode({ a: min, 'b.c': min })), pattern.globalMinKeyString)
  t.equal(pattern.keyStringOfBound(encode({ a: 1 })), undefined)
  t.equal(pattern.keyStringOfBound(encode({ a: 1, b: { c: 2 } })), undefined, 'by its dotted name')
  t.equal(pattern.keyStringOfBound(encode({ a: 1, 'b.c': 2, d: 3 })), undefined)
  t.equal(pattern.keyStringOfBound(encode({ a: 1, 'b.c': [2] })), undefined)
  const hashed = patternOf({ a: 'hashed' })
  t.equal(
    hashed.keyStringOfBound(encode({ a: long('5902408780260971510') })),
    (hashed.extract(encode({ a: 1 })) as ExtractedKey).keyString,
  )
  t.same(decode(pattern.boundDocument([toRawValue(1), toRawValue('x')])), { a: 1, 'b.c': 'x' })
})

t.test("a unique index must begin with the shard key's fields or with _id", async (t) => {
  const pattern = patternOf({ a: 1, b: 1 })
  const allows = (index: Document) => pattern.allowsUniqueIndex(encode(index))
  t.ok(allows({ a: 1, b: 1 }))
  t.ok(allows({ a: 1, b: 1, c: 1 }))
  t.ok(allows({ a: -1, b: 1, c: 1 }), 'only the names count')
  t.ok(allows({ _id: 1 }))
  t.ok(allows({ _id: 1, c: 1 }))
  t.notOk(allows({ a: 1 }))
  t.notOk(allows({ b: 1, a: 1 }))
  t.notOk(allows({ a: 1, c: 1, b: 1 }))
  t.notOk(allows({ c: 1 }))
})

t.test('isSameIn compares the key values of two documents by bytes', async (t) => {
  const same = (key: Document, a: Document, b: Document) => patternOf(key).isSameIn(encode(a), encode(b))
  t.ok(same({ a: 1, 'b.c': 'hashed' }, { a: 1, b: { c: 2 }, n: 0 }, { n: 7, b: { x: 1, c: 2 }, a: 1 }))
  t.notOk(same({ a: 1 }, { a: 1 }, { a: 2 }))
  t.notOk(same({ a: 1 }, { a: 1 }, { a: long('1') }), 'another number type')
  t.notOk(same({ a: 1 }, {}, {}), 'both values are missing')
  t.notOk(same({ a: 1 }, { a: [1] }, { a: [1] }), 'arrays')
})

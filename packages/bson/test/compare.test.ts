import t from 'tap'
import fc from 'fast-check'
import {
  Binary,
  BsonType,
  canonicalType,
  compareDocuments,
  compareValues,
  encode,
  int64Value,
  doubleValue,
  Decimal128,
  RawValue,
  toRawValue,
  undefinedValue,
  nullValue,
  minKeyValue,
  maxKeyValue,
  valuesEqual,
} from '@shardlab/bson'
import { fieldModels, numberModel, valueModel, valuePair } from './support/arbitrary.js'
import { documentBytes, rawValue, slowCompare } from './support/model.js'
import { check } from './support/check.js'

t.test('compareValues agrees with the slow comparison', async () => {
  check(
    fc.property(valuePair, ([a, b]) => compareValues(rawValue(a), rawValue(b)) === slowCompare(a, b)),
    5000,
  )
})

t.test('comparisons of numbers agree with exact fractions', async () => {
  check(
    fc.property(numberModel, numberModel, (a, b) => compareValues(rawValue(a), rawValue(b)) === slowCompare(a, b)),
    5000,
  )
})

t.test('the order is antisymmetric and transitive', async () => {
  check(
    fc.property(fc.array(valueModel, { minLength: 3, maxLength: 3 }), (models) => {
      const [a, b, c] = models.map(rawValue).sort(compareValues) as [RawValue, RawValue, RawValue]
      return (
        compareValues(a, b) <= 0 &&
        compareValues(b, c) <= 0 &&
        compareValues(a, c) <= 0 &&
        compareValues(a, c) === 0 - compareValues(c, a)
      )
    }),
  )
})

t.test('documents compare as objects', async () => {
  check(
    fc.property(
      fieldModels,
      fieldModels,
      (a, b) =>
        compareDocuments(documentBytes(a), documentBytes(b)) ===
        slowCompare({ kind: 'object', fields: a }, { kind: 'object', fields: b }),
    ),
  )
})

t.test('a missing value equals undefined', async (t) => {
  t.equal(compareValues(undefined, undefined), 0)
  t.equal(compareValues(undefined, undefinedValue), 0)
  t.equal(compareValues(undefinedValue, undefined), 0)
  t.equal(compareValues(undefined, nullValue), -1)
  t.equal(compareValues(nullValue, undefined), 1)
  t.equal(compareValues(undefined, minKeyValue), 1)
  t.equal(compareValues(minKeyValue, undefined), -1)
  t.equal(compareValues(maxKeyValue, undefined), 1)
})

t.test('comparisons of numbers lose no precision', async (t) => {
  const decimal = (text: string): RawValue => toRawValue(Decimal128.fromString(text))
  const two53 = 2n ** 53n
  t.equal(compareValues(int64Value(two53 + 1n), doubleValue(2 ** 53)), 1)
  t.equal(compareValues(int64Value(two53), doubleValue(2 ** 53)), 0)
  t.equal(compareValues(int64Value(2n ** 63n - 1n), doubleValue(2 ** 63)), -1)
  t.equal(compareValues(int64Value(2n ** 63n - 1n), int64Value(2n ** 63n - 2n)), 1)
  t.equal(compareValues(doubleValue(0.1), decimal('0.1')), 1, '0.1 as a double is slightly greater')
  t.equal(compareValues(doubleValue(0.5), decimal('0.500')), 0)
  t.equal(compareValues(decimal('9007199254740993'), int64Value(two53 + 1n)), 0)
  t.equal(compareValues(decimal('1E+6000'), decimal('1E+6001')), -1)
  t.equal(compareValues(decimal('-1E+6000'), doubleValue(-Infinity)), 1)
  t.equal(compareValues(decimal('1E-6176'), doubleValue(0)), 1)
  t.equal(compareValues(doubleValue(Number.NaN), doubleValue(-Infinity)), -1)
  t.equal(compareValues(doubleValue(Number.NaN), decimal('NaN')), 0)
  t.equal(compareValues(doubleValue(-0), int64Value(0n)), 0)
})

t.test('a decimal whose coefficient is too large is zero', async (t) => {
  const bytes = new Uint8Array(16).fill(0xff)
  bytes[14] = 0x41
  bytes[15] = 0x30
  t.equal(compareValues(new RawValue(BsonType.decimal128, bytes, 0, 16), int64Value(0n)), 0)
  bytes[15] = 0x60
  t.equal(compareValues(new RawValue(BsonType.decimal128, bytes, 0, 16), int64Value(0n)), 0)
})

t.test('the order and the names of fields count', async (t) => {
  t.equal(compareDocuments(encode({ a: 1, b: 2 }), encode({ b: 2, a: 1 })), -1)
  t.equal(compareDocuments(encode({ a: 'x' }), encode({ b: 1 })), 1, 'type before name')
  t.equal(compareDocuments(encode({}), encode({ a: null })), -1)
  t.equal(compareDocuments(encode({ a: 1 }), encode({ a: 1.0, b: 1 })), -1)
})

t.test('a collation orders strings, nested ones too, but not field names', async (t) => {
  const fold = (a: string, b: string): number =>
    a.toLowerCase() < b.toLowerCase() ? -7 : a.toLowerCase() > b.toLowerCase() ? 7 : 0
  t.ok(valuesEqual(toRawValue('ABC'), toRawValue('abc'), fold))
  t.notOk(valuesEqual(toRawValue('ABC'), toRawValue('abc')))
  t.equal(compareValues(toRawValue('B'), toRawValue('a'), fold), 1)
  t.equal(compareValues(toRawValue({ x: ['A'] }), toRawValue({ x: ['a'] }), fold), 0)
  t.equal(compareValues(toRawValue({ X: 1 }), toRawValue({ x: 1 }), fold), -1)
})

t.test('long strings compare by bytes', async (t) => {
  const a = toRawValue('x'.repeat(100) + 'a')
  t.equal(compareValues(a, toRawValue('x'.repeat(100) + 'b')), -1)
  t.equal(compareValues(a, toRawValue('x'.repeat(100))), 1)
  t.equal(compareValues(a, toRawValue('x'.repeat(100) + 'a')), 0)
})

t.test('binary values compare by length, subtype, bytes', async (t) => {
  const ascending = [
    new Binary(new Uint8Array([9]), 9),
    new Binary(new Uint8Array([2, 0]), 0),
    new Binary(new Uint8Array([2, 1]), 0),
    new Binary(new Uint8Array([1, 0]), 1),
  ].map(toRawValue)
  for (const [i, a] of ascending.entries())
    for (const [j, b] of ascending.entries()) t.equal(compareValues(a, b), Math.sign(i - j), `${i} and ${j}`)
})

t.test('every type has a rank', async (t) => {
  for (const type of Object.values(BsonType)) t.type(canonicalType(type), 'number')
  t.throws(() => canonicalType(0x20))
})

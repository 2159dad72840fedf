import t from 'tap'
import fc from 'fast-check'
import {
  boolValue,
  BsonType,
  Code,
  decode,
  Decimal128,
  doubleValue,
  EJSON,
  emptyDocumentValue,
  encode,
  fromRawValue,
  int32Value,
  int64Value,
  isBsonType,
  isNaNValue,
  isNumberType,
  Long,
  maxKeyValue,
  minKeyValue,
  nullValue,
  ObjectId,
  RawValue,
  readName,
  readDouble,
  readInt32,
  readInt64,
  readInt64Number,
  readUint32,
  readUtf8,
  stringValue,
  toExtendedJson,
  toRawValue,
  typeName,
  undefinedValue,
  writeDouble,
  writeInt32,
  writeInt64,
  uuidValue,
  UUID,
  hexOf,
  sameBytes,
  objectIdValue,
  findField,
} from '@shardlab/bson'
import { check } from './support/check.js'
import { rawValue } from './support/model.js'

t.test('numbers are read and written little-endian', async () => {
  check(
    fc.property(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.double(),
      fc.nat({ max: 7 }),
      (integer, double, at) => {
        const expected = Buffer.alloc(16)
        const bytes = new Uint8Array(16)
        expected.writeBigInt64LE(integer, at)
        writeInt64(bytes, at, integer)
        const low = expected.readInt32LE(at)
        const integers =
          Buffer.compare(bytes, expected) === 0 &&
          readInt64(bytes, at) === integer &&
          readInt64Number(bytes, at) === Number(integer) &&
          readInt32(bytes, at) === low &&
          readUint32(bytes, at) === low >>> 0
        expected.writeDoubleLE(double, at)
        writeDouble(bytes, at, double)
        const doubles = Object.is(readDouble(bytes, at), expected.readDoubleLE(at))
        expected.writeInt32LE(low, at)
        writeInt32(bytes, at, low)
        return integers && doubles && readInt32(bytes, at) === low
      },
    ),
  )
})

t.test('readInt64Number gives the nearest double', async (t) => {
  for (const value of [
    2n ** 53n - 1n,
    2n ** 53n,
    2n ** 53n + 1n,
    -(2n ** 53n),
    -(2n ** 53n) - 1n,
    2n ** 63n - 1n,
    -(2n ** 63n),
    2n ** 53n + 3n,
    0n,
    -1n,
  ]) {
    t.equal(int64Value(value).asNumber(), Number(value), String(value))
  }
})

t.test('values convert to numbers, integers and strings, or throw', async (t) => {
  t.equal(int32Value(-2147483648).asNumber(), -2147483648)
  t.equal(doubleValue(0.1).asNumber(), 0.1)
  t.ok(Number.isNaN(toRawValue(Decimal128.fromString('1')).asNumber()))
  t.ok(Number.isNaN(stringValue('1').asNumber()))
  t.equal(int32Value(-1).asBigInt(), -1n)
  t.equal(int64Value(-(2n ** 63n)).asBigInt(), -(2n ** 63n))
  t.equal(toRawValue(new Date(-5)).asBigInt(), -5n)
  t.throws(() => doubleValue(1).asBigInt(), TypeError)
  t.equal(stringValue('é\0x').asString(), 'é\0x')
  t.equal(toRawValue(new Code('f')).asString(), 'f')
  t.throws(() => int32Value(1).asString(), TypeError)
})

t.test("isTruthy is the server's trueValue", async (t) => {
  const decimal = (text: string): RawValue => toRawValue(Decimal128.fromString(text))
  for (const value of [
    nullValue,
    undefinedValue,
    boolValue(false),
    int32Value(0),
    int64Value(0n),
    doubleValue(0),
    doubleValue(-0),
    decimal('0'),
    decimal('-0E+5'),
  ])
    t.notOk(value.isTruthy(), typeName(value.type))
  for (const value of [
    boolValue(true),
    int32Value(2),
    doubleValue(Number.NaN),
    decimal('NaN'),
    decimal('1E-6000'),
    decimal('Infinity'),
    stringValue(''),
    emptyDocumentValue,
    minKeyValue,
    maxKeyValue,
  ])
    t.ok(value.isTruthy(), typeName(value.type))
})

t.test('type predicates and names cover every type', async (t) => {
  for (const type of [BsonType.int32, BsonType.int64, BsonType.double, BsonType.decimal128]) {
    t.ok(isNumberType(type))
    t.ok(new RawValue(type, new Uint8Array(16), 0, 0).isNumber())
  }
  t.notOk(isNumberType(BsonType.bool))
  t.notOk(stringValue('').isNumber())
  t.ok(nullValue.isNullish())
  t.ok(undefinedValue.isNullish())
  t.notOk(int32Value(0).isNullish())
  t.ok(isBsonType(0x13))
  t.notOk(isBsonType(0x14))
  t.notOk(isBsonType(0))
  t.equal(typeName(0x10), 'int')
  t.equal(typeName(undefined), 'missing')
  t.ok(isNaNValue(doubleValue(Number.NaN)))
  t.ok(isNaNValue(toRawValue(Decimal128.fromString('NaN'))))
  t.notOk(isNaNValue(doubleValue(1)))
  t.notOk(isNaNValue(stringValue('NaN')))
})

t.test('a detached value shares no bytes', async (t) => {
  const bytes = Buffer.from(encode({ a: 'hello' }))
  const value = new RawValue(BsonType.string, bytes, 7, 17)
  const copy = value.detached()
  bytes.fill(0)
  t.equal(copy.asString(), 'hello')
  t.equal(
    new RawValue(BsonType.objectId, bytes, 0, bytes.length).slice(),
    bytes,
    'slice returns the array itself if the value fills it',
  )
})

t.test('UTF-8 is read as Buffer reads it', async () => {
  check(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
      const bytes = new Uint8Array(Buffer.from(`..${text}..`))
      return (
        readUtf8(bytes, 2, bytes.length - 2) === text &&
        stringValue(text).asString() === text &&
        stringValue(text).end === Buffer.byteLength(text) + 5
      )
    }),
  )
})

t.test('values survive the way to JavaScript and back', async (t) => {
  const id = new ObjectId()
  for (const value of [
    1,
    1.5,
    'x',
    true,
    null,
    id,
    new Date(5),
    [1, 'a'],
    { a: { b: 1 } },
    Long.fromNumber(5),
    Decimal128.fromString('1.5'),
  ]) {
    t.same(fromRawValue(toRawValue(value)), value)
  }
  t.equal(toRawValue(undefined), undefinedValue)
  t.equal(fromRawValue(int64Value(5n), { promoteLongs: true }), 5)
  t.equal(toRawValue(5n).type, BsonType.int64)
  t.equal(fromRawValue(rawValue({ kind: 'int32', value: 9 })), 9)
  t.same(encode({ a: undefined, b: 1 }), encode({ b: 1 }))
  t.same(decode(encode({ a: Long.fromNumber(1) })), { a: Long.fromNumber(1) })
})

t.test('relaxed and canonical Extended JSON are those of the bson package', async (t) => {
  const bytes = encode({ a: 1, l: Long.fromNumber(2) })
  t.equal(toExtendedJson(bytes), '{"a":1,"l":2}')
  t.equal(toExtendedJson(bytes, { canonical: true }), '{"a":{"$numberInt":"1"},"l":{"$numberLong":"2"}}')
  t.same(EJSON.parse(toExtendedJson(bytes)), { a: 1, l: 2 })
})

t.test('binary values and identity compare bytes', async (t) => {
  const bytes = new Uint8Array(16).map((_, i) => i * 16)
  const uuid = uuidValue(bytes)
  t.same(fromRawValue(uuid), new UUID(bytes))
  t.same(Buffer.from(uuid.asBinary()), Buffer.from(bytes))
  t.ok(uuid.isBinary(bytes))
  t.notOk(uuid.isBinary(bytes.slice(1)))
  t.notOk(toRawValue('text').isBinary(bytes))
  t.throws(() => toRawValue('text').asBinary(), TypeError)
  t.equal(hexOf(bytes.subarray(1, 4)), '102030')
  t.ok(sameBytes(bytes, bytes.slice()))
  t.equal(hexOf(Buffer.from([1, 255])), '01ff', 'of a Buffer')
  for (const length of [0, 1, 64, 65, 200]) {
    const long = Uint8Array.from({ length }, (_, i) => i)
    const other = Buffer.from(long)
    t.ok(sameBytes(long, other), `${length} bytes`)
    if (length === 0) continue
    other[length - 1]!++
    t.notOk(sameBytes(long, other), `${length} bytes, the last one differs`)
    t.notOk(sameBytes(long, other.subarray(1)), `${length} bytes and one fewer`)
  }
  const id = new ObjectId()
  t.ok(objectIdValue(id.id).isIdentical(toRawValue(id)))
  t.ok(findField(encode({ x: 'y', a: { b: 1 } }), 'a')!.isIdentical(toRawValue({ b: 1 })))
  t.notOk(toRawValue(1).isIdentical(doubleValue(1)), 'another type')
  t.notOk(toRawValue('ab').isIdentical(toRawValue('a')), 'another length')
  t.notOk(toRawValue('ab').isIdentical(toRawValue('ac')))
})

t.test('a name is read the same however often and after any others', async () => {
  check(
    fc.property(
      fc.array(fc.oneof(fc.string({ maxLength: 40 }), fc.constantFrom('é', 'a', 'filter', '\u{1f600}')), {
        maxLength: 30,
      }),
      (texts) =>
        [...texts, ...texts].every((text) => {
          const bytes = Buffer.from(text)
          return readName(bytes, 0, bytes.length) === bytes.toString()
        }),
    ),
  )
})

t.test('a byte that is invalid UTF-8 does not match the same character code in a cached name', async (t) => {
  readName(Buffer.from('\u00e9'), 0, 2)
  t.equal(readName(Buffer.from([0xe9]), 0, 1), '\ufffd')
})

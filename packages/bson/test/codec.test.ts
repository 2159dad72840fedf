import t from 'tap'
import { BSON } from 'bson'
import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  BsonType,
  Code,
  Decimal128,
  decimalText,
  decimalValue,
  decode,
  DocumentWriter,
  EJSON,
  encode,
  findField,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  toExtendedJson,
  UUID,
} from '@shardlab/bson'

t.test('invalid UTF-8 in a string is replaced and reading continues', async (t) => {
  const bytes = Buffer.from(encode({ text: 'abc', after: 1 }))
  bytes[bytes.indexOf('abc')] = 0xff
  t.same(decode(bytes), { text: '\ufffdbc', after: 1 })
  t.equal(toExtendedJson(bytes), '{"text":"\ufffdbc","after":1}')
})

t.test('names with a meaning in JavaScript are ordinary fields', async (t) => {
  const document = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}') as Record<string, unknown>
  const found = decode(encode(document))
  t.same(Object.keys(found), ['__proto__', 'constructor'])
  t.equal(({} as { a?: number }).a, undefined)
})

t.test('an int64 stays a Long unless promoteLongs asks for a number', async (t) => {
  const bytes = encode({ n: Long.fromNumber(5) })
  t.ok(decode(bytes)['n'] instanceof Long)
  t.equal(decode(bytes, { promoteLongs: true })['n'], 5)
})

t.test('a document larger than the buffer of `bson` is encoded', async (t) => {
  const half = 'x'.repeat(9 * 1024 * 1024)
  for (const document of [
    { a: half, b: half },
    { a: half, b: half, c: 1, d: { e: [true, 2.5] } },
  ]) {
    const found = decode(encode(document))
    // Not `same`: a failure would print both documents.
    t.ok(Object.entries(document).every(([name, value]) => typeof value !== 'string' || found[name] === value))
    t.same({ ...found, a: 0, b: 0 }, { ...document, a: 0, b: 0 })
  }
})

t.test('Extended JSON has all digits of an int64', async (t) => {
  const [few, many] = ['-9007199254740991', '-3074457345618258602'] as const
  const [small, large] = [Long.fromString(few), Long.fromString(many)]
  t.equal(toExtendedJson(encode({ a: large, b: { c: [small, large] } })), `{"a":${many},"b":{"c":[${few},${many}]}}`)
  t.equal(toExtendedJson(encode({ a: large }), { canonical: true }), `{"a":{"$numberLong":"${many}"}}`)
  for (const text of ['\0int64:5', '\u0001int64:5']) {
    const { a } = JSON.parse(toExtendedJson(encode({ a: [text], b: large }))) as { a: unknown }
    t.same(a, [text], 'a string stays a string')
  }
})

t.test('Extended JSON has the fields in their order, repeated names included', async (t) => {
  const bound = {
    _id: new MinKey(),
    'a.b': new MaxKey(),
    n: -7,
    text: 'a "quoted"\n\u2028\u{1f600}',
    long: Long.fromNumber(5),
  }
  t.equal(
    toExtendedJson(encode(bound)),
    '{"_id":{"$minKey":1},"a.b":{"$maxKey":1},"n":-7,"text":"a \\"quoted\\"\\n\u2028\u{1f600}","long":5}',
  )
  const twice = new DocumentWriter().int32('a', 1).int32('b', 2).int32('a', 3).finish()
  t.equal(toExtendedJson(twice), '{"a":1,"b":2,"a":3}')
  const numbered = new DocumentWriter().int32('b', 1).int32('2', 2).int32('1', 3).finish()
  t.equal(toExtendedJson(new DocumentWriter().document('key', numbered).finish()), '{"key":{"b":1,"2":2,"1":3}}')
})

t.test("Extended JSON is that of the library's types", async (t) => {
  const document = {
    array: [1, [2.5, -0, Number.NaN, 1e300], {}],
    binary: new Binary(Buffer.from('abc'), 5),
    code: new Code('f()'),
    scoped: new Code('f()', { a: 1 }),
    date: [new Date(0), new Date(-1), new Date(253_402_300_800_000)],
    decimal: Decimal128.fromString('1.50'),
    id: new ObjectId('0123456789abcdef01234567'),
    null: null,
    old: new Binary(Buffer.from('abc'), 2),
    pattern: new BSONRegExp('a/b', 'xi'),
    symbol: new BSONSymbol('s'),
    time: new Timestamp({ t: 4_294_967_295, i: 7 }),
    truth: [true, false],
    uuid: new UUID('01234567-89ab-cdef-0123-456789abcdef'),
  }
  for (const canonical of [true, false])
    t.equal(
      // The library loses the sign of a zero in relaxed text.
      toExtendedJson(encode(document), { canonical }).replace('[2.5,-0.0,', '[2.5,0,'),
      EJSON.stringify(BSON.deserialize(encode(document), { promoteValues: false, bsonRegExp: true }), {
        relaxed: !canonical,
      }),
    )
})

t.test('Extended JSON of what the library refuses to read', (t) => {
  const regex = new DocumentWriter().raw('v', BsonType.regex, Buffer.from('a\0i\u0007z\0')).finish()
  t.equal(toExtendedJson(regex), String.raw`{"v":{"$regularExpression":{"pattern":"a","options":"\u0007iz"}}}`)
  const vector = new DocumentWriter().raw('v', BsonType.binary, Buffer.from([2, 0, 0, 0, 9, 0x10, 0xfe])).finish()
  t.equal(toExtendedJson(vector), '{"v":{"$binary":{"base64":"EP4=","subType":"09"}}}')
  t.end()
})

t.test('A decimal128 is made from text and printed', async (t) => {
  for (const text of ['1.50', '-0.000', 'NaN', 'Infinity', '9.999999999999999999999999999999999E+6144'])
    t.equal(decimalText(decimalValue(text)), text)
  t.same(decimalValue('1.5').slice(), findField(encode({ d: Decimal128.fromString('1.5') }), 'd')!.slice())
  t.throws(() => decimalValue('x'))
})

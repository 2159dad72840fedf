import t from 'tap'
import { decode, DocumentWriter, encode, Long, MaxKey, MinKey, toExtendedJson } from '@shardlab/bson'

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

t.test('the fast path to Extended JSON gives the text of the general one', async (t) => {
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
  t.equal(toExtendedJson(encode({ b: 1, 10: 2, $c: 3 })), JSON.stringify({ b: 1, 10: 2, $c: 3 }))
  const twice = new DocumentWriter().int32('a', 1).int32('b', 2).int32('a', 3).finish()
  t.equal(toExtendedJson(twice), '{"a":3,"b":2}')
  const numbered = new DocumentWriter().int32('b', 1).int32('2', 2).int32('1', 3).finish()
  t.equal(toExtendedJson(numbered), '{"1":3,"2":2,"b":1}')
})

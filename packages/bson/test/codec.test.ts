/** Whole documents as JavaScript values. */
import t from 'tap'
import { decode, encode, Long, toExtendedJson } from '@shardlab/bson'

t.test('a string that is no UTF-8 does not stop the reader', async (t) => {
  const bytes = Buffer.from(encode({ text: 'abc', after: 1 }))
  bytes[bytes.indexOf('abc')] = 0xff
  t.same(decode(bytes), { text: '\ufffdbc', after: 1 })
  t.equal(toExtendedJson(bytes), '{"text":"\ufffdbc","after":1}')
})

t.test('names that mean something to JavaScript are fields like others', async (t) => {
  const document = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}') as Record<string, unknown>
  const found = decode(encode(document))
  t.same(Object.keys(found), ['__proto__', 'constructor'])
  t.equal(({} as { a?: number }).a, undefined)
})

t.test('int64 stays wide unless it is asked for as a number', async (t) => {
  const bytes = encode({ n: Long.fromNumber(5) })
  t.ok(decode(bytes)['n'] instanceof Long)
  t.equal(decode(bytes, { promoteLongs: true })['n'], 5)
})

t.test('a document that is larger than the buffer of `bson`', async (t) => {
  const half = 'x'.repeat(9 * 1024 * 1024)
  for (const document of [
    { a: half, b: half },
    { a: half, b: half, c: 1, d: { e: [true, 2.5] } },
  ]) {
    const found = decode(encode(document))
    // Not `same`: a difference would print both.
    t.ok(Object.entries(document).every(([name, value]) => typeof value !== 'string' || found[name] === value))
    t.same({ ...found, a: 0, b: 0 }, { ...document, a: 0, b: 0 })
  }
})

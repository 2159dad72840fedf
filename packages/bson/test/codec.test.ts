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

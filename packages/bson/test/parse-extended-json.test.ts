import fc from 'fast-check'
import t from 'tap'
import { encode, parseExtendedJson, toExtendedJson } from '../src/index.js'
import { documentArbitrary } from './support/arbitrary.js'
import { check } from './support/check.js'

t.test('canonical extended JSON of any document is parsed to its bytes', async () => {
  check(
    fc.property(documentArbitrary, (bytes) => {
      const text = toExtendedJson(bytes, { canonical: true })
      // The library reads scopes of code, and references to databases, which are deprecated.
      if (/"\$(scope|ref|dbPointer)"/.test(text)) return true
      return toExtendedJson(parseExtendedJson(text), { canonical: true }) === text
    }),
  )
})

t.test('names that are whole numbers keep their place, and documents may have names of values', async (t) => {
  const text = '{"b":{"$numberInt":"1"},"10":{"$numberInt":"1"},"2":{"$numberInt":"-1"}}'
  t.equal(toExtendedJson(parseExtendedJson(text), { canonical: true }), text)
  t.same(parseExtendedJson(' { "a" : [ 1 , "}\\"" , { } , null , true ] } '), encode({ a: [1, '}"', {}, null, true] }))
  t.same(parseExtendedJson('{"a":{"$gt":1}}'), encode({ a: { $gt: 1 } }))
  t.same(parseExtendedJson('{"a":{"$regex":"^a","$ne":"b"}}'), encode({ a: { $regex: '^a', $ne: 'b' } }))
  const depth = 100
  t.equal(parseExtendedJson(`${'{"$cond":'.repeat(depth)}1${'}'.repeat(depth)}`).length > depth, true)
})

t.test('whole numbers keep all digits of an int64, and zero its sign', async (t) => {
  const text = '{"a":9007199254740993,"b":-9223372036854775808,"c":-0.0,"d":3000000000}'
  t.equal(toExtendedJson(parseExtendedJson(text)), text)
  t.match(toExtendedJson(parseExtendedJson('{"a":9007199254740993}'), { canonical: true }), /"\$numberLong"/)
  t.match(toExtendedJson(parseExtendedJson('{"a":9223372036854775808}'), { canonical: true }), /"\$numberDouble"/)
})

t.test('other texts are refused', async (t) => {
  for (const text of [
    '',
    '[]',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1}}',
    '{"a":01x}',
    '{"a":[1 2]}',
    '{a:1}',
    '{"a":{"$oid":"zz"}}',
  ])
    t.throws(() => parseExtendedJson(text), SyntaxError, text)
})

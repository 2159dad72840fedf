import t from 'tap'
import { Binary, BSON, Code, DBRef, Double, Long, ObjectId, UUID } from 'mongodb'
import { formatDocument } from '../../src/index.js'

const format = (value: unknown) => formatDocument(BSON.serialize({ v: value })).slice('{ v: '.length, -' }'.length)

t.test('doubles have 16 digits and a point', (t) => {
  for (const [value, text] of [
    [3, '3.0'],
    [-0, '-0.0'],
    [0.1 + 0.2, '0.3'],
    [1e15, '1000000000000000.0'],
    [1e20, '1e+20.0'],
    [1.5e-7, '1.5e-07'],
    [Infinity, 'inf.0'],
    [-Infinity, '-inf.0'],
    [NaN, 'nan.0'],
  ] as const)
    t.equal(format(new Double(value)), text)
  t.equal(format(Long.fromString('9223372036854775807')), '9223372036854775807')
  t.end()
})

t.test('strings are printed as they are, long ones cut', (t) => {
  t.equal(format('say "no"\n'), '"say "no"\n"')
  t.equal(format('x'.repeat(159)), `"${'x'.repeat(159)}"`)
  t.equal(format('x'.repeat(160)), `"${'x'.repeat(150)}..."`)
  t.equal(format(new Code('y'.repeat(79))), 'y'.repeat(79))
  t.equal(format(new Code('y'.repeat(80))), `${'y'.repeat(70)}...`)
  t.equal(format(new Code('z()', { z: 'a' })), 'CodeWScope( z(), { z: "a" })')
  t.end()
})

t.test("UUIDs and other binary data are printed in the server's form", (t) => {
  t.equal(format(new UUID('01234567-89ab-4cde-8f01-23456789abcd')), 'UUID("01234567-89ab-4cde-8f01-23456789abcd")')
  t.equal(format(new Binary(Buffer.from('00ff', 'hex'))), 'BinData(0, 00FF)')
  t.equal(format(new Binary(Buffer.alloc(3), 4)), 'BinData(4, 000000)')
  t.equal(format(new Binary(Buffer.alloc(80))), `BinData(0, ${'00'.repeat(80)})`)
  t.equal(format(new Binary(Buffer.alloc(81))), `BinData(0, ${'00'.repeat(70)}...)`)
  const id = new ObjectId('0123456789abcdef01234567')
  t.equal(format(new DBRef('users', id)), `{ $ref: "users", $id: ObjectId('${String(id)}') }`)
  t.end()
})

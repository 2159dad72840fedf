/** A reader finds the end of every value that the server's KeyString may have. */
import fc from 'fast-check'
import t from 'tap'
import {
  Decimal128,
  Double,
  encode,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  ServerKeyReader,
  ServerKeyString,
} from '../src/index.js'

const decimals = fc
  .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 34n - 1n }), fc.integer({ min: -6176, max: 6111 }))
  .map(([negative, coefficient, exponent]) => Decimal128.fromString(`${negative ? '-' : ''}${coefficient}E${exponent}`))
const near = fc
  .tuple(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom('', '1', '0000000001'))
  .map(([value, digits]) => {
    const [mantissa, exponent] = value.toExponential(15).split('e') as [string, string]
    return Decimal128.fromString(`${mantissa}${digits}E${exponent}`)
  })
const values = fc.oneof(
  fc.integer(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => Long.fromBigInt(value)),
  fc.double().map((value) => new Double(value)),
  fc.double({ min: -4, max: 4 }).map((value) => new Double(value)),
  decimals,
  near,
  fc
    .constantFrom('Infinity', '-Infinity', 'NaN', '0', '9007199254740993.5', '36028797018963969.5')
    .map((text) => Decimal128.fromString(text)),
  fc.string(),
  fc.boolean(),
  fc.constantFrom(null, new MinKey(), new MaxKey(), new ObjectId('0123456789abcdef01234567'), new Date(5), /a\/b/i),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom([1, [2.5]], { a: { b: 1.5 }, c: 'x\0y' }),
)

t.test('a reader finds the end of every document', async (t) => {
  fc.assert(
    fc.property(fc.array(values, { minLength: 1, maxLength: 4 }), (list) => {
      const document = encode(Object.fromEntries(list.map((value, i) => [`f${i}`, value])))
      const key = new ServerKeyString().document(document).integer(7)
      const reader = new ServerKeyReader(Buffer.from(key.hex(), 'hex'))
      reader.skip()
      return reader.isInteger && reader.integer() === 7 && !reader.hasMore
    }),
    { numRuns: 3000 },
  )
  t.pass('each end was found')
})

import t from 'tap'
import fc from 'fast-check'
import {
  encode,
  FieldFinder,
  fieldsOf,
  Int32,
  ObjectId,
  Timestamp,
  type Document,
  type RawValue,
} from '../src/index.js'

const names = ['a', 'min', 'shard', 'missing']

/** Of repeated names the first counts. */
function expected(document: Uint8Array): (RawValue | undefined)[] {
  const fields = fieldsOf(document)
  return names.map((name) => fields.find(([each]) => each === name)?.[1])
}

function isRight(finder: FieldFinder, document: Uint8Array, begin = 0): boolean {
  const wanted = expected(document)
  const bytes = Buffer.concat([Buffer.alloc(begin, 7), document, Buffer.alloc(begin, 7)])
  const missing = finder.locate(bytes, begin)
  if (missing !== wanted.filter((value) => value === undefined).length) return false
  const found: (RawValue | undefined)[] = []
  if (finder.find(bytes, begin, found) !== missing) return false
  return wanted.every((value, i) => {
    const [own, bounds] = [finder.valueOf(i), [finder.typeOf(i), finder.startOf(i), finder.endOf(i)]]
    if (value === undefined) return own === undefined && found[i] === undefined && bounds.join() === '-1,-1,-1'
    return (
      [own, found[i]].every((each) => each?.bytes === bytes && each.isIdentical(value)) &&
      bounds.join() === [value.type, begin + value.start, begin + value.end].join()
    )
  })
}

/** Allows repeated names, which no encoder writes. */
function concatenated(parts: readonly Document[]): Uint8Array {
  const bodies = parts.map((part) => encode(part).subarray(4, -1))
  const bytes = Buffer.concat([Buffer.alloc(4), ...bodies, Buffer.alloc(1)])
  bytes.writeInt32LE(bytes.length, 0)
  return bytes
}

const value = fc.oneof(
  fc.integer({ max: 3, min: 0 }).map((n) => new Int32(n)),
  fc.constantFrom<unknown>(
    1.5,
    2.5,
    true,
    null,
    new Timestamp({ t: 1, i: 2 }),
    new ObjectId('0123456789abcdef01234567'),
  ),
  fc.constantFrom<unknown>('', 'x', 'y', 'longer', /a/, /b/i, /bc/, Buffer.from('x'), Buffer.from('yz')),
  fc.constantFrom<unknown>({}, { a: 1 }, { b: 2 }, { a: 'x' }, [], [1], ['a', 'b']),
)
const field = fc
  .tuple(fc.constantFrom('a', 'b', 'min', 'mi', 'max', 'shard', 'shar', 'shards'), value)
  .map(([name, each]) => ({ [name]: each }))

t.test('a finder gives the same results whatever documents it searched before', async () => {
  // Few distinct documents, each several times: many have the previous one's layout.
  const documents = fc.array(fc.array(field, { maxLength: 7 }), { minLength: 1, maxLength: 4 })
  const sequence = fc.tuple(
    documents,
    fc.array(fc.tuple(fc.nat(), fc.nat(), value, fc.nat(9)), { minLength: 4, maxLength: 30 }),
  )
  fc.assert(
    fc.property(sequence, ([kinds, lookups]) => {
      const finder = new FieldFinder(names)
      return lookups.every(([which, changed, other, begin]) => {
        const fields = kinds[which % kinds.length]!
        const at = changed % (2 * fields.length + 1)
        const document = concatenated(fields.map((each, i) => (i === at ? { [Object.keys(each)[0]!]: other } : each)))
        return isRight(finder, document, begin)
      })
    }),
    { numRuns: 2000 },
  )
})

t.test('a finder handles large documents and those with many fields', async (test) => {
  const finder = new FieldFinder(names)
  const large = { x: 'x'.repeat(100_000), a: 1 }
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`field${i}`, i]))
  for (const document of [
    large,
    large,
    large,
    many,
    many,
    many,
    { ...many, min: 1 },
    { ...many, min: 2 },
    { ...many, min: 3 },
  ])
    test.ok(isRight(finder, encode(document)))
})

t.test('a document that cannot be read leaves no memoized layout', async (test) => {
  const finder = new FieldFinder(names)
  const whole = encode({ x: 1, a: 2, min: 3 })
  const broken = Buffer.from(whole)
  broken[broken.indexOf('min') - 1] = 0x55
  for (let i = 0; i < 3; i++) test.throws(() => finder.locate(broken), /not a BSON type/)
  test.ok(isRight(finder, whole))
})

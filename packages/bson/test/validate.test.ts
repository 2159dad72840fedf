import t from 'tap'
import fc from 'fast-check'
import {
  BsonType,
  compareDocuments,
  defaultMaxDepth,
  documentValue,
  emptyDocument,
  encode,
  fieldsOf,
  hashValue,
  keyStringOfDocument,
  RawValue,
  validateBson,
  validationErrorCode,
} from '@shardlab/bson'
import { documentArbitrary } from './support/arbitrary.js'
import { documentBytes, type Model } from './support/model.js'
import { check } from './support/check.js'

const tooShort = 'BSON data has to be at least 5 bytes'
const outOfRange = 'BSON size is larger than buffer size'
const badLength = 'incorrect BSON length'
const noNul = 'Not null terminated string'

function one(type: number, ...value: number[]): Uint8Array {
  return new Uint8Array([value.length + 8, 0, 0, 0, type, 0x61, 0, ...value, 0])
}

function nest(levels: number): Uint8Array {
  let model: Model = { kind: 'int32', value: 1 }
  for (let i = 0; i < levels; i++)
    model = i % 2 === 0 ? { kind: 'array', elements: [model] } : { kind: 'object', fields: [['d', model]] }
  return documentBytes([['d', model]])
}

t.test('every document is valid, at any offset of an array', async () => {
  check(
    fc.property(documentArbitrary, fc.nat({ max: 5 }), (bytes, shift) => {
      const shifted = Buffer.concat([Buffer.alloc(shift, 1), bytes, Buffer.alloc(shift, 1)])
      return validateBson(bytes) === null && validateBson(shifted, shift, shift + bytes.length) === null
    }),
    3000,
  )
})

const mutation = fc.record({
  at: fc.nat(),
  byte: fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0, 1, 2, 5, 0x0f, 0x7f, 0x80, 0xff)),
  kind: fc.constantFrom('set', 'cut', 'add'),
})

t.test('validation never throws, and accepted documents can be read', async () => {
  let accepted = 0
  check(
    fc.property(
      documentArbitrary,
      fc.array(mutation, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      (document, mutations, fixLength) => {
        let bytes = Buffer.from(document)
        for (const { at, byte, kind } of mutations) {
          const place = at % bytes.length
          if (kind === 'set') bytes[place] = byte
          else if (kind === 'cut') bytes = Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + 1)])
          else bytes = Buffer.concat([bytes.subarray(0, place), Buffer.from([byte]), bytes.subarray(place)])
          if (bytes.length === 0) return validateBson(bytes) !== null
        }
        if (fixLength && bytes.length >= 4) bytes.writeInt32LE(bytes.length)
        const reason = validateBson(bytes)
        if (reason !== null) return validationErrorCode(reason) === 'InvalidBSON'
        accepted++
        readAll(bytes)
        hashValue(documentValue(bytes))
        return compareDocuments(bytes, Buffer.from(bytes)) === 0 && keyStringOfDocument(bytes).length >= 0
      },
    ),
    20000,
  )
  t.ok(accepted > 500, `${accepted} mutated documents were still valid`)
})

/** Throws if a value exceeds the bytes. */
function readAll(bytes: Uint8Array): void {
  for (const [, value] of fieldsOf(bytes)) {
    if (value.end >= bytes.length) throw new Error('a value leaves its document')
    if (value.type === BsonType.object || value.type === BsonType.array) readAll(value.slice())
  }
}

t.test('validation never throws on random bytes', async () => {
  check(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.boolean(), (bytes, plausible) => {
      if (plausible && bytes.length >= 5) {
        bytes.set([bytes.length, 0, 0, 0])
        bytes[bytes.length - 1] = 0
      }
      const reason = validateBson(bytes)
      if (reason === null) readAll(bytes)
      return reason === null || reason.includes(' in element with field name ')
    }),
    20000,
  )
})

t.test('validation reads no byte outside the range', async () => {
  check(
    fc.property(
      documentArbitrary,
      fc.nat(),
      fc.nat({ max: 255 }),
      fc.nat({ max: 255 }),
      (document, at, byte, outside) => {
        const inner = Buffer.from(document)
        inner[at % inner.length] = byte
        const framed = (fill: number): Buffer => Buffer.concat([Buffer.alloc(8, fill), inner, Buffer.alloc(40, fill)])
        const end = 8 + inner.length
        return (
          validateBson(framed(outside), 8, end) === validateBson(framed(0), 8, end) &&
          validateBson(framed(0), 8, end) === validateBson(inner)
        )
      },
    ),
    3000,
  )
})

t.test('the length and the terminator of a document are checked', async (t) => {
  t.equal(validateBson(emptyDocument), null)
  for (const bytes of [[], [5, 0, 0, 0], [4, 0, 0, 0, 0], [0xff, 0xff, 0xff, 0xff, 0]])
    t.match(validateBson(new Uint8Array(bytes)), tooShort)
  t.match(validateBson(new Uint8Array([6, 0, 0, 0, 0])), 'Incorrect BSON length')
  t.match(validateBson(new Uint8Array([5, 0, 0, 0, 0, 0])), 'Incorrect BSON length', 'nothing may follow')
  t.match(validateBson(new Uint8Array([5, 0, 0, 0, 1])), 'BSON object not terminated with EOO')
  t.match(validateBson(new Uint8Array([6, 0, 0, 0, 0, 0])), badLength, 'ends early')
  t.equal(validateBson(new Uint8Array([9, 9, 5, 0, 0, 0, 0, 9]), 2, 7), null)
})

t.test('values of each type are checked', async (t) => {
  const cases: readonly (readonly [what: string, bytes: Uint8Array, reason: string | null])[] = [
    ['false', one(0x08, 0), null],
    ['true', one(0x08, 1), null],
    ['bool 2', one(0x08, 2), 'BSON bool is neither false nor true'],
    ['bool without a byte', one(0x08), outOfRange],
    ['int32', one(0x10, 1, 0, 0, 0), null],
    ['int32 cut off', one(0x10, 1, 0, 0), outOfRange],
    ['double cut off', one(0x01, 1, 0, 0), outOfRange],
    ['string', one(0x02, 2, 0, 0, 0, 0x62, 0), null],
    ['string with a NUL inside', one(0x02, 3, 0, 0, 0, 0, 0x62, 0), null],
    ['string of broken UTF-8', one(0x02, 2, 0, 0, 0, 0xff, 0), null],
    ['empty string', one(0x02, 1, 0, 0, 0, 0), null],
    ['string of length 0', one(0x02, 0, 0, 0, 0), noNul],
    ['string of negative length', one(0x02, 0xff, 0xff, 0xff, 0xff, 0), outOfRange],
    ['string too long', one(0x02, 3, 0, 0, 0, 0x62, 0), outOfRange],
    ['string without NUL', one(0x02, 2, 0, 0, 0, 0x62, 0x62), noNul],
    ['code', one(0x0d, 1, 0, 0, 0, 0), null],
    ['symbol', one(0x0e, 1, 0, 0, 0, 0), null],
    ['binary', one(0x05, 1, 0, 0, 0, 0, 7), null],
    ['binary too long', one(0x05, 2, 0, 0, 0, 0, 7), outOfRange],
    ['binary of negative length', one(0x05, 0xff, 0xff, 0xff, 0xff, 0), outOfRange],
    ['old binary', one(0x05, 5, 0, 0, 0, 2, 1, 0, 0, 0, 7), null],
    ['old binary, inner length wrong', one(0x05, 5, 0, 0, 0, 2, 2, 0, 0, 0, 7), badLength],
    ['old binary without inner length', one(0x05, 1, 0, 0, 0, 2, 7), badLength],
    ['unknown subtype', one(0x05, 0, 0, 0, 0, 0x42), null],
    ['regex', one(0x0b, 0x62, 0, 0x69, 0), null],
    ['empty regex', one(0x0b, 0, 0), null],
    ['regex without flags', one(0x0b, 0x62, 0), outOfRange],
    ['regex without pattern', one(0x0b), outOfRange],
    ['dbPointer', one(0x0c, 1, 0, 0, 0, 0, ...new Array<number>(12).fill(3)), null],
    ['dbPointer cut off', one(0x0c, 1, 0, 0, 0, 0, ...new Array<number>(11).fill(3)), outOfRange],
    ['dbPointer without NUL', one(0x0c, 1, 0, 0, 0, 1, ...new Array<number>(12).fill(3)), noNul],
    ['minKey', one(0xff), null],
    ['maxKey', one(0x7f), null],
    ['undefined', one(0x06), null],
    ['unknown type', one(0x14), 'Unrecognized BSON type 20'],
    ['unknown high type', one(0x80), 'Unrecognized BSON type 128'],
    ['object', one(0x03, 5, 0, 0, 0, 0), null],
    ['object of 4 bytes', one(0x03, 4, 0, 0, 0, 0), 'Nested BSON object has to be at least 5 bytes'],
    ['object of negative size', one(0x03, 0xff, 0xff, 0xff, 0xff, 0), 'Nested BSON object has to be at least 5 bytes'],
    ['object too long', one(0x03, 6, 0, 0, 0, 0), badLength],
    ['object too long for all', one(0x04, 0xff, 0xff, 0xff, 0x7f, 0), badLength],
    ['object cut off', one(0x03, 5, 0, 0), outOfRange],
    ['object longer than what is in it', one(0x03, 6, 0, 0, 0, 0, 0), badLength],
    ['object ending where its parent should', one(0x03, 6, 0, 0, 0), badLength],
    ['code with scope', one(0x0f, 14, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0), null],
    ['code with scope, size wrong', one(0x0f, 15, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0), badLength],
    ['code with scope, scope wrong', one(0x0f, 14, 0, 0, 0, 1, 0, 0, 0, 0, 6, 0, 0, 0, 0), badLength],
    ['code with scope, code wrong', one(0x0f, 14, 0, 0, 0, 1, 0, 0, 0, 1, 5, 0, 0, 0, 0), noNul],
    ['code with scope, no scope', one(0x0f, 9, 0, 0, 0, 1, 0, 0, 0, 0), outOfRange],
    [
      'code with scope, small scope',
      one(0x0f, 14, 0, 0, 0, 1, 0, 0, 0, 0, 4, 0, 0, 0, 0),
      'Nested BSON object has to be at least 5 bytes',
    ],
    ['a name without end', new Uint8Array([7, 0, 0, 0, 0x0a, 0x61, 0]), outOfRange],
  ]
  for (const [what, bytes, reason] of cases)
    t.equal(validateBson(bytes), reason === null ? null : `${reason} in element with field name 'a'`, what)
})

t.test('the message has the path of the invalid field', async (t) => {
  const bytes = Buffer.from(encode({ x: 1, é: { b: [{ c: true }] } }))
  bytes[bytes.lastIndexOf(1)] = 9
  t.equal(validateBson(bytes), "BSON bool is neither false nor true in element with field name 'é.b.0.c'")
  t.equal(validateBson(new Uint8Array(2)), `${tooShort} in element with field name '?'`)
})

t.test('depth is limited, by default to 200 levels', async (t) => {
  t.equal(defaultMaxDepth, 200)
  t.equal(validateBson(nest(200)), null)
  const reason = validateBson(nest(201))!
  t.match(reason, 'BSONObj exceeds maximum nested object depth')
  t.equal(validationErrorCode(reason), 'Overflow')
  t.equal(validationErrorCode(validateBson(one(0x14))!), 'InvalidBSON')
  t.equal(validateBson(nest(900), 0, undefined, { maxDepth: 1000 }), null)
  t.match(validateBson(nest(3), 0, undefined, { maxDepth: 2 }), 'BSONObj exceeds')
  t.equal(validateBson(nest(200)), null, 'the default is unchanged')
  const scope = documentBytes([['c', { kind: 'codeWithScope', text: '', fields: [] }]])
  t.equal(validateBson(scope, 0, undefined, { maxDepth: 2 }), null, 'a code with scope counts twice')
  t.match(validateBson(scope, 0, undefined, { maxDepth: 1 }), 'BSONObj exceeds')
  t.match(validateBson(scope, 0, undefined, { maxDepth: 0 }), 'BSONObj exceeds')
})

t.test('values of a validated document can be read', async (t) => {
  const value = fieldsOf(one(0x02, 2, 0, 0, 0, 0x62, 0))[0]![1]
  t.type(value, RawValue)
  t.equal(value.asString(), 'b')
})

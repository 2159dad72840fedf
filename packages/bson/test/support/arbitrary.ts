/** The values are likely to be equal or adjacent. */
import fc from 'fast-check'
import { documentBytes, type Model } from './model.js'

const edges = [
  0n,
  1n,
  -1n,
  2n,
  127n,
  255n,
  256n,
  2n ** 31n - 1n,
  -(2n ** 31n),
  2n ** 53n,
  -(2n ** 53n),
  2n ** 62n,
  2n ** 63n - 1n,
  -(2n ** 63n),
  10n ** 18n,
]

const nearEdge = fc
  .tuple(fc.constantFrom(...edges), fc.integer({ min: -3, max: 3 }))
  .map(([edge, delta]) => BigInt.asIntN(64, edge + BigInt(delta)))

const int64 = fc.oneof(nearEdge, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))

const double = fc.oneof(
  fc.double(),
  nearEdge.map(Number),
  fc.constantFrom(
    0,
    -0,
    0.1,
    0.5,
    -0.5,
    1.5,
    2.5,
    Number.NaN,
    Infinity,
    -Infinity,
    Number.MIN_VALUE,
    -Number.MIN_VALUE,
    Number.MAX_VALUE,
    -Number.MAX_VALUE,
  ),
)

/** At most 34 digits. */
export const decimalText: fc.Arbitrary<string> = fc.oneof(
  int64.map(String),
  nearEdge.map((value) => `${value}.5`),
  fc.tuple(int64, fc.integer({ min: 0, max: 99 })).map(([value, part]) => `${value}.${part}`),
  double.filter(Number.isFinite).map(String),
  double
    .filter((value) => Number.isFinite(value) && Math.abs(value) < 1e20 && Math.abs(value) > 1e-3)
    .map((value) => value.toPrecision(21)),
  fc
    .tuple(fc.bigInt({ min: -(10n ** 34n) + 1n, max: 10n ** 34n - 1n }), fc.integer({ min: -6176, max: 6111 }))
    .map(([digits, exponent]) => `${digits}E${exponent}`),
  fc
    .tuple(
      fc.integer({ min: -12, max: 12 }),
      fc.constantFrom(-6176, -400, -324, -2, -1, 0, 1, 2, 307, 308, 309, 310, 6111),
    )
    .map(([digits, exponent]) => `${digits}E${exponent}`),
  fc.constantFrom(
    'NaN',
    'Infinity',
    '-Infinity',
    '0',
    '-0',
    '0E+10',
    '1.0',
    '1.00',
    '0.1',
    '0.10',
    '9007199254740993',
    '9223372036854775807.5',
    '1.7976931348623157E+308',
    '1.7976931348623158E+308',
    '4.9E-324',
    '1E+400',
    '-1E+400',
  ),
)

export const numberModel: fc.Arbitrary<Model> = fc.oneof(
  fc.oneof(fc.integer({ min: -5, max: 5 }), fc.integer()).map((value): Model => ({ kind: 'int32', value })),
  double.map((value): Model => ({ kind: 'double', value })),
  int64.map((value): Model => ({ kind: 'int64', value })),
  decimalText.map((text): Model => ({ kind: 'decimal128', text })),
)

const character = fc.constantFrom('a', 'b', '\0', '\u0001', '\u0002', 'é', '\uffff', '😀', 'z')
const text = fc.oneof(
  fc.array(character, { maxLength: 5 }).map((parts) => parts.join('')),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
)
const cstring = text.map((value) => value.replaceAll('\0', '0'))
const name = fc.oneof(fc.constantFrom('', 'a', 'b', 'ab', 'é', '_id'), cstring)
const twelve = fc.oneof(fc.constant(new Uint8Array(12)), fc.uint8Array({ minLength: 12, maxLength: 12 }))

const scalar: fc.Arbitrary<Model> = fc.oneof(
  { weight: 5, arbitrary: numberModel },
  fc.constantFrom<Model>(
    { kind: 'minKey' },
    { kind: 'maxKey' },
    { kind: 'null' },
    { kind: 'undefined' },
    { kind: 'bool', value: true },
    { kind: 'bool', value: false },
  ),
  fc.tuple(fc.constantFrom('string', 'symbol', 'code'), text).map(([kind, value]): Model => ({ kind, text: value })),
  fc.tuple(fc.constantFrom('date', 'int64'), int64).map(([kind, value]): Model => ({ kind, value })),
  int64.map((value): Model => ({ kind: 'timestamp', value: BigInt.asUintN(64, value) })),
  fc
    .tuple(fc.constantFrom(0, 2, 4, 5, 0x80, 0xff), fc.uint8Array({ maxLength: 30 }))
    .map(([subtype, bytes]): Model => ({ kind: 'binary', subtype, bytes })),
  twelve.map((bytes): Model => ({ kind: 'objectId', bytes })),
  fc
    .tuple(cstring, fc.constantFrom('', 'i', 'im'))
    .map(([pattern, flags]): Model => ({ kind: 'regex', pattern, flags })),
  fc.tuple(cstring, twelve).map(([ns, id]): Model => ({ kind: 'dbPointer', ns, id })),
)

const { value } = fc.letrec<{ value: Model; fields: [string, Model][] }>((tie) => ({
  fields: fc.array(fc.tuple(name, tie('value')), { maxLength: 3 }),
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 6, arbitrary: scalar },
    { weight: 2, arbitrary: tie('fields').map((fields): Model => ({ kind: 'object', fields })) },
    {
      weight: 2,
      arbitrary: fc.array(tie('value'), { maxLength: 3 }).map((elements): Model => ({ kind: 'array', elements })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(text, tie('fields'))
        .map(([code, fields]): Model => ({ kind: 'codeWithScope', text: code, fields })),
    },
  ),
}))

export const valueModel: fc.Arbitrary<Model> = value

/** Names may repeat. */
export const fieldModels: fc.Arbitrary<[string, Model][]> = fc.array(fc.tuple(name, value), { maxLength: 6 })

export const documentArbitrary: fc.Arbitrary<Buffer> = fieldModels.map(documentBytes)

export const valuePair: fc.Arbitrary<[Model, Model]> = fc.oneof(
  fc.tuple(value, value),
  fc.tuple(numberModel, numberModel),
  value.map((model): [Model, Model] => [model, model]),
  fc.tuple(fc.array(value, { maxLength: 2 }), value, value).map(([elements, a, b]): [Model, Model] => [
    { kind: 'array', elements: [...elements, a] },
    { kind: 'array', elements: [...elements, b] },
  ]),
  fc.tuple(numberModel, numberModel, name).map(([a, b, field]): [Model, Model] => [
    { kind: 'object', fields: [[field, a]] },
    { kind: 'object', fields: [[field, b]] },
  ]),
)

import { Binary, Decimal128, Long, ObjectId, UUID } from '@shardlab/bson'
import t, { type Test } from 'tap'
import { evaluate, failure, json } from '../support/helpers.js'

const decimal = (text: string) => Decimal128.fromString(text)
const long = (text: string) => Long.fromString(text)
const bytes = (hex: string, subtype = 0) => new Binary(Buffer.from(hex, 'hex'), subtype)

type Row = [expression: unknown, expected: unknown]
type Failure = [expression: unknown, code: number, message?: string]

function check(t: Test, rows: Row[], failures: Failure[]): void {
  for (const [expression, expected] of rows)
    t.equal(evaluate(expression), json({ v: expected }), JSON.stringify(expression))
  for (const [expression, code, message] of failures) {
    const error = failure(() => evaluate(expression))
    t.equal(error?.code ?? 0, code, JSON.stringify(expression))
    if (message !== undefined) t.equal(error?.message, message)
  }
  t.end()
}

const suffix = 'in $convert with no onError value'

t.test('values convert to numbers', (t) =>
  check(
    t,
    [
      [{ $toInt: '12' }, 12],
      [{ $toInt: 5.9 }, 5],
      [{ $toInt: -5.9 }, -5],
      [{ $toInt: decimal('7.9') }, 7],
      [{ $toInt: true }, 1],
      [{ $toInt: null }, null],
      [{ $toLong: 5.9 }, long('5')],
      [{ $toLong: new Date(7) }, long('7')],
      [{ $toLong: '9223372036854775807' }, long('9223372036854775807')],
      [{ $toDouble: '1.5e3' }, 1500],
      [{ $toDouble: '-.5' }, -0.5],
      [{ $toDecimal: '1E3' }, decimal('1E+3')],
      [{ $toDecimal: 0.1 }, decimal('0.100000000000000')],
      [{ $toBool: 0 }, false],
      [{ $toBool: '' }, true],
      [{ $toBool: Number.NaN }, true],
      [{ $convert: { input: 'x', to: 'int', onError: 'bad' } }, 'bad'],
      [{ $convert: { input: null, to: 'int', onNull: 'none' } }, 'none'],
      [{ $convert: { input: '7', to: 16 } }, 7],
      [{ $convert: { input: '7', to: null } }, null],
    ],
    [
      [{ $toInt: 'x' }, 241],
      [{ $toInt: '1.5' }, 241],
      [{ $toInt: ' 1' }, 241],
      [{ $toInt: 1e10 }, 241, `Conversion would overflow target type ${suffix}: 1e+10`],
      [{ $toInt: Number.NaN }, 241, `Attempt to convert NaN value to integer type ${suffix}`],
      [{ $toLong: Infinity }, 241, `Attempt to convert infinity value to integer type ${suffix}`],
      [{ $toInt: {} }, 241, `Unsupported conversion from object to int ${suffix}`],
      [{ $convert: { input: 1, to: 'nope' } }, 2, 'Unknown type name: nope'],
      [{ $convert: { input: 1, to: 1.5 } }, 9, "In $convert, numeric 'to' argument is not an integer"],
      [{ $convert: { input: 1 } }, 9, "Missing 'to' parameter to $convert"],
      [{ $convert: { input: 1, to: 'int', foo: 1 } }, 9, '$convert found an unknown argument: foo'],
    ],
  ),
)

t.test('text, dates and ids convert into each other', (t) =>
  check(
    t,
    [
      [{ $toString: 1.5 }, '1.5'],
      [{ $toString: 1e21 }, '1e+21'],
      [{ $toString: long('5') }, '5'],
      [{ $toString: decimal('1E+3') }, '1E+3'],
      [{ $toString: new Date(0) }, '1970-01-01T00:00:00.000Z'],
      [{ $toString: new ObjectId('0123456789abcdef01234567') }, '0123456789abcdef01234567'],
      [{ $toDate: long('5') }, new Date(5)],
      [{ $toDate: '2020-01-02' }, new Date(Date.UTC(2020, 0, 2))],
      [{ $toDate: new ObjectId('0000000a89abcdef01234567') }, new Date(10_000)],
      [{ $toObjectId: '0123456789abcdef01234567' }, new ObjectId('0123456789abcdef01234567')],
    ],
    [
      [{ $toDate: 5 }, 241, `Unsupported conversion from int to date ${suffix}`],
      [{ $toString: [[]] }, 241, `Unsupported conversion from array to string ${suffix}`],
      [
        { $toObjectId: '01' },
        241,
        `Failed to parse objectId '01' ${suffix}: Invalid string length for parsing to OID, expected 24 but found 2`,
      ],
    ],
  ),
)

t.test('text and binary data convert into each other', (t) =>
  check(
    t,
    [
      [{ $convert: { input: 'AQI=', to: 'binData', format: 'base64' } }, bytes('0102')],
      [{ $convert: { input: '0aff', to: { type: 'binData', subtype: 0 }, format: 'hex' } }, bytes('0aff')],
      [{ $convert: { input: 'é', to: 'binData', format: 'utf8' } }, bytes('c3a9')],
      [{ $convert: { input: bytes('0aff'), to: 'string', format: 'hex' } }, '0AFF'],
      [{ $convert: { input: bytes('fbff'), to: 'string', format: 'base64url' } }, '-_8'],
      [{ $toString: bytes('0102') }, 'AQI='],
      [{ $toUUID: '00112233-4455-6677-8899-aabbccddeeff' }, new UUID('00112233-4455-6677-8899-aabbccddeeff')],
      [{ $toString: new UUID('00112233-4455-6677-8899-aabbccddeeff') }, '00112233-4455-6677-8899-aabbccddeeff'],
    ],
    [
      [{ $convert: { input: 'x', to: 'binData' } }, 4341115],
      [
        { $convert: { input: 'x', to: 'binData', format: 'nope' } },
        4341125,
        "Invalid 'format' argument for $convert: nope",
      ],
      [{ $convert: { input: 'x', to: 'binData', format: 'hex' } }, 241],
      [{ $convert: { input: 'x', to: { type: 'binData', subtype: 9 }, format: 'hex' } }, 4341107],
      [{ $convert: { input: bytes('ff'), to: 'string', format: 'utf8' } }, 241],
    ],
  ),
)

t.test('bit operators work on ints and longs', (t) =>
  check(
    t,
    [
      [{ $bitAnd: [7, 12] }, 4],
      [{ $bitAnd: [] }, -1],
      [{ $bitOr: [1, long('4294967296')] }, long('4294967297')],
      [{ $bitXor: [5, 1] }, 4],
      [{ $bitXor: [5, null] }, null],
      [{ $bitNot: 5 }, -6],
      [{ $bitNot: long('0') }, long('-1')],
    ],
    [
      [{ $bitAnd: [1.5, 1] }, 14, '$bitAnd only supports int and long operands.'],
      [{ $bitNot: 1.5 }, 14],
      [{ $bitNot: 'x' }, 28765],
    ],
  ),
)

t.test('$round and $trunc keep the type of the number', (t) =>
  check(
    t,
    [
      [{ $round: 2.5 }, 2],
      [{ $round: [3.55, 1] }, 3.5],
      [{ $round: [1250, -2] }, 1200],
      [{ $round: [decimal('2.345'), 2] }, decimal('2.34')],
      [{ $trunc: [-7.89, 1] }, -7.8],
      [{ $trunc: [1299, -2] }, 1200],
    ],
    [
      [{ $round: ['x', 1] }, 51081],
      [{ $round: [1, 101] }, 51083],
    ],
  ),
)

t.test('dates far from the epoch have parts', (t) =>
  check(
    t,
    [
      [{ $year: { $toDate: long('-62167219200001') } }, -1],
      [{ $year: { $toDate: long('9223372036854775807') } }, 292_278_994],
      [
        { $dateToParts: { date: { $toDate: long('253402300800000') } } },
        { year: 10_000, month: 1, day: 1, hour: 0, minute: 0, second: 0, millisecond: 0 },
      ],
    ],
    [
      [{ $dateToString: { date: { $toDate: long('253402300800000') }, format: '%Y' } }, 18537],
      [{ $toString: { $toDate: long('-62167219200001') } }, 18537],
      [{ $dateAdd: { startDate: new Date(0), unit: 'year', amount: long('9223372036854775807') } }, 5976500],
      [
        { $dateSubtract: { startDate: new Date(0), unit: 'day', amount: long('-9223372036854775808') } },
        6045000,
        "invalid $dateSubtract 'amount' parameter value: -9223372036854775808",
      ],
    ],
  ),
)

import { createHash } from 'node:crypto'
import t from 'tap'
import fc from 'fast-check'
import {
  Binary,
  BSONRegExp,
  BsonType,
  Code,
  Decimal128,
  Double,
  hashedKeyValue,
  hashValue,
  Int32,
  int64Value,
  Long,
  maxKeyValue,
  minKeyValue,
  nullValue,
  ObjectId,
  RawValue,
  Timestamp,
  toRawValue,
  undefinedValue,
} from '@shardlab/bson'
import { check } from './support/check.js'
import { rawValue } from './support/model.js'

const oid = (hex: string): ObjectId => ObjectId.createFromHexString(hex)
const long = (value: bigint): Long => Long.fromBigInt(value)
const dbPointer = (ns: string): RawValue => rawValue({ kind: 'dbPointer', ns, id: oid('010203040506070809101112').id })
const decimal = (text: string): Decimal128 => Decimal128.fromString(text)
const bytes = new Uint8Array([0, 1, 2, 3, 4, 6])
const source = 'func f() { return 1; }'
const longMax = 2n ** 63n - 1n
const longMin = -(2n ** 63n)

/** The server's published vectors. */
const published: readonly (readonly [name: string, value: unknown, hash: bigint])[] = [
  ['42', 42, -944302157085130861n],
  ['42.123', 42.123, -944302157085130861n],
  ['long 42', long(42n), -944302157085130861n],
  ['0', 0, 4854801880128277513n],
  ['0.456', 0.456, 4854801880128277513n],
  ['long 0', long(0n), 4854801880128277513n],
  ['NaN', Number.NaN, 4854801880128277513n],
  ['1', 1, 5902408780260971510n],
  ['1.987', 1.987, 5902408780260971510n],
  ['long 1', long(1n), 5902408780260971510n],
  ['-1', -1, 1140205862565771219n],
  ['-1.789', -1.789, 1140205862565771219n],
  ['long -1', long(-1n), 1140205862565771219n],
  ['int min', new Int32(-2147483648), 6165898260261354870n],
  ['int min as a double', new Double(-2147483648), 6165898260261354870n],
  ['int min as a long', long(-2147483648n), 6165898260261354870n],
  ['int max', new Int32(2147483647), 1143184177162245883n],
  ['int max as a double', new Double(2147483647), 1143184177162245883n],
  ['int max as a long', long(2147483647n), 1143184177162245883n],
  ['double max', Number.MAX_VALUE, 921523596458303250n],
  ['long max', long(longMax), 921523596458303250n],
  ['-double max', -Number.MAX_VALUE, 4532067210535695462n],
  ['long min', long(longMin), 4532067210535695462n],
  ['MinKey', minKeyValue, 7961148599568647290n],
  ['MaxKey', maxKeyValue, 5504842513779440750n],
  ['undefined', undefinedValue, 40158834000849533n],
  ['null', nullValue, 2338878944348059895n],
  ['string abc', 'abc', 8478485326885698097n],
  ['symbol abc', rawValue({ kind: 'symbol', text: 'abc' }), 8478485326885698097n],
  ['empty string', '', 2049396243249673340n],
  ['object', { a: 'abc', b: long(123n) }, 4771603801758380216n],
  ['empty object', {}, 7980500913326740417n],
  ['array', ['bar', 'baz', 'qux'], -2938911267422831539n],
  ['empty array', [], 8849948234993459283n],
  ['BinData 0', new Binary(bytes, 0), 7252465090394235301n],
  ['BinData 0x80', new Binary(bytes, 0x80), 5736670452907618262n],
  [
    'UUID',
    new Binary(
      new Uint8Array(16).map((_, i) => i),
      4,
    ),
    6084661258071355978n,
  ],
  ['ObjectId', oid('010203040506070809101112'), -5588663249627035708n],
  ['zero ObjectId', oid('000000000000000000000000'), -4293118519463489418n],
  ['true', true, 6405873908747105701n],
  ['false', false, 6289544573401934092n],
  ['date', rawValue({ kind: 'date', value: 0x5566778811223344n }), 4476222765095560467n],
  ['date 0', new Date(0), -1178696894582842035n],
  ['/mongodb/', new BSONRegExp('mongodb', ''), -7275792090268217043n],
  ['/.*/i', new BSONRegExp('.*', 'i'), 7095855029187981886n],
  ['DBPointer c', dbPointer('c'), 940175826736461384n],
  ['DBPointer db.c', dbPointer('db.c'), 2426768198104018194n],
  ['code', new Code(source), 6861638109178014270n],
  ['code with scope', new Code(source, { c: true }), 501342939894575968n],
  ['string to hash', 'string to hash', 763543691661428748n],
]

/** Derived from the rules, not published. */
const integers: Readonly<Record<string, bigint>> = {
  '-5': -1180238566395260968n,
  '-4': 4591527561242418471n,
  '-3': -8041831605014284334n,
  '-2': 4563317049361071164n,
  '2': 848411777775835583n,
  '3': -1529429926180645992n,
  '4': 2433984061343616404n,
  '5': 4470791281878691347n,
  '6': -6504342592125989714n,
  '7': 9174449368162552349n,
  '8': -6200100076853976706n,
  '9': 6497670140411665948n,
  '10': 7766103514953448109n,
  '11': -1949123555808602880n,
  '12': -6563062838750079931n,
  '13': 6709702305674857145n,
  '14': 9137023093463105281n,
  '15': 6704049549995522780n,
  '16': 2598032665634823220n,
  '17': 4011626954390794605n,
  '18': 8070303164487751293n,
  '19': 6295554221763377652n,
  '20': -9117533237618642180n,
  '25': 2980532672027036723n,
  '50': -583041312879390487n,
  '99': -2485167817050719729n,
  '100': -5582987830488433087n,
  '101': 6943137842291551896n,
  '255': -5097089895424519757n,
  '256': -8280334573662799824n,
  '500': -6468543218000499065n,
  '999': 4463787602598612860n,
  '1000': -738538609052670267n,
  '-1000': 2918046451596648226n,
  '1024': -4067103364366326051n,
  '12345': 7147702579911805439n,
  '65535': 4896790770922209505n,
  '100000': 245924632607693207n,
  '1000000': -8044928910026924891n,
  '2147483648': -6026746251351052787n,
  '4294967296': 890332835440824946n,
  '9007199254740992': -4751030678854255901n,
  '9007199254740993': -4223421864049415010n,
  '-9007199254740992': -8469692560783824077n,
  '1000000000000000': -2549126399325679739n,
}

const derived: readonly (readonly [name: string, value: unknown, hash: bigint])[] = [
  ['"a"', 'a', 2780795045148116090n],
  ['"b"', 'b', 6130180874346621772n],
  ['"A"', 'A', 4844408278384379390n],
  ['"x"', 'x', -5169800095944007213n],
  ['"hello"', 'hello', 5347277839332858538n],
  ['"user1"', 'user1', 801843209332933044n],
  ['"MongoDB"', 'MongoDB', 3901366922189685775n],
  ['"é"', 'é', -590412542577746911n],
  ['"0"', '0', -6287833449475019890n],
  ['"1"', '1', -2448670538483119681n],
  ['ObjectId 5b2b…', oid('5b2be413c06d924ab26ff9ca'), 2523394966799057167n],
  ['ObjectId ff…', oid('ffffffffffffffffffffffff'), 5619280371875468158n],
  ['ObjectId 507f…', oid('507f1f77bcf86cd799439011'), -3048436677993134862n],
  ['2020-01-01', new Date(1577836800000), -8439725397068880569n],
  ['date -1', new Date(-1), -9185066864950842249n],
  ['date 1', new Date(1), 685392410689336518n],
  ['Timestamp(0, 0)', new Timestamp({ t: 0, i: 0 }), -7867208682377458672n],
  ['Timestamp(1, 1)', new Timestamp({ t: 1, i: 1 }), -6987875950432885062n],
  ['Timestamp', new Timestamp({ t: 0x55667788, i: 0x11223344 }), 4873046866288452390n],
  ['empty BinData', new Binary(new Uint8Array(0), 0), -6439747103366268393n],
  ['zero UUID', new Binary(new Uint8Array(16), 4), -1443812042184057017n],
  ['{a: 1}', { a: 1 }, -8705610352600103477n],
  ['{a: 1, b: 2}', { a: 1, b: 2 }, -7728811426608343164n],
  ['{b: 2, a: 1}', { b: 2, a: 1 }, 7382093831737844346n],
  ['{a: {b: 1}}', { a: { b: 1 } }, -2085206356559573680n],
  ['{a: null}', { a: null }, -1646200106475511666n],
  ['[1, 2, 3]', [1, 2, 3], -4811498115712073727n],
]

const hash = (value: unknown): bigint => hashValue(value instanceof RawValue ? value : toRawValue(value))

t.test("hashes match the server's published vectors", async (t) => {
  for (const [name, value, expected] of published) t.equal(hash(value), expected, name)
})

t.test('an integer has the same hash as long, double and decimal', async (t) => {
  for (const [text, expected] of Object.entries(integers)) {
    t.equal(hash(long(BigInt(text))), expected, text)
    t.equal(hash(decimal(text)), expected, `decimal ${text}`)
    if (Number.isSafeInteger(Number(text))) t.equal(hash(new Double(Number(text))), expected, `double ${text}`)
  }
})

t.test('hashes match the other derived vectors', async (t) => {
  for (const [name, value, expected] of derived) t.equal(hash(value), expected, name)
})

t.test('numbers outside the int64 range and fractions are converted as the server does', async (t) => {
  const longHash = (value: bigint): bigint => hash(long(value))
  for (const value of [2.2, 2.3, 2.9]) t.equal(hash(value), longHash(2n))
  t.equal(hash(-0.5), longHash(0n))
  t.equal(hash(new Double(-0)), longHash(0n))
  t.equal(hash(2 ** 63), longHash(longMin), 'two to the 63rd wraps')
  t.equal(hash(2 ** 64), longHash(longMax))
  t.equal(hash(Infinity), longHash(longMax))
  t.equal(hash(-Infinity), longHash(longMin))
  for (const [text, value] of [
    ['2.5', 2n],
    ['3.5', 4n],
    ['2.9', 3n],
    ['-2.5', -2n],
    ['-3.5', -4n],
    ['0.5', 0n],
    ['0.50000001', 1n],
    ['1E-6176', 0n],
    ['2.50E0', 2n],
    ['25E-1', 2n],
    ['NaN', 0n],
    ['Infinity', longMax],
    ['-Infinity', longMin],
    ['9223372036854775807.5', longMax],
    ['9223372036854775808', longMax],
    ['-9223372036854775809', longMin],
    ['1E+6000', longMax],
    ['-1E+6000', longMin],
    ['0E+6000', 0n],
    ['9999999999999999999999999999999999E-34', 1n],
  ] as const) {
    t.equal(hash(decimal(text)), longHash(value), `decimal ${text}`)
  }
})

t.test('types, structure and names change a hash, number types do not', async (t) => {
  t.not(hash(new BSONRegExp('3', '')), hash('3'))
  t.not(hash({ 0: 0, 1: 1 }), hash([0, 1]))
  t.not(hash({ a: {}, b: 1 }), hash({ a: { b: 1 } }))
  t.not(hash(minKeyValue), hash(maxKeyValue))
  t.equal(hash({ a: 3, b: [3.1, { c: 3 }] }), hash({ a: 3.1, b: [3, { c: new Double(3) }] }))
  t.equal(hashValue(undefined), hash(null), 'missing is null')
})

t.test('numbers with the same integer part have equal hashes, others differ', async () => {
  check(
    fc.property(fc.integer(), fc.integer(), fc.integer({ min: 0, max: 9 }), (value, other, tenth) => {
      // The fraction moves the number away from zero: truncation must give the same integer.
      const expected = hash(new Int32(value))
      return (
        hash(new Double(Number(`${value}.${tenth}`))) === expected &&
        hash(long(BigInt(value))) === expected &&
        hash(decimal(`${value}.${tenth % 5}`)) === expected &&
        (value === other || hash(other) !== expected)
      )
    }),
  )
})

t.test('hashedKeyValue is the hash as an int64', async (t) => {
  const value = hashedKeyValue(toRawValue(42))
  t.equal(value.type, BsonType.int64)
  t.equal(value.asBigInt(), -944302157085130861n)
  t.equal(value.end - value.start, 8)
  hashedKeyValue(toRawValue(43))
  t.equal(value.asBigInt(), -944302157085130861n, 'the next hash does not overwrite it')
  t.equal(hashedKeyValue(int64Value(42n)).asBigInt(), value.asBigInt())
})

t.test('a value larger than the buffer can be hashed', async (t) => {
  t.not(hash('x'.repeat(100_000)), hash('x'.repeat(100_001)))
  t.equal(hash([['x'.repeat(5000)], 42]), hash([['x'.repeat(5000)], 42.5]))
})

t.test('strings of lengths around an MD5 block have the hash of MD5', (t) => {
  for (let length = 0; length <= 140; length++) {
    const value = toRawValue('é'.repeat(length >> 1) + 'x'.repeat(length & 1))
    // Seed 0, then the canonical type of strings.
    const message = Buffer.concat([
      Buffer.alloc(4),
      Buffer.from([15, 0, 0, 0]),
      value.bytes.subarray(value.start, value.end),
    ])
    t.equal(hashValue(value), createHash('md5').update(message).digest().readBigInt64LE(0), `${message.length} bytes`)
  }
  t.end()
})

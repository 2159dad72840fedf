/**
 * Each generator computes the value while it builds the expression, over tagged numbers, plain
 * strings, arrays and dates, without the real evaluator.
 */
import { Decimal128, Double, Int32, Long } from '@shardlab/bson'
import fc from 'fast-check'

export type Number_ =
  | { readonly type: 'int' | 'long'; readonly value: bigint }
  | { readonly type: 'double'; readonly value: number }
  /** In units of 10^-20. */
  | { readonly type: 'decimal'; readonly value: bigint }
  | { readonly type: 'null' }
  | { readonly type: 'refused' }

export interface Folded<Value> {
  readonly expression: unknown
  readonly value: Value
}

const unit = 10n ** 20n
const none: Number_ = { type: 'null' }
const refused: Number_ = { type: 'refused' }
const fits = (bits: number, value: bigint) => BigInt.asIntN(bits, value) === value
const asDouble = (number: Exclude<Number_, { type: 'null' | 'refused' }>) =>
  number.type === 'decimal' ? Number(number.value) / Number(unit) : Number(number.value)
const asDecimal = (number: Exclude<Number_, { type: 'null' | 'refused' }>) =>
  number.type === 'decimal'
    ? number.value
    : number.type === 'double'
      ? BigInt(number.value * 4) * (unit / 4n)
      : number.value * unit

const integer = (type: 'int' | 'long', value: bigint): Folded<Number_> => ({
  expression: type === 'int' ? new Int32(Number(value)) : Long.fromBigInt(value),
  value: { type, value },
})
const int = fc
  .oneof(fc.integer({ min: -9, max: 9 }), fc.constantFrom(2 ** 31 - 1, -(2 ** 31), 65536))
  .map((value) => integer('int', BigInt(value)))
const long = fc
  .oneof(
    fc.bigInt({ min: -9n, max: 9n }),
    fc.constantFrom(2n ** 31n, 2n ** 53n + 1n, 2n ** 62n, 2n ** 63n - 1n, -(2n ** 63n)),
  )
  .map((value) => integer('long', value))
const double = fc.integer({ min: -400, max: 400 }).map((quarters): Folded<Number_> => ({
  expression: new Double(quarters / 4),
  value: { type: 'double', value: quarters / 4 },
}))
const decimal = fc.integer({ min: -9999, max: 9999 }).map((cents): Folded<Number_> => ({
  expression: Decimal128.fromString((cents / 100).toFixed(2)),
  value: { type: 'decimal', value: (BigInt(cents) * unit) / 100n },
}))
const nothing = fc.constantFrom<Folded<Number_>>(
  { expression: null, value: none },
  { expression: '$missing', value: none },
)

function integral(types: readonly string[], value: bigint, otherwise: () => number): Number_ {
  if (types.every((type) => type === 'int') && fits(32, value)) return { type: 'int', value }
  return fits(64, value) ? { type: 'long', value } : { type: 'double', value: otherwise() }
}

function combine(operator: string, a: Number_, b: Number_): Number_ {
  if (a.type === 'refused' || b.type === 'refused') return refused
  if (a.type === 'null' || b.type === 'null') return none
  if (operator === '$divide') {
    if (asDouble(b) === 0) return refused
    return { type: 'double', value: asDouble(a) / asDouble(b) }
  }
  if (operator === '$mod' && asDouble(b) === 0) return refused
  if (a.type === 'decimal' || b.type === 'decimal') {
    const [x, y] = [asDecimal(a), asDecimal(b)]
    return {
      type: 'decimal',
      value:
        operator === '$add' ? x + y : operator === '$subtract' ? x - y : operator === '$mod' ? x % y : (x * y) / unit,
    }
  }
  const [x, y] = [Number(a.value), Number(b.value)]
  if (a.type === 'double' || b.type === 'double') {
    return {
      type: 'double',
      value: operator === '$add' ? x + y : operator === '$subtract' ? x - y : operator === '$mod' ? x % y : x * y,
    }
  }
  const types = [a.type, b.type]
  if (operator === '$add') return integral(types, a.value + b.value, () => x + y)
  if (operator === '$subtract') return integral(types, a.value - b.value, () => x - y)
  if (operator === '$multiply') return integral(types, a.value * b.value, () => x * y)
  return { type: types.includes('long') ? 'long' : 'int', value: a.value % b.value }
}

const binary = (left: fc.Arbitrary<Folded<Number_>>, right: fc.Arbitrary<Folded<Number_>>, ...operators: string[]) =>
  fc.tuple(fc.constantFrom(...operators), left, right).map(([operator, a, b]): Folded<Number_> => ({
    expression: { [operator]: [a.expression, b.expression] },
    value: combine(operator, a.value, b.value),
  }))

const unary = (operand: fc.Arbitrary<Folded<Number_>>) =>
  fc
    .tuple(fc.constantFrom('$abs', '$floor', '$ceil', '$trunc'), operand)
    .map(([operator, { expression, value }]): Folded<Number_> => {
      const wrapped = { [operator]: expression }
      if (value.type === 'null' || value.type === 'refused' || value.type === 'decimal')
        return { expression: wrapped, value }
      if (value.type === 'double') {
        const round = { $abs: Math.abs, $floor: Math.floor, $ceil: Math.ceil, $trunc: Math.trunc }[operator]!
        // The server rounds through a decimal of 34 digits.
        const tooLong = operator === '$trunc' && Math.abs(value.value) >= 1e34
        return { expression: wrapped, value: { type: 'double', value: tooLong ? NaN : round(value.value) } }
      }
      if (operator !== '$abs' || value.value >= 0n) return { expression: wrapped, value }
      return {
        expression: wrapped,
        value: fits(64, -value.value) ? integral([value.type], -value.value, () => 0) : refused,
      }
    })

const leaf = fc.oneof(
  { weight: 5, arbitrary: int },
  { weight: 4, arbitrary: long },
  { weight: 4, arbitrary: double },
  nothing,
)
const inner = fc.oneof(
  { weight: 3, arbitrary: leaf },
  binary(fc.oneof(int, long), fc.oneof(int, long), '$add', '$subtract', '$multiply', '$mod'),
  binary(double, int, '$add', '$subtract', '$multiply'),
)

/** Decimals are combined with leaves only, so that their digits suffice. */
export const arithmetic: fc.Arbitrary<Folded<Number_>> = fc.oneof(
  binary(inner, inner, '$add', '$subtract', '$multiply'),
  binary(inner, leaf, '$mod'),
  binary(fc.oneof(int, double), fc.oneof(int, double), '$divide'),
  binary(decimal, fc.oneof(int, long, double, decimal, nothing), '$add', '$subtract'),
  binary(decimal, fc.oneof(int, decimal), '$multiply'),
  unary(inner),
)

const text = fc
  .array(fc.constantFrom('a', 'b', 'B', '-', 'é', '\u{1f600}'), { maxLength: 6 })
  .map((letters) => letters.join(''))
const piece = fc.constantFrom('a', 'b', '-', 'ab', '\u{1f600}')
const points = (string: string) => [...string]
const list = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 6 })
const day = 86_400_000
const date = fc
  .integer({ min: -20_000, max: 60_000 })
  .chain((days) => fc.nat(day - 1).map((ms) => new Date(days * day + ms)))

export const functions: fc.Arbitrary<Folded<unknown>> = fc.oneof(
  fc.tuple(text, piece).map(([s, by]) => ({ expression: { $split: [s, by] }, value: s.split(by) })),
  fc.tuple(text, fc.nat(4), fc.nat(4)).map(([s, from, count]) => ({
    expression: { $substrCP: [s, from, count] },
    value: points(s)
      .slice(from, from + count)
      .join(''),
  })),
  text.map((s) => ({ expression: { $strLenBytes: s }, value: Buffer.byteLength(s) })),
  text.map((s) => ({ expression: { $strLenCP: s }, value: points(s).length })),
  fc.tuple(text, piece).map(([s, find]) => {
    const at = s.indexOf(find)
    return { expression: { $indexOfCP: [s, find] }, value: at < 0 ? -1 : points(s.slice(0, at)).length }
  }),
  fc
    .tuple(text, piece)
    .map(([s, find]) => ({ expression: { $indexOfBytes: [s, find] }, value: Buffer.from(s).indexOf(find) })),
  fc.tuple(text, piece, text).map(([input, find, replacement]) => ({
    expression: { $replaceOne: { input, find, replacement } },
    value:
      input.split(find).length === 1
        ? input
        : input.slice(0, input.indexOf(find)) + replacement + input.slice(input.indexOf(find) + find.length),
  })),
  fc.tuple(text, fc.constantFrom('a', 'ab', '-\u{1f600}')).map(([input, chars]) => {
    const letters = points(input)
    while (letters.length > 0 && chars.includes(letters[0]!)) letters.shift()
    return { expression: { $ltrim: { input, chars } }, value: letters.join('') }
  }),
  fc.tuple(list, fc.integer({ min: -7, max: 7 })).map(([array, at]) => ({
    expression: { $ifNull: [{ $arrayElemAt: [array, at] }, 'none'] },
    value: array.at(at) ?? 'none',
  })),
  fc.tuple(list, fc.integer({ min: -7, max: 7 }), fc.integer({ min: 1, max: 4 })).map(([array, from, count]) => {
    const start = from < 0 ? Math.max(0, array.length + from) : from
    return { expression: { $slice: [array, from, count] }, value: array.slice(start, start + count) }
  }),
  fc
    .tuple(list, fc.nat(5), fc.nat(3))
    .map(([array, of, from]) => ({ expression: { $indexOfArray: [array, of, from] }, value: array.indexOf(of, from) })),
  fc
    .tuple(fc.integer({ min: -5, max: 5 }), fc.integer({ min: -5, max: 5 }), fc.constantFrom(-3, -2, -1, 1, 2))
    .map(([from, to, step]) => {
      const value: number[] = []
      for (let i = from; step > 0 ? i < to : i > to; i += step) value.push(i)
      return { expression: { $range: [from, to, step] }, value }
    }),
  fc.tuple(list, list).map(([a, b]) => ({
    expression: { $zip: { inputs: [a, b], useLongestLength: true, defaults: [-1, -2] } },
    value: Array.from({ length: Math.max(a.length, b.length) }, (_, i) => [a[i] ?? -1, b[i] ?? -2]),
  })),
  fc.tuple(list, list).map(([a, b]) => ({
    expression: { $sortArray: { input: { $setDifference: [a, b] }, sortBy: 1 } },
    value: [...new Set(a.filter((each) => !b.includes(each)))].sort((x, y) => x - y),
  })),
  fc.tuple(list, fc.nat(5)).map(([input, than]) => ({
    expression: {
      $reduce: {
        input,
        initialValue: 0,
        in: { $cond: [{ $gt: ['$$this', than] }, { $add: ['$$value', '$$this'] }, '$$value'] },
      },
    },
    value: input.filter((each) => each > than).reduce((sum, each) => sum + each, 0),
  })),
  date.map((d) => ({
    expression: ['$year', '$month', '$dayOfMonth', '$hour', '$minute', '$second', '$millisecond', '$dayOfWeek'].map(
      (part) => ({
        [part]: d,
      }),
    ),
    value: [
      d.getUTCFullYear(),
      d.getUTCMonth() + 1,
      d.getUTCDate(),
      d.getUTCHours(),
      d.getUTCMinutes(),
      d.getUTCSeconds(),
      d.getUTCMilliseconds(),
      d.getUTCDay() + 1,
    ],
  })),
  date.map((d) => ({
    expression: { $dayOfYear: d },
    value: Math.floor((d.getTime() - Date.UTC(d.getUTCFullYear(), 0, 1)) / day) + 1,
  })),
  fc
    .tuple(date, fc.constantFrom('second', 'minute', 'hour', 'day', 'week'), fc.integer({ min: -50, max: 50 }))
    .map(([startDate, part, amount]) => ({
      expression: { $dateAdd: { startDate, unit: part, amount } },
      value: new Date(
        startDate.getTime() + amount * { second: 1000, minute: 60_000, hour: 3_600_000, day, week: 7 * day }[part]!,
      ),
    })),
  fc.tuple(date, fc.integer({ min: -30, max: 30 })).map(([startDate, amount]) => {
    const first = new Date(startDate)
    first.setUTCDate(1)
    first.setUTCMonth(first.getUTCMonth() + amount)
    const lastDay = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate()
    first.setUTCDate(Math.min(startDate.getUTCDate(), lastDay))
    return { expression: { $dateAdd: { startDate, unit: 'month', amount } }, value: first }
  }),
  fc.tuple(date, date, fc.constantFrom('hour', 'day')).map(([startDate, endDate, part]) => {
    const size = part === 'hour' ? 3_600_000 : day
    return {
      expression: { $dateDiff: { startDate, endDate, unit: part } },
      value: Math.floor(endDate.getTime() / size) - Math.floor(startDate.getTime() / size),
    }
  }),
  fc.tuple(date, fc.constantFrom('hour', 'day')).map(([d, part]) => {
    const size = part === 'hour' ? 3_600_000 : day
    return {
      expression: { $dateTrunc: { date: d, unit: part } },
      value: new Date(Math.floor(d.getTime() / size) * size),
    }
  }),
  date.map((d) => ({
    expression: { $dateToString: { date: d, format: '%Y-%m-%dT%H:%M:%S.%LZ' } },
    value: d.toISOString(),
  })),
)

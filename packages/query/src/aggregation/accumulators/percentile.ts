/**
 * The result is the smallest value such that at least the fraction `p` of the values is not above
 * it. Server: `accumulator_percentile.cpp`, `DiscretePercentile`.
 */
import {
  BsonType,
  CommandError,
  DocumentWriter,
  documentValue,
  doubleValue,
  elementsOf,
  FieldIterator,
  findField,
  nullValue,
  readInt32,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { toNumber } from '../../values/arithmetic.js'
import { arrayValue } from '../../values/build.js'
import { formatField, formatValue } from '../../values/format.js'
import type { Accumulator, AccumulatorOperator } from './accumulator.js'

/** Null: the median, whose result is one value and not an array. */
type Fractions = readonly number[] | null

/** @param sorted ascending, NaN first; empty: the result is null */
function atFraction(sorted: ArrayLike<number>, fraction: number): RawValue {
  if (sorted.length === 0) return nullValue
  return doubleValue(sorted[Math.max(0, Math.min(sorted.length, Math.ceil(sorted.length * fraction)) - 1)]!)
}

const ascending = (a: number, b: number) => (a < b ? -1 : a > b ? 1 : Number(Number.isNaN(b)) - Number(Number.isNaN(a)))

export function percentilesOf(numbers: Iterable<number>, fractions: Fractions): RawValue {
  const sorted = [...numbers].sort(ascending)
  return fractions === null
    ? atFraction(sorted, 0.5)
    : arrayValue(fractions.map((fraction) => atFraction(sorted, fraction)))
}

function percentile(fractions: Fractions): Accumulator {
  let wanted = fractions
  let numbers = new Float64Array(16)
  let count = 0
  const push = (number: number) => {
    if (count === numbers.length) {
      const grown = new Float64Array(count * 2)
      grown.set(numbers)
      numbers = grown
    }
    numbers[count++] = number
  }
  return {
    add(value) {
      if (value?.isNumber()) push(toNumber(value))
    },
    merge(partial) {
      const p = findField(partial.bytes, 'p', partial.start)!
      wanted = p.type === BsonType.null ? null : elementsOf(p).map((fraction) => fraction.asNumber())
      const data = findField(partial.bytes, 'values', partial.start)!
      const length = readInt32(data.bytes, data.start)
      const view = new DataView(data.bytes.buffer, data.bytes.byteOffset + data.start + 5, length)
      for (let at = 0; at < length; at += 8) push(view.getFloat64(at, true))
    },
    partial() {
      const bytes = new Uint8Array(count * 8)
      const view = new DataView(bytes.buffer)
      for (let i = 0; i < count; i++) view.setFloat64(i * 8, numbers[i]!, true)
      const writer = new DocumentWriter(bytes.length + 64)
      if (wanted === null) writer.null('p')
      else writer.value('p', arrayValue(wanted.map(doubleValue)))
      return documentValue(writer.binary('values', 0, bytes).finish())
    },
    result: () => percentilesOf(numbers.subarray(0, count), wanted),
  }
}

export interface PercentileArgument {
  readonly input: RawValue
  readonly p: RawValue | null
}

/**
 * `{input, method}` of $median or `{input, p, method}` of $percentile.
 * @throws CommandError 40414, 40415, 14, 2 and `notObject`
 */
export function percentileArgument(name: string, argument: RawValue, notObject: number): PercentileArgument {
  if (argument.type !== BsonType.object)
    throw new CommandError(notObject, `specification must be an object; found ${formatField(name, argument)}`)
  const known = name === '$percentile' ? ['input', 'p', 'method'] : ['input', 'method']
  const given = new Map<string, RawValue>()
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    if (!known.includes(it.name()))
      throw new CommandError(40415, `BSON field '${name}.${it.name()}' is an unknown field.`)
    given.set(it.name(), it.value())
  }
  for (const field of known)
    if (!given.has(field))
      throw new CommandError(40414, `BSON field '${name}.${field}' is missing but a required field`)
  const method = given.get('method')!
  if (method.type !== BsonType.string)
    throw new CommandError(
      'TypeMismatch',
      `BSON field '${name}.method' is the wrong type '${typeName(method.type)}', expected type 'string'`,
    )
  if (method.asString() !== 'approximate')
    throw new CommandError('BadValue', "Currently only 'approximate' can be used as percentile 'method'.")
  return { input: given.get('input')!, p: given.get('p') ?? null }
}

/** @throws CommandError 7750300 to 7750303 unless `p` is a constant with valid fractions */
export function fractionsOf(p: RawValue | undefined, given: RawValue): number[] {
  const complain = (code: number, value: RawValue | undefined) =>
    new CommandError(
      code,
      `The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: ${formatValue(value ?? given)}`,
    )
  if (p?.type !== BsonType.array || elementsOf(p).length === 0) throw complain(7750301, p)
  return elementsOf(p).map((fraction) => {
    if (!fraction.isNumber()) throw complain(7750302, fraction)
    const number = toNumber(fraction)
    if (number < 0 || number > 1) throw complain(7750303, fraction)
    return number
  })
}

export const percentileAccumulators: readonly AccumulatorOperator[] = [
  {
    name: '$median',
    manualPage: 'aggregation/median',
    status: 'partial',
    deviations: ['D101'],
    create: () => percentile(null),
    evaluatedOf: (argument) => percentileArgument('$median', argument, 7436100).input,
  },
  {
    name: '$percentile',
    manualPage: 'aggregation/percentile',
    status: 'partial',
    deviations: ['D101'],
    create: (_values, _strings, setting) =>
      percentile(setting?.n === undefined ? [] : fractionsOf(setting.n, setting.n)),
    evaluatedOf: (argument) => percentileArgument('$percentile', argument, 7429703).input,
    countOf(argument) {
      return percentileArgument('$percentile', argument, 7429703).p ?? undefined
    },
  },
]

/** Server: `window_bounds.cpp`, `partition_iterator.cpp`. */
import {
  BsonType,
  CommandError,
  compareValues,
  elementsOf,
  FieldIterator,
  int32Value,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { addNumbers, exactInteger } from '../../values/arithmetic.js'
import { dateValue } from '../../values/build.js'
import { addUnits, timeUnit, type TimeUnit } from '../../values/dates/units.js'
import { toDecimal } from '../../values/decimals/decimal.js'
import { formatField, formatValue } from '../../values/format.js'
import { utc } from '../../values/dates/time-zone.js'
import { compileExpression } from '../expressions/compile.js'
import {
  checkOthers,
  failedToParse,
  type Partition,
  type WindowContext,
  type WindowSpecification,
} from './window-function.js'

type Bound<Offset> = 'unbounded' | 'current' | Offset

export interface DocumentBounds {
  readonly kind: 'documents'
  readonly lower: Bound<number>
  readonly upper: Bound<number>
}

export interface RangeBounds {
  readonly kind: 'range'
  readonly lower: Bound<RawValue>
  readonly upper: Bound<RawValue>
  /** Null: the range is of numbers, not dates. */
  readonly unit: TimeUnit | null
}

export type WindowBounds = DocumentBounds | RangeBounds

/** @param unexpected the error message about a field besides the function and its window */
export function boundsOf(
  specification: WindowSpecification,
  context: WindowContext,
  unexpected: (field: string) => string,
): WindowBounds {
  checkOthers(specification, unexpected)
  return specification.window === null ? everything : parseWindow(specification.window, context)
}

const everything: WindowBounds = { kind: 'documents', lower: 'unbounded', upper: 'unbounded' }

/** @throws CommandError FailedToParse (9), 5339900 to 5339902, 8947400, 8947401 */
function parseWindow(window: RawValue, context: WindowContext): WindowBounds {
  if (window.type !== BsonType.object) throw failedToParse("'window' field must be an object")
  const given = new Map<string, RawValue>()
  let count = 0
  for (const it = new FieldIterator(window.bytes, window.start); it.next(); count++)
    if (!given.has(it.name())) given.set(it.name(), it.value())
  const [documents, range, unit] = ['documents', 'range', 'unit'].map((name) => given.get(name))
  if (documents && range) throw failedToParse("Window bounds can specify either 'documents' or 'unit', not both.")
  if (!range && unit) throw failedToParse("Window bounds can only specify 'unit' with range-based bounds.")
  if (documents) {
    if (count !== 1) throw failedToParse("'window' field that specifies documents cannot have other fields")
    return parseDocuments(documents, context)
  }
  if (range) return parseRange(range, unit ?? null, count, context)
  if (count > 0)
    throw failedToParse(
      "'window' field can only contain 'documents' as the only argument or 'range' with an optional 'unit' field",
    )
  return { kind: 'documents', lower: 'unbounded', upper: 'unbounded' }
}

function parseDocuments(documents: RawValue, context: WindowContext): DocumentBounds {
  const [lower, upper] = pairOf('documents', documents, context, (value) => {
    const integer = exactInteger(value)
    if (integer === null || BigInt.asIntN(32, integer) !== integer)
      throw failedToParse('Numeric document-based bounds must be an integer')
    return Number(integer)
  })
  const offsets = [lower, upper].map((bound) => (bound === 'current' ? 0 : bound))
  if (typeof offsets[0] === 'number' && typeof offsets[1] === 'number' && offsets[0] > offsets[1])
    throw new CommandError(5339900, `Lower bound must not exceed upper bound: [${offsets[0]}, ${offsets[1]}]`)
  if ((lower !== 'unbounded' || upper !== 'unbounded') && context.sort === null)
    throw new CommandError(5339901, 'Document-based bounds require a sortBy')
  return { kind: 'documents', lower, upper }
}

function parseRange(range: RawValue, unit: RawValue | null, count: number, context: WindowContext): RangeBounds {
  if (unit !== null) {
    if (count !== 2) throw failedToParse("'window' field that specifies unit cannot have other fields besides 'range'")
    if (unit.type !== BsonType.string) throw failedToParse("'unit' must be a string")
  } else if (count !== 1)
    throw failedToParse("'window' field that specifies range cannot have other fields besides 'unit'")
  const [lower, upper] = pairOf('range', range, context, (value) => {
    if (unit !== null && exactInteger(value) === null)
      throw failedToParse("With 'unit', range-based bounds must be an integer")
    if (!value.isNumber()) throw failedToParse('Range-based bounds expression must be a number')
    return value
  })
  const [low, high] = [lower, upper].map((bound) => (bound === 'current' ? int32Value(0) : bound)) as [
    Bound<RawValue>,
    Bound<RawValue>,
  ]
  if (typeof low !== 'string' && typeof high !== 'string' && compareValues(low, high) > 0)
    throw new CommandError(
      5339900,
      `Lower bound must not exceed upper bound: [${formatValue(low)}, ${formatValue(high)}]`,
    )
  const parsedUnit = unit === null ? null : timeUnit(unit.asString())
  const { sort } = context
  if (sort?.parts.length !== 1) throw new CommandError(5339902, 'Range-based bounds require sortBy a single field')
  if (sort.descending[0]) throw new CommandError(8947401, 'Range-based bounds require an ascending sortBy')
  return { kind: 'range', lower, upper, unit: parsedUnit }
}

function pairOf<Offset>(
  name: string,
  pair: RawValue,
  context: WindowContext,
  offsetOf: (value: RawValue) => Offset,
): [Bound<Offset>, Bound<Offset>] {
  const bounds = pair.type === BsonType.array ? elementsOf(pair) : []
  const [lower, upper, ...rest] = bounds
  if (lower === undefined || upper === undefined || rest.length > 0)
    throw failedToParse(`Window bounds must be a 2-element array: ${formatField(name, pair)}`)
  return [boundOf(lower, context, offsetOf), boundOf(upper, context, offsetOf)]
}

function boundOf<Offset>(
  value: RawValue,
  { evaluation }: WindowContext,
  offsetOf: (value: RawValue) => Offset,
): Bound<Offset> {
  if (value.type === BsonType.string) {
    const text = value.asString()
    if (text !== 'unbounded' && text !== 'current')
      throw failedToParse("Window bounds must be 'unbounded', 'current', or a number.")
    return text
  }
  const { constant } = compileExpression(value, evaluation)
  if (constant === null) throw failedToParse('Window bounds expression must be a constant.')
  return offsetOf(constant.value ?? value)
}

/** Both included; null: the window is empty. */
export type Endpoints = readonly [first: number, last: number] | null

export function endpointsAt(bounds: WindowBounds, partition: Partition, index: number): Endpoints {
  return bounds.kind === 'documents'
    ? documentEndpoints(bounds, partition.size, index)
    : rangeEndpoints(bounds, partition, index)
}

function documentEndpoints({ lower, upper }: DocumentBounds, size: number, index: number): Endpoints {
  const first = lower === 'unbounded' ? 0 : index + (lower === 'current' ? 0 : lower)
  const last = upper === 'unbounded' ? size - 1 : index + (upper === 'current' ? 0 : upper)
  if (first > size - 1 || last < 0) return null
  return [Math.max(0, first), Math.min(size - 1, last)]
}

function rangeEndpoints({ lower, upper, unit }: RangeBounds, partition: Partition, index: number): Endpoints {
  const values = partition.sortValues
  const base = checkedBase(values[index], unit)
  const isExpected = (value: RawValue | undefined) =>
    (unit === null ? value?.isNumber() : value?.type === BsonType.date) ?? false
  const threshold = (delta: RawValue) =>
    unit === null
      ? addNumbers(toDecimal(base), toDecimal(delta), 'double')!
      : dateValue(addUnits(Number(base.asBigInt()), Number(exactInteger(delta)), unit, utc))
  let first = index
  if (lower === 'unbounded') first = firstWhere(0, index, (i) => isExpected(values[i]))
  else if (lower !== 'current') {
    const low = threshold(lower)
    first = firstWhere(0, values.length, (i) => compareValues(values[i], low) >= 0)
    if (first === values.length || !isExpected(values[first])) return null
  }
  let last = index
  if (upper === 'unbounded') last = firstWhere(index, values.length, (i) => !isExpected(values[i])) - 1
  else if (upper !== 'current') {
    const high = threshold(upper)
    last = firstWhere(first, values.length, (i) => compareValues(values[i], high) > 0) - 1
  }
  return last < first ? null : [first, last]
}

/**
 * The first index in from..to (`to` excluded) where the test holds, or `to`. The test must hold for
 * all later indexes.
 */
function firstWhere(from: number, to: number, holds: (index: number) => boolean): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

function checkedBase(base: RawValue | undefined, unit: TimeUnit | null): RawValue {
  const type = typeName(base?.type)
  if (unit !== null) {
    if (base?.type !== BsonType.date)
      throw new CommandError(5429513, `Invalid range: Expected the sortBy field to be a Date, but it was ${type}`)
    return base
  }
  if (base?.type === BsonType.date)
    throw new CommandError(
      5429413,
      'Invalid range: For windows that involve date or time ranges, a unit must be provided.',
    )
  if (!base?.isNumber())
    throw new CommandError(5429414, `Invalid range: Expected the sortBy field to be a number, but it was ${type}`)
  return base
}

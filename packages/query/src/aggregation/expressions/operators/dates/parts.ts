import {
  BsonType,
  CommandError,
  DocumentWriter,
  documentValue,
  elementsOf,
  FieldIterator,
  firstFieldName,
  int32Value,
  int64Value,
  nullValue,
  readUint32,
  stringValue,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { exactInteger } from '../../../../values/arithmetic.js'
import { dateValue } from '../../../../values/build.js'
import { formatDate, parseFormat } from '../../../../values/dates/format.js'
import { parseDateByFormat, parseIsoDate } from '../../../../values/dates/parse.js'
import { datePartsAt, isoWallMs, type DateParts } from '../../../../values/dates/parts.js'
import { instantOf, timeZone, utc, wallMs, type TimeZone } from '../../../../values/dates/time-zone.js'
import { formatDocument, formatEvaluated } from '../../../../values/format.js'
import { isNullish, namedOperands, namedOperator, typeOf } from '../../arguments.js'
import { computed, type ExpressionOperator } from '../../expression.js'

/** For a date, timestamp or ObjectId; null for other types. */
export function instantOfValue(value: RawValue): number | null {
  if (value.type === BsonType.date) return Number(value.asBigInt())
  if (value.type === BsonType.timestamp) return readUint32(value.bytes, value.start + 4) * 1000
  if (value.type === BsonType.objectId) {
    const [a, b, c, d] = value.bytes.subarray(value.start, value.start + 4) as unknown as [
      number,
      number,
      number,
      number,
    ]
    return (a * 0x1000000 + (b << 16) + (c << 8) + d) * 1000
  }
  return null
}

function coerceToInstant(value: RawValue): number {
  const instant = instantOfValue(value)
  if (instant === null) throw new CommandError(16006, `can't convert from BSON type ${typeOf(value)} to Date`)
  return instant
}

/** UTC if no time zone was given, null if the operand is null or missing. */
export function zoneOf(value: RawValue | undefined, wasGiven: boolean): TimeZone | null {
  if (!wasGiven) return utc
  if (value === undefined || value.isNullish()) return null
  if (value.type !== BsonType.string)
    throw new CommandError(40517, `timezone must evaluate to a string, found ${typeOf(value)}`)
  return timeZone(value.asString())
}

type PartName = Exclude<keyof DateParts, 'offsetMs'>

function partOperator(part: PartName): ExpressionOperator {
  const name = `$${part}`
  return {
    name,
    manualPage: `aggregation/${part}`,
    status: 'complete',
    compile(argument, compiler) {
      let date = argument
      let zone: RawValue | undefined
      if (argument.type === BsonType.object && !firstFieldName(argument.slice())?.startsWith('$')) {
        let given: RawValue | undefined
        for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
          if (it.name() === 'date') given = it.value()
          else if (it.name() === 'timezone') zone = it.value()
          else throw new CommandError(40535, `unrecognized option to ${name}: "${it.name()}"`)
        }
        if (given === undefined)
          throw new CommandError(
            40539,
            `missing 'date' argument to ${name}, provided: ${name}: ${formatDocument(argument.bytes, argument.start)}`,
          )
        date = given
      } else if (argument.type === BsonType.array) {
        const elements = elementsOf(argument)
        if (elements.length !== 1)
          throw new CommandError(
            40536,
            `${name} accepts exactly one argument if given an array, but was given ${elements.length}`,
          )
        date = elements[0]!
      }
      const when = compiler.compile(date)
      const where = zone === undefined ? null : compiler.compile(zone)
      return computed(where === null ? [when] : [when, where], (frame) => {
        const value = when.evaluate(frame)
        if (value === undefined || value.isNullish()) return nullValue
        const instant = coerceToInstant(value)
        const at = zoneOf(where?.evaluate(frame), where !== null)
        if (at === null) return nullValue
        const result = datePartsAt(instant, at)[part]
        return part === 'isoWeekYear' ? int64Value(BigInt(result)) : int32Value(result)
      })
    },
  }
}

const naturalParts = ['year', 'month', 'dayOfMonth'] as const
const isoParts = ['isoWeekYear', 'isoWeek', 'isoDayOfWeek'] as const
const timeParts = ['hour', 'minute', 'second', 'millisecond'] as const

const dateToParts = namedOperator(
  '$dateToParts',
  {
    fields: ['date', 'timezone', 'iso8601'],
    required: { date: [40522, "Missing 'date' parameter to $dateToParts"] },
    notObject: () => new CommandError(40524, '$dateToParts only supports an object as its argument'),
    unknown: (field) => new CommandError(40520, `Unrecognized argument to $dateToParts: ${field}`),
  },
  ([date, zone, iso], [, zoneGiven, isoGiven]) => {
    const at = zoneOf(zone, zoneGiven!)
    if (isoGiven && iso !== undefined && !iso.isNullish() && iso.type !== BsonType.bool)
      throw new CommandError(40521, `iso8601 must evaluate to a bool, found ${typeOf(iso)}`)
    if (at === null || date === undefined || date.isNullish() || (isoGiven && isNullish(iso))) return nullValue
    const parts = datePartsAt(coerceToInstant(date), at)
    const writer = new DocumentWriter()
    for (const part of iso?.asBool() ? isoParts : naturalParts)
      writer.int32(part === 'dayOfMonth' ? 'day' : part, parts[part])
    for (const part of timeParts) writer.int32(part, parts[part])
    return documentValue(writer.finish())
  },
)

const partNames = [
  'year',
  'month',
  'day',
  'isoWeekYear',
  'isoWeek',
  'isoDayOfWeek',
  'hour',
  'minute',
  'second',
  'millisecond',
  'timezone',
]

const dateFromParts: ExpressionOperator = {
  name: '$dateFromParts',
  manualPage: 'aggregation/dateFromParts',
  status: 'complete',
  compile(argument, compiler) {
    const operands = namedOperands(
      {
        fields: partNames,
        required: {},
        notObject: () => new CommandError(40519, '$dateFromParts only supports an object as its argument'),
        unknown: (field) => new CommandError(40518, `Unrecognized argument to $dateFromParts: ${field}`),
      },
      argument,
      compiler,
    )
    const given = (name: string) => operands[partNames.indexOf(name)] ?? null
    if (given('year') === null && given('isoWeekYear') === null)
      throw new CommandError(40516, "$dateFromParts requires either 'year' or 'isoWeekYear' to be present")
    const isIso = given('isoWeekYear') !== null
    if (isIso && ['year', 'month', 'day'].some((name) => given(name) !== null))
      throw new CommandError(40489, '$dateFromParts does not allow mixing natural dates with ISO dates')
    if (!isIso && ['isoWeek', 'isoDayOfWeek'].some((name) => given(name) !== null))
      throw new CommandError(40525, '$dateFromParts does not allow mixing ISO dates with natural dates')
    return computed(
      operands.filter((operand) => operand !== null),
      (frame) => {
        const values: number[] = []
        for (const name of partNames.slice(0, -1)) {
          const operand = given(name)
          const value = operand?.evaluate(frame)
          if (operand !== null && (value === undefined || value.isNullish())) return nullValue
          values.push(value === undefined ? defaultPart(name) : partValue(name, value))
        }
        const zone = zoneOf(given('timezone')?.evaluate(frame), given('timezone') !== null)
        if (zone === null) return nullValue
        const [year, month, day, isoYear, isoWeek, isoDay, hour, minute, second, millisecond] = values as [
          number,
          number,
          number,
          number,
          number,
          number,
          number,
          number,
          number,
          number,
        ]
        const wall = isIso ? isoWallMs(isoYear, isoWeek, isoDay) : wallMs(year, month, day)
        // Hours and smaller units that overflow carry over as elapsed time.
        return dateValue(instantOf(wall + ((hour * 60 + minute) * 60 + second) * 1000 + millisecond, zone))
      },
    )
  },
}

function defaultPart(name: string): number {
  return timeParts.includes(name as (typeof timeParts)[number]) ? 0 : 1
}

function partValue(name: string, value: RawValue): number {
  const integer = exactInteger(value)
  if (integer === null)
    throw new CommandError(
      40515,
      `'${name}' must evaluate to an integer, found ${typeOf(value)} with value ${formatEvaluated(value)}`,
    )
  const number = Number(integer)
  if (name === 'year' || name === 'isoWeekYear') {
    if (number < 1 || number > 9999)
      throw new CommandError(
        name === 'year' ? 40523 : 31095,
        `'${name}' must evaluate to an integer in the range 1 to 9999, found ${number}`,
      )
  } else if (name !== 'second' && name !== 'millisecond' && (number < -32768 || number > 32767)) {
    throw new CommandError(
      31034,
      `'${name}' must evaluate to a value in the range [-32768, 32767]; value ${number} is not in range`,
    )
  }
  return number
}

const dateToString = namedOperator(
  '$dateToString',
  {
    fields: ['date', 'format', 'timezone', 'onNull'],
    required: { date: [18628, "Missing 'date' parameter to $dateToString"] },
    notObject: () => new CommandError(18629, '$dateToString only supports an object as its argument'),
    unknown: (field) => new CommandError(18534, `Unrecognized argument to $dateToString: ${field}`),
  },
  ([date, format, zone, onNull], [, formatGiven, zoneGiven, onNullGiven]) => {
    if (format !== undefined && !format.isNullish() && format.type !== BsonType.string)
      throw new CommandError(
        18533,
        `$dateToString requires that 'format' be a string, found: ${typeOf(format)} with value ${formatEvaluated(format)}`,
      )
    const parsed = format?.type === BsonType.string ? parseFormat(format.asString(), false) : null
    const at = zoneOf(zone, zoneGiven!)
    if (isNullish(date)) return onNullGiven ? onNull : nullValue
    if (at === null || (formatGiven && parsed === null)) return nullValue
    const standard = `%Y-%m-%dT%H:%M:%S.%L${at.isUtc ? 'Z' : ''}`
    return stringValue(formatDate(parsed ?? parseFormat(standard, false), datePartsAt(coerceToInstant(date!), at)))
  },
)

const dateFromString: ExpressionOperator = {
  name: '$dateFromString',
  manualPage: 'aggregation/dateFromString',
  status: 'partial',
  deviations: ['D104'],
  missing: 'texts without a format that are neither ISO 8601 nor YYYY/MM/DD, which the server guesses',
  compile(argument, compiler) {
    const operands = namedOperands(
      {
        fields: ['dateString', 'format', 'timezone', 'onError', 'onNull'],
        required: { dateString: [40542, "Missing 'dateString' parameter to $dateFromString"] },
        notObject: (type) =>
          new CommandError(40540, `$dateFromString only supports an object as an argument, found: ${type}`),
        unknown: (field) => new CommandError(40541, `Unrecognized argument to $dateFromString: ${field}`),
      },
      argument,
      compiler,
    )
    const [text, format, timezone, onError, onNull] = operands
    return computed(
      operands.filter((operand) => operand !== null),
      (frame) => {
        const pattern = format?.evaluate(frame)
        if (pattern !== undefined && !pattern.isNullish() && pattern.type !== BsonType.string)
          throw new CommandError(
            40684,
            `$dateFromString requires that 'format' be a string, found: ${typeOf(pattern)} with value ${formatEvaluated(pattern)}`,
          )
        const parts = pattern?.type === BsonType.string ? parseFormat(pattern.asString(), true) : null
        const zone = zoneOf(timezone?.evaluate(frame), !!timezone)
        const value = text!.evaluate(frame)
        if (value === undefined || value.isNullish()) return onNull ? onNull.evaluate(frame) : nullValue
        if (zone === null || (format && parts === null)) return nullValue
        try {
          if (value.type !== BsonType.string)
            throw new CommandError(
              'ConversionFailure',
              `$dateFromString requires that 'dateString' be a string, found: ${typeName(value.type)} with value ${formatEvaluated(value)}`,
            )
          const ownZone = timezone ? zone : null
          return dateValue(
            parts === null
              ? parseIsoDate(value.asString(), ownZone)
              : parseDateByFormat(value.asString(), parts, ownZone),
          )
        } catch (error) {
          if (onError && error instanceof CommandError && error.codeName === 'ConversionFailure')
            return onError.evaluate(frame)
          throw error
        }
      },
    )
  },
}

const parts: readonly PartName[] = [
  'year',
  'month',
  'dayOfMonth',
  'hour',
  'minute',
  'second',
  'millisecond',
  'dayOfYear',
  'dayOfWeek',
  'isoDayOfWeek',
  'week',
  'isoWeek',
  'isoWeekYear',
]

export const datePartExpressions: readonly ExpressionOperator[] = [
  ...parts.map(partOperator),
  dateToParts,
  dateFromParts,
  dateToString,
  dateFromString,
]

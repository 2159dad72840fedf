/** Values as the server prints them in error messages: `{ a: 1, b: "x" }`. */
import {
  asBuffer,
  BsonType,
  decimalText,
  FieldIterator,
  readInt32,
  readText,
  readUint32,
  readUtf8,
  type RawValue,
} from '@shardlab/bson'
import { formatDate, parseFormat } from './dates/format.js'
import { datePartsAt } from './dates/parts.js'
import { utc } from './dates/time-zone.js'

export function formatValue(value: RawValue | undefined): string {
  if (value === undefined) return 'EOO'
  switch (value.type) {
    case BsonType.int32:
      return String(value.asNumber())
    case BsonType.int64:
      return String(value.asBigInt())
    case BsonType.double:
      return formatDouble(value.asNumber())
    case BsonType.string:
    case BsonType.symbol:
      return value.end - value.start - 4 > 160 ? `"${firstBytes(value, 150)}..."` : `"${value.asString()}"`
    case BsonType.bool:
      return value.asBool() ? 'true' : 'false'
    case BsonType.null:
      return 'null'
    case BsonType.undefined:
      return 'undefined'
    case BsonType.minKey:
      return 'MinKey'
    case BsonType.maxKey:
      return 'MaxKey'
    case BsonType.object:
      return formatDocument(value.bytes, value.start)
    case BsonType.array:
      return formatArray(value)
    case BsonType.objectId:
      return `ObjectId('${asBuffer(value.bytes).toString('hex', value.start, value.end)}')`
    case BsonType.date:
      return `new Date(${value.asBigInt()})`
    case BsonType.timestamp:
      return `Timestamp(${readUint32(value.bytes, value.start + 4)}, ${readUint32(value.bytes, value.start)})`
    case BsonType.decimal128:
      return decimalText(value)
    case BsonType.binary:
      return formatBinary(value)
    case BsonType.regex: {
      const [pattern, flags] = regexParts(value)
      return `/${pattern}/${flags}`
    }
    case BsonType.code:
      return value.end - value.start - 4 > 80 ? `${firstBytes(value, 70)}...` : value.asString()
    case BsonType.codeWithScope: {
      const scope = value.start + 8 + readInt32(value.bytes, value.start + 4)
      return `CodeWScope( ${readUtf8(value.bytes, value.start + 8, scope - 1)}, ${formatDocument(value.bytes, scope)})`
    }
    case BsonType.dbPointer: {
      const id = value.end - 12
      return `DBRef('${readUtf8(value.bytes, value.start + 4, id - 1)}',${asBuffer(value.bytes).toString('hex', id, value.end)})`
    }
    default:
      return `?type=${value.type}`
  }
}

/** The bytes of a character that is cut in the middle stay as they are. */
const firstBytes = (value: RawValue, bytes: number) => readText(value.bytes, value.start + 4, value.start + 4 + bytes)

/** UUIDs (subtype 4) as UUIDs, other data in hexadecimal; more than 80 bytes are cut to 70. */
function formatBinary(value: RawValue): string {
  const subtype = value.bytes[value.start + 4]!
  const length = readInt32(value.bytes, value.start)
  const shown = length > 80 ? 70 : length
  const hex = asBuffer(value.bytes).toString('hex', value.start + 5, value.start + 5 + shown)
  if (subtype === 4 && length === 16) return `UUID("${hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}")`
  return `BinData(${subtype}, ${hex.toUpperCase()}${shown < length ? '...' : ''})`
}

export function regexParts(value: RawValue): [pattern: string, flags: string] {
  let middle = value.start
  while (value.bytes[middle] !== 0) middle++
  return [readUtf8(value.bytes, value.start, middle), readUtf8(value.bytes, middle + 1, value.end - 1)]
}

/** `{ a: 1 }`, `{}` when empty. */
export function formatDocument(bytes: Uint8Array, start = 0): string {
  const parts: string[] = []
  for (const it = new FieldIterator(bytes, start); it.next();) parts.push(`${it.name()}: ${formatValue(it.value())}`)
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}

export function formatField(name: string, value: RawValue): string {
  return `${name}: ${formatValue(value)}`
}

function formatArray(value: RawValue): string {
  const parts: string[] = []
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) parts.push(formatValue(it.value()))
  return parts.length === 0 ? '[]' : `[ ${parts.join(', ')} ]`
}

/** `%.16g`, with `.0` appended when there is no point, also in `1e+20.0` and `inf.0`. */
function formatDouble(value: number): string {
  const digits = general(value, 16)
  return digits.includes('.') ? digits : `${digits}.0`
}

/** C's `%g` with at most `digits` significant digits. */
function general(value: number, digits: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [mantissa, exponentText] = value.toExponential(digits - 1).split('e') as [string, string]
  const exponent = Number(exponentText)
  const trimmed = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)
  if (exponent >= -4 && exponent < digits) return trimmed(value.toFixed(Math.max(0, digits - 1 - exponent)))
  return `${trimmed(mantissa)}e${scientificExponent(exponent)}`
}

const scientificExponent = (exponent: number) =>
  `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`

/** As `$toString` prints it: with the fewest digits that identify it. */
export function shortestDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity'
  if (Object.is(value, -0)) return '-0'
  const [mantissa, exponentText] = value.toExponential().split('e') as [string, string]
  const exponent = Number(exponentText)
  if (exponent < -4 || exponent >= 16) return `${mantissa}e${scientificExponent(exponent)}`
  const fraction = mantissa.split('.')[1]?.length ?? 0
  return value.toFixed(Math.max(0, fraction - exponent))
}

/** As in the server's implicit conversions to strings: 16 digits. */
export function plainDouble(value: number): string {
  return general(value, 16)
}

/**
 * The result of an expression as messages print it. The server's `Value::toString` differs from its
 * printing of stored elements.
 */
export function formatEvaluated(value: RawValue | undefined): string {
  if (value === undefined) return 'MISSING'
  switch (value.type) {
    case BsonType.double:
      return general(value.asNumber(), 6)
    case BsonType.string:
      return `"${value.asString()}"`
    case BsonType.objectId:
      return asBuffer(value.bytes).toString('hex', value.start, value.end)
    case BsonType.date:
      return formatDate(isoFormat, datePartsAt(Number(value.asBigInt()), utc))
    case BsonType.object:
    case BsonType.array: {
      const parts: string[] = []
      for (const it = new FieldIterator(value.bytes, value.start); it.next();)
        parts.push(`${value.type === BsonType.object ? `${it.name()}: ` : ''}${formatEvaluated(it.value())}`)
      return value.type === BsonType.object ? `{${parts.join(', ')}}` : `[${parts.join(', ')}]`
    }
    default:
      return formatValue(value)
  }
}

const isoFormat = parseFormat('%Y-%m-%dT%H:%M:%S.%LZ', false)

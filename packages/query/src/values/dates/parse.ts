import { CommandError } from '@shardlab/bson'
import { isoWallMs } from './parts.js'
import { months, type FormatPart } from './format.js'
import { instantOf, timeZone, utc, wallMs, type TimeZone } from './time-zone.js'

const isoPattern =
  /^\s*(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?\s*$/i

function fail(text: string, why: string): CommandError {
  return new CommandError('ConversionFailure', `Error parsing date string '${text}'; ${why}`)
}

/**
 * @param zone for a text that contains none; null: UTC, and the text may contain a zone
 * @returns milliseconds since the epoch
 * @throws CommandError ConversionFailure (241)
 */
export function parseIsoDate(text: string, zone: TimeZone | null): number {
  const match = isoPattern.exec(text)
  if (match === null) {
    const at = text.search(/[^\s\d:/+-]/)
    throw fail(text, `${Math.max(at, 0)}: Unexpected character '${text[Math.max(at, 0)] ?? ''}'`)
  }
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', offset] = match
  if (offset !== undefined && zone !== null) throw offsetWithZone(text)
  const parts = [month, day, hour, minute, second].map(Number) as [number, number, number, number, number]
  const limits = [12, 31, 24, 59, 59]
  if (parts.some((part, index) => part > limits[index]!) || parts[0] === 0 || parts[1] === 0)
    throw fail(text, 'The parsed date was invalid')
  const wall = wallMs(Number(year), ...parts, Number(fraction.padEnd(3, '0').slice(0, 3)))
  return instantOf(wall, offset === undefined ? (zone ?? utc) : timeZone(offset.toUpperCase()))
}

function offsetWithZone(text: string): CommandError {
  return fail(
    text,
    'you cannot pass in a date/time string with time zone information together with a timezone argument',
  )
}

const patterns: Readonly<Record<string, string>> = {
  b: '[A-Za-z]{3}',
  B: '[A-Za-z]+',
  d: '\\d{1,2}',
  G: '\\d{4}',
  H: '\\d{1,2}',
  j: '\\d{1,3}',
  L: '\\d{1,3}',
  m: '\\d{1,2}',
  M: '\\d{1,2}',
  S: '\\d{1,2}',
  u: '[1-7]',
  V: '\\d{1,2}',
  Y: '\\d{4}',
  z: 'Z|UTC|GMT|[+-]\\d{2}:?\\d{2}',
  Z: '[+-]\\d{1,4}',
}

/** @throws CommandError ConversionFailure (241) when the text does not have the format */
export function parseDateByFormat(text: string, format: readonly FormatPart[], zone: TimeZone | null): number {
  const letters = format.filter((part) => part.specifier !== null).map((part) => part.specifier!)
  const source = format
    .map(({ specifier, text: literal }) =>
      specifier === null ? literal.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&') : `(${patterns[specifier]!})`,
    )
    .join('')
  const match = new RegExp(`^${source}$`, 'i').exec(text)
  if (match === null) throw fail(text, 'the text does not have the given format: Trailing data or separator mismatch')
  const given = new Map(letters.map((letter, index) => [letter, match[index + 1]!]))
  const number = (letter: string, fallback: number) => Number(given.get(letter) ?? fallback)
  const isIso = ['G', 'V', 'u'].some((letter) => given.has(letter))
  if (isIso && ['Y', 'm', 'd', 'j', 'b', 'B'].some((letter) => given.has(letter)))
    throw fail(text, 'Mixing of ISO dates with natural dates is not allowed')
  const monthName = given.get('b') ?? given.get('B')
  const month = monthName === undefined ? number('m', 1) : monthOf(text, monthName)
  const dayOfMonth = number('d', 1)
  if (month < 1 || month > 12 || dayOfMonth < 1 || dayOfMonth > 31) throw fail(text, 'The parsed date was invalid')
  const [hour, minute, second] = [number('H', 0), number('M', 0), number('S', 0)]
  if (hour > 24 || minute > 59 || second > 59) throw fail(text, 'The parsed time was invalid')
  if (!isIso && !given.has('Y'))
    throw fail(text, 'an incomplete date/time string has been found, with elements missing')
  const day = isIso
    ? isoWallMs(number('G', 1970), number('V', 1), number('u', 1))
    : given.has('j')
      ? wallMs(number('Y', 1970), 1, number('j', 1))
      : wallMs(number('Y', 1970), month, dayOfMonth)
  const wall = day + ((hour * 60 + minute) * 60 + second) * 1000 + Number((given.get('L') ?? '0').padEnd(3, '0'))
  const offset = given.get('z')
  const minutes = given.get('Z')
  if ((offset !== undefined || minutes !== undefined) && zone !== null) throw offsetWithZone(text)
  if (minutes !== undefined) return wall - Number(minutes) * 60_000
  return instantOf(wall, offset === undefined ? (zone ?? utc) : timeZone(offset.toUpperCase()))
}

function monthOf(text: string, name: string): number {
  const month = months.findIndex(
    (full) => full.toLowerCase() === name.toLowerCase() || full.slice(0, 3).toLowerCase() === name.toLowerCase(),
  )
  if (month < 0) throw fail(text, 'A textual month could not be found')
  return month + 1
}

import { CommandError } from '@shardlab/bson'
import type { DateParts } from './parts.js'

export const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

const pad = (value: number, length: number) => String(value).padStart(length, '0')

function year(value: number): string {
  if (value < 0 || value > 9999)
    throw new CommandError(18537, `$dateToString is only defined on year 0-9999, tried to use year ${value}`)
  return pad(value, 4)
}

/** The keys are the letters after %. */
const specifiers: Readonly<Record<string, (parts: DateParts) => string>> = {
  '%': () => '%',
  b: (parts) => months[parts.month - 1]!.slice(0, 3),
  B: (parts) => months[parts.month - 1]!,
  d: (parts) => pad(parts.dayOfMonth, 2),
  G: (parts) => year(parts.isoWeekYear),
  H: (parts) => pad(parts.hour, 2),
  j: (parts) => pad(parts.dayOfYear, 3),
  L: (parts) => pad(parts.millisecond, 3),
  m: (parts) => pad(parts.month, 2),
  M: (parts) => pad(parts.minute, 2),
  S: (parts) => pad(parts.second, 2),
  u: (parts) => String(parts.isoDayOfWeek),
  U: (parts) => pad(parts.week, 2),
  V: (parts) => pad(parts.isoWeek, 2),
  w: (parts) => String(parts.dayOfWeek),
  Y: (parts) => year(parts.year),
  z: ({ offsetMs }) => {
    const minutes = Math.trunc(Math.abs(offsetMs) / 60_000)
    return `${offsetMs < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60), 2)}${pad(minutes % 60, 2)}`
  },
  Z: ({ offsetMs }) => String(Math.trunc(offsetMs / 60_000) || 0),
}

/** Letters that can be printed but not parsed. */
const printOnly = 'Uw'

export interface FormatPart {
  /** The letter after %, or null for literal text. */
  readonly specifier: string | null
  readonly text: string
}

/** @throws CommandError 18535 for a % at the end, 18536 for an unknown letter */
export function parseFormat(format: string, forParsing: boolean): FormatPart[] {
  const parts: FormatPart[] = []
  for (let i = 0; i < format.length; i++) {
    if (format[i] !== '%') {
      parts.push({ specifier: null, text: format[i]! })
      continue
    }
    const letter = format[++i]
    if (letter === undefined) throw new CommandError(18535, "Unmatched '%' at end of format string")
    if (!Object.hasOwn(specifiers, letter) || (forParsing && printOnly.includes(letter)))
      throw new CommandError(18536, `Invalid format character '%${letter}' in format string`)
    parts.push(letter === '%' ? { specifier: null, text: '%' } : { specifier: letter, text: `%${letter}` })
  }
  return parts
}

export function formatDate(format: readonly FormatPart[], parts: DateParts): string {
  return format.map(({ specifier, text }) => (specifier === null ? text : specifiers[specifier]!(parts))).join('')
}

/** Code points. */
type Range = readonly [low: number, high: number]

const tabToReturn: Range = [0x09, 0x0d]
const spaces: readonly Range[] = [tabToReturn, [0x20, 0x20]]
const blanks: readonly Range[] = [
  [0x09, 0x09],
  [0x20, 0x20],
]
const horizontal: readonly Range[] = [
  ...blanks,
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x180e, 0x180e],
  [0x2000, 0x200a],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
]
export const vertical: readonly Range[] = [
  [0x0a, 0x0d],
  [0x85, 0x85],
  [0x2028, 0x2029],
]
const digits: Range = [0x30, 0x39]
const uppers: Range = [0x41, 0x5a]
const lowers: Range = [0x61, 0x7a]
const letters = [uppers, lowers] as const

const posixClasses: Readonly<Record<string, readonly Range[]>> = {
  alpha: letters,
  digit: [digits],
  alnum: [digits, ...letters],
  upper: [uppers],
  lower: [lowers],
  space: spaces,
  blank: blanks,
  punct: [
    [0x21, 0x2f],
    [0x3a, 0x40],
    [0x5b, 0x60],
    [0x7b, 0x7e],
  ],
  xdigit: [digits, [0x41, 0x46], [0x61, 0x66]],
  word: [digits, uppers, [0x5f, 0x5f], lowers],
  cntrl: [
    [0x00, 0x1f],
    [0x7f, 0x7f],
  ],
  print: [[0x20, 0x7e]],
  graph: [[0x21, 0x7e]],
}

/** Escapes for character sets that JavaScript does not have, or has with more characters. */
const sets: Readonly<Record<string, readonly Range[]>> = { s: spaces, h: horizontal, v: vertical }

/** `[…]` without its brackets; the ranges must be ascending. */
export function textOf(ranges: readonly Range[], negated = false): string {
  const shown = negated ? complement(ranges) : ranges
  return shown.map(([low, high]) => (low === high ? literal(low) : `${literal(low)}-${literal(high)}`)).join('')
}

function complement(ranges: readonly Range[]): Range[] {
  const result: Range[] = []
  let next = 0
  for (const [low, high] of ranges) {
    if (low > next) result.push([next, low - 1])
    next = high + 1
  }
  result.push([next, 0x10ffff])
  return result
}

/** Without any special meaning in a pattern. */
export const literal = (codePoint: number): string => `\\u{${codePoint.toString(16)}}`

/** The inside of `[:alpha:]`; null: there is no class of this name. */
export function posixClass(name: string, negated: boolean): string | null {
  const ranges = Object.hasOwn(posixClasses, name) ? posixClasses[name] : undefined
  return ranges === undefined ? null : textOf(ranges, negated)
}

/** Null: not an escape for a set, such as `\s` or `\H`. */
export function escapedSet(char: string): string | null {
  const name = char.toLowerCase()
  return Object.hasOwn(sets, name) ? textOf(sets[name]!, char !== name) : null
}

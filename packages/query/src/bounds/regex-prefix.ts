/**
 * The literal prefix of every match of an anchored pattern. Server:
 * `IndexBoundsBuilder::simpleRegex`.
 */

export interface RegexPrefix {
  readonly text: string
  /** The pattern is equivalent to "starts with text". */
  readonly whole: boolean
}

/** Null: the pattern has no usable prefix. */
export function regexPrefix(pattern: string, flags: string): RegexPrefix | null {
  let multilineFine = false
  let at: number
  if (pattern.startsWith('\\A')) {
    multilineFine = true
    at = 2
  } else if (pattern.startsWith('^')) at = 1
  else return null
  let extended = false
  for (const flag of flags) {
    if (flag === 's' || (flag === 'm' && multilineFine)) continue
    if (flag !== 'x') return null
    extended = true
  }
  // An alternative may start differently. A bar in a class or in \Q…\E is treated as one too, which
  // only makes the bounds less exact.
  if (/(^|[^\\]|\\\\)\|/.test(pattern.slice(at))) return null
  let text = ''
  for (; at < pattern.length; at++) {
    const char = pattern[at]!
    if (char === '*' || char === '?') return prefixOf(dropLast(text))
    if (char === '\\') {
      const next = pattern[++at]
      if (next === 'Q') {
        const end = pattern.indexOf('\\E', at + 1)
        text += pattern.slice(at + 1, end < 0 ? undefined : end)
        at = end < 0 ? pattern.length : end + 1
      } else if (next === undefined || /[A-Za-z0-9]/.test(next)) return prefixOf(text)
      else text += next
    } else if (char === '{') return prefixOf(dropLast(text))
    else if ('^$.[()+'.includes(char) || (extended && char === '#')) return prefixOf(text)
    else if (extended && /\s/.test(char)) continue
    else text += char
  }
  return text === '' ? null : { text, whole: true }
}

function prefixOf(text: string): RegexPrefix | null {
  return text === '' ? null : { text, whole: false }
}

function dropLast(text: string): string {
  return Array.from(text).slice(0, -1).join('')
}

/**
 * The server's regular expressions (PCRE, UTF mode) as JavaScript's. Translated: the options x and inline leading
 * (?imsx), \A \z \Z, POSIX classes, $ before a last newline, named groups of the form (?P<n>…). Where PCRE knows more
 * (possessive quantifiers, atomic groups, recursion, \K) compilation fails with the server's code for an invalid
 * pattern. Case folding of letters outside ASCII is JavaScript's.
 */
import { CommandError } from '@shardlab/bson'

const posixClasses: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
  blank: ' \\t',
  punct: '!-\\/:-@\\[-`{-~',
  xdigit: '0-9A-Fa-f',
  word: '\\w',
  cntrl: '\\x00-\\x1f\\x7f',
  print: '\\x20-\\x7e',
  graph: '\\x21-\\x7e',
}

/** Expressions by options and pattern: the same ones come with every command. */
const compiled = new Map<string, RegExp>()
const keptAtMost = 500

/**
 * The expression is shared: it has no state (`g`, `y`).
 * @throws CommandError 51108 for an unknown option, 51091 for a pattern that does not compile
 */
export function compilePattern(pattern: string, options: string): RegExp {
  const key = `${options}/${pattern}`
  let expression = compiled.get(key)
  if (expression === undefined) {
    expression = translated(pattern, options)
    if (compiled.size >= keptAtMost) compiled.clear()
    compiled.set(key, expression)
  }
  return expression
}

function translated(pattern: string, options: string): RegExp {
  for (const option of options) {
    if (!'imsxu'.includes(option)) throw new CommandError(51108, `invalid flag in regex options: ${option}`)
  }
  if (pattern.includes('\0')) throw new CommandError('BadValue', 'Regular expression cannot contain an embedded null byte')
  const flags = new Set(options)
  let source = pattern
  for (let inline; (inline = /^\(\?([imsx]+)\)/.exec(source)) !== null;) {
    for (const flag of inline[1]!) flags.add(flag)
    source = source.slice(inline[0].length)
  }
  const text = translate(source, flags.has('x'), flags.has('m'))
  const jsFlags = ['i', 'm', 's'].filter((flag) => flags.has(flag)).join('')
  try {
    return new RegExp(text, `${jsFlags}u`)
  } catch {
    // Unicode mode refuses escapes of letters and punctuation that PCRE takes literally.
    try {
      return new RegExp(text, jsFlags)
    } catch (error) {
      throw new CommandError(51091, `Regular expression is invalid: ${(error as Error).message}`)
    }
  }
}

function translate(source: string, extended: boolean, multiline: boolean): string {
  let out = ''
  for (let i = 0; i < source.length; i++) {
    const char = source[i]!
    if (char === '\\') {
      const next = source[++i] ?? ''
      if (next === 'A') out += '(?<![\\s\\S])'
      else if (next === 'z') out += '(?![\\s\\S])'
      else if (next === 'Z') out += '(?=\\n?(?![\\s\\S]))'
      else if (next === 'h') out += '[ \\t]'
      else if (next === 'Q') {
        const end = source.indexOf('\\E', i + 1)
        const literal = source.slice(i + 1, end < 0 ? undefined : end)
        out += literal.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
        i = end < 0 ? source.length : end + 1
      } else out += char + next
    } else if (char === '[') {
      const [text, end] = characterClass(source, i)
      out += text
      i = end
    } else if (extended && /\s/.test(char)) continue
    else if (extended && char === '#') {
      while (i + 1 < source.length && source[i] !== '\n') i++
    } else if (char === '$' && !multiline) out += '(?=\\n?(?![\\s\\S]))'
    else if (char === '(' && source.startsWith('(?P<', i)) {
      out += '(?<'
      i += 3
    } else out += char
  }
  return out
}

function characterClass(source: string, from: number): [text: string, end: number] {
  let out = '['
  let i = from + 1
  if (source[i] === '^') {
    out += '^'
    i++
  }
  // A bracket right at the start stands for itself.
  if (source[i] === ']') {
    out += '\\]'
    i++
  }
  for (; i < source.length && source[i] !== ']'; i++) {
    const posix = /^\[:(\^?)([a-z]+):\]/.exec(source.slice(i))
    const characters = posix === null ? undefined : posixClasses[posix[2]!]
    if (posix !== null && characters !== undefined && posix[1] === '') {
      out += characters
      i += posix[0].length - 1
    } else if (source[i] === '[') out += '\\['
    else if (source[i] === '\\') out += source[i]! + (source[++i] ?? '')
    else out += source[i]
  }
  return [`${out}]`, i]
}

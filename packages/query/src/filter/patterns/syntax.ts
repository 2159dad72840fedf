/**
 * Translates the server's regular expressions (PCRE in UTF mode, without UCP) to JavaScript's in
 * Unicode mode. Patterns without an equivalent are refused here or by JavaScript's compiler.
 * Manual: reference/operator/query/regex.
 */
import { CommandError } from '@shardlab/bson'
import { foldedClass } from './case.js'
import { escapedSet, literal, posixClass, textOf, vertical } from './sets.js'

/** Same meaning in both languages, outside and inside of a class. */
const sameEverywhere = 'dDwWfnrt'
const anyCharacter = '[^]'
/** PCRE's limit. */
const depthMax = 250
const atEnd = `(?!${anyCharacter})`

function invalid(reason: string): CommandError {
  return new CommandError(51091, `Regular expression is invalid: ${reason}`)
}

/** `next`: the index of the next piece in the pattern. */
type Piece = readonly [text: string, next: number]

/** The arguments of `new RegExp`, apart from the flag `u`. */
export interface TranslatedPattern {
  readonly text: string
  readonly ignoreCase: boolean
}

/**
 * @param flags initial flags out of `i`, `x`, `m`, `s`; `(?i)`, `(?-i)` and `(?i:…)` change them
 *   inside the pattern
 * @throws CommandError 51091 for syntax that PCRE does not have or that has no equivalent
 */
export function translatePattern(source: string, flags: ReadonlySet<string>): TranslatedPattern {
  const whole = translateWith(source, flags, false)
  if (whole.cases.size < 2) return { text: whole.text, ignoreCase: whole.cases.has(true) }
  // If only a part of the pattern ignores case, its characters become classes: JavaScript's flag
  // applies to the whole pattern.
  return { text: translateWith(source, flags, true).text, ignoreCase: false }
}

interface Translation {
  readonly text: string
  /** Contains true if a piece ignores case, and false if a piece does not. */
  readonly cases: ReadonlySet<boolean>
}

const optionsPattern = /^\(\?([imsx]*)(?:-([imsx]+))?([:)])/

function translateWith(source: string, initial: ReadonlySet<string>, foldsPieces: boolean): Translation {
  const cases = new Set<boolean>()
  /** The flags outside of each open group: options end with their group. */
  const outer: ReadonlySet<string>[] = []
  let flags = initial
  let text = ''
  for (let i = 0; i < source.length;) {
    const char = source[i]!
    if (char === '(') {
      const [whole, on, off, end] = optionsPattern.exec(source.slice(i, i + 24)) ?? []
      if (whole !== undefined) {
        if (end === ':' && outer.push(flags) > depthMax) throw invalid('parentheses are too deeply nested')
        flags = new Set([...flags, ...on!].filter((flag) => !(off ?? '').includes(flag)))
        if (end === ':') text += '(?:'
        i += whole.length
        continue
      }
      const [opening, next, opens] = groupAt(source, i)
      if (opens && outer.push(flags) > depthMax) throw invalid('parentheses are too deeply nested')
      text += opening
      i = next
      continue
    }
    if (char === ')') flags = outer.pop() ?? flags
    const [piece, next] = pieceAt(source, i, flags)
    if (hasCase(char)) cases.add(flags.has('i'))
    text += foldsPieces && flags.has('i') ? folded(piece, source.slice(i, next)) : piece
    i = next
  }
  return { text, cases }
}

/** Whether case can matter to a piece that begins with this character. */
const hasCase = (char: string): boolean => !')|^$.*+?{}'.includes(char)

/** A piece that ignores case, for a pattern that does not. */
function folded(piece: string, source: string): string {
  if (source.startsWith('[')) return foldedClass(piece)
  if (/^\\[1-9gk]/.test(source))
    throw invalid('a reference that ignores case in a pattern that does not is not supported')
  if (source.startsWith('\\Q'))
    return [...source.slice(2).replace(/\\E$/, '')]
      .map((char) => foldedClass(`[${literal(char.codePointAt(0)!)}]`))
      .join('')
  return /^[\p{L}\p{N}\p{M}]$/u.test(piece) || piece.startsWith('\\u{') ? foldedClass(`[${piece}]`) : piece
}

function pieceAt(source: string, i: number, flags: ReadonlySet<string>): Piece {
  const char = source[i]!
  switch (char) {
    case '\\':
      return escapeAt(source, i + 1)
    case '[':
      return classAt(source, i)
    case '.':
      return [flags.has('s') ? anyCharacter : '[^\\n]', i + 1]
    case '^':
      // After a line break, except one that ends the text.
      return [flags.has('m') ? `(?:(?<!${anyCharacter})|(?<=\\n)(?=${anyCharacter}))` : '^', i + 1]
    case '$':
      return [flags.has('m') ? `(?=\\n|${atEnd})` : `(?=\\n?${atEnd})`, i + 1]
    case '{': {
      const quantifier = /^\{\d+(?:,\d*)?\}/.exec(source.slice(i, i + 24))
      return quantifier === null ? ['\\{', i + 1] : [quantifier[0], i + quantifier[0].length]
    }
    case '}':
    case ']':
      return [`\\${char}`, i + 1]
    default:
  }
  if (flags.has('x')) {
    if (/\s/.test(char)) return ['', i + 1]
    if (char === '#') {
      const end = source.indexOf('\n', i)
      return ['', end < 0 ? source.length : end + 1]
    }
  }
  return [char, i + 1]
}

/**
 * The opening of a group, a reference to one, or a comment. JavaScript's compiler refuses the other
 * kinds.
 */
function groupAt(source: string, i: number): readonly [text: string, next: number, opens: boolean] {
  const rest = source.slice(i)
  const named = /^\(\?(?:P<(\w+)>|'(\w+)'|<(\w+)>)/.exec(rest)
  if (named !== null) return [`(?<${named[1] ?? named[2] ?? named[3]}>`, i + named[0].length, true]
  const reference = /^\(\?P=(\w+)\)/.exec(rest)
  if (reference !== null) return [`\\k<${reference[1]}>`, i + reference[0].length, false]
  if (rest.startsWith('(?#')) {
    const end = source.indexOf(')', i)
    if (end < 0) throw invalid('missing ) after (?# comment')
    return ['', end + 1, false]
  }
  const [opening] = /^\((?:\?(?:<?[=!]|[^\s\w]))?/.exec(rest)!
  return [opening, i + opening.length, true]
}

/** @param i the index after the backslash */
function escapeAt(source: string, i: number): Piece {
  const char = source[i]
  if (char === undefined) throw invalid('\\ at end of pattern')
  switch (char) {
    case 'A':
      return [`(?<!${anyCharacter})`, i + 1]
    case 'z':
      return [atEnd, i + 1]
    case 'Z':
      return [`(?=\\n?${atEnd})`, i + 1]
    case 'N':
      return ['[^\\n]', i + 1]
    case 'R':
      return [`(?:\\r\\n|[${textOf(vertical)}])`, i + 1]
    case 'b':
    case 'B':
      return [`\\${char}`, i + 1]
    case 'Q': {
      const [text, next] = quotedAt(source, i + 1)
      return [escaped(text), next]
    }
    case 'E':
      return ['', i + 1]
    case 'k':
    case 'g':
      return referenceAt(source, i)
    default:
  }
  const number = /^[1-9]\d*/.exec(source.slice(i))?.[0]
  // A number of several digits is a character code if there are fewer groups than that.
  if (number !== undefined && (number.length === 1 || Number(number) <= groupCount(source)))
    return [`(?:\\${number})`, i + number.length]
  const set = escapedSet(char)
  return set === null ? characterOrProperty(source, i) : [`[${set}]`, i + 1]
}

function groupCount(source: string): number {
  return [...source.matchAll(/\\.|\((?:(?![?*])|\?(?:P?<[A-Za-z_]|'))/gs)].filter(([text]) => text.startsWith('('))
    .length
}

function referenceAt(source: string, i: number): Piece {
  const [whole, name, number] =
    /^(?:k(?:<(\w+)>|'\w+'|\{\w+\})|g\{?(\d+)\}?|g\{[a-zA-Z_]\w*\})/.exec(source.slice(i)) ?? []
  if (whole === undefined) throw invalid(`\\${source[i]} in this form is not supported`)
  return [number === undefined ? `\\k<${name ?? whole.slice(2, -1)}>` : `(?:\\${number})`, i + whole.length]
}

function quotedAt(source: string, i: number): Piece {
  const end = source.indexOf('\\E', i)
  return end < 0 ? [source.slice(i), source.length] : [source.slice(i, end), end + 2]
}

const escaped = (text: string): string =>
  text.replaceAll(/[-.*+?^${}()|[\]\\/]/g, (char) => literal(char.charCodeAt(0)))

const controls: Readonly<Record<string, number>> = { a: 0x07, e: 0x1b }

/** `\d`, `\p{L}`, `\x{263a}`, `\012`, `\-`: same meaning inside and outside of a class. */
function characterOrProperty(source: string, i: number): Piece {
  const char = source[i]!
  if (sameEverywhere.includes(char)) return [`\\${char}`, i + 1]
  if (Object.hasOwn(controls, char)) return [literal(controls[char]!), i + 1]
  if (char === 'p' || char === 'P') return propertyAt(source, i)
  const rest = source.slice(i, i + 16)
  const [whole, braced, hex, octal, plainOctal] =
    /^(?:x\{([0-9a-fA-F]+)\}|x([0-9a-fA-F]{0,2})|o\{([0-7]+)\}|([0-7]{1,3}))/.exec(rest) ?? []
  if (whole !== undefined) {
    const codePoint =
      braced !== undefined || hex !== undefined ? parseInt(braced ?? hex!, 16) || 0 : parseInt(octal ?? plainOctal!, 8)
    if (codePoint > 0x10ffff) throw invalid('character code point value in \\x{} or \\o{} is too large')
    return [literal(codePoint), i + whole.length]
  }
  if (char === 'c') {
    const control = source.charCodeAt(i + 1)
    if (!(control >= 0x20 && control < 0x7f)) throw invalid('\\c must be followed by a printable ASCII character')
    return [literal(source[i + 1]!.toUpperCase().charCodeAt(0) ^ 0x40), i + 2]
  }
  if ('CGKX'.includes(char)) throw invalid(`\\${char} is not supported`)
  if (/[A-Za-z0-9]/.test(char)) throw invalid('unrecognized character follows \\')
  const codePoint = source.codePointAt(i)!
  return [literal(codePoint), i + (codePoint > 0xffff ? 2 : 1)]
}

/** `\p{Lu}`, `\pL`, `\p{^L}`, `\p{Greek}`. */
function propertyAt(source: string, i: number): Piece {
  const found = /^([pP])(?:\{(\^?)([\w&]+)\}|([A-Z]))/.exec(source.slice(i))
  if (found === null) throw invalid('malformed \\P or \\p sequence')
  const [whole, letter, caret, braced, single] = found
  const name = single ?? braced!
  const property = name === 'L&' ? 'LC' : name
  const negated = (letter === 'P') !== (caret === '^')
  // Categories have at most two letters; longer names are scripts.
  const text = property === 'Any' || property.length <= 2 ? property : `Script=${property}`
  return [`\\${negated ? 'P' : 'p'}{${text}}`, i + whole.length]
}

function classAt(source: string, from: number): Piece {
  let i = from + 1
  let out = '['
  if (source[i] === '^') {
    out += '^'
    i++
  }
  // A closing bracket at the start is a literal.
  if (source[i] === ']') {
    out += '\\]'
    i++
  }
  /** A hyphen after a set is a literal: no range can begin there. */
  let afterSet = false
  for (; source[i] !== ']';) {
    const char = source[i]
    if (char === undefined) throw invalid('missing terminating ] for character class')
    const [text, next, isSet] = classItemAt(source, i, char)
    out += char === '-' && afterSet ? '\\-' : text
    afterSet = isSet
    i = next
  }
  return [`${out}]`, i + 1]
}

function classItemAt(source: string, i: number, char: string): readonly [text: string, next: number, isSet: boolean] {
  const posix = char === '[' ? /^\[:(\^?)(\w+):\]/.exec(source.slice(i, i + 16)) : null
  if (posix !== null) {
    const characters = posixClass(posix[2]!, posix[1] === '^')
    if (characters === null) throw invalid('unknown POSIX class name')
    return [characters, i + posix[0].length, true]
  }
  if (char === '[') return ['\\[', i + 1, false]
  if (char !== '\\') return [char, i + 1, false]
  const escape = source[i + 1]
  if (escape === undefined) throw invalid('\\ at end of pattern')
  if (escape === 'b') return ['\\b', i + 2, false]
  if (escape === 'E') return ['', i + 2, false]
  if (escape === 'Q') {
    const [text, next] = quotedAt(source, i + 2)
    return [escaped(text), next, false]
  }
  if ('BNRX'.includes(escape)) throw invalid('escape sequence is invalid in character class')
  const set = escapedSet(escape)
  if (set !== null) return [set, i + 2, true]
  const [text, next] = characterOrProperty(source, i + 1)
  return [text, next, 'dDwWpP'.includes(escape)]
}

/**
 * A tokenizer of TypeScript, exact enough to tell code from comments, strings, templates and
 * regular expressions. TypeScript 7 offers its parser only through entry points called unstable.
 */

export interface Token {
  readonly kind: 'name' | 'number' | 'string' | 'template' | 'regex' | 'punctuation'
  /**
   * As written. For a string the value without quotes, with its escapes; for a template one literal
   * piece.
   */
  readonly text: string
  /** From 1. */
  readonly line: number
}

/** A comment with its marks. */
export interface Comment {
  readonly text: string
  /** Line of its first character, from 1. */
  readonly line: number
  /** Characters before it on that line. */
  readonly column: number
}

const punctuation = [
  ...['>>>=', '...', '===', '!==', '**=', '<<=', '>>=', '&&=', '||=', '??='],
  ...[
    '=>',
    '==',
    '!=',
    '<=',
    '>=',
    '&&',
    '||',
    '??',
    '?.',
    '++',
    '--',
    '+=',
    '-=',
    '*=',
    '/=',
    '%=',
    '&=',
    '|=',
    '^=',
    '**',
  ],
]

/** After these words a slash begins a regular expression. */
const wordsBeforeExpression = new Set(
  'return typeof instanceof in of new delete void throw case do else await yield'.split(' '),
)

const nameStart = /[\p{L}\p{Nl}_$#@]/u
const namePattern = /[\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}_$#@\u200c\u200d]+/uy
const numberPattern = /(?:0[xXbBoO][\da-fA-F_]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:[eE][+-]?\d+)?\.?)n?/y
const regexPattern = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y

function matchAt(pattern: RegExp, text: string, position: number): string | null {
  pattern.lastIndex = position
  return pattern.exec(text)?.[0] ?? null
}

/** @throws Error naming the file and line where the text cannot be read. */
export function tokenize(text: string, path = 'text', onComment?: (comment: Comment) => void): Token[] {
  const tokens: Token[] = []
  /** For every open `{`, whether it is the `${` of a template. */
  const braces: boolean[] = []
  let position = text.startsWith('#!') ? text.indexOf('\n') : 0
  let line = 1

  const fail = (what: string): never => {
    throw new Error(`${path}:${line} ${what}`)
  }
  const push = (kind: Token['kind'], value: string): void => {
    tokens.push({ kind, text: value, line })
  }
  const advance = (to: number): void => {
    for (; position < to; position++) if (text[position] === '\n') line++
  }
  const skipComment = (end: number): void => {
    const column = position - (text.lastIndexOf('\n', position - 1) + 1)
    onComment?.({ text: text.slice(position, end), line, column })
    advance(end)
  }
  /** Whether the token before the position ends an operand, so that `/` divides and `!` asserts. */
  const afterOperand = (): boolean => {
    const last = tokens.at(-1)
    if (last === undefined) return false
    if (last.kind === 'name') return !wordsBeforeExpression.has(last.text)
    if (last.kind !== 'punctuation') return true
    return last.text === ')' || last.text === ']' || last.text === '}' || last.text === 'postfix !'
  }
  const readString = (quote: string): void => {
    let end = position + 1
    while (text[end] !== quote) {
      if (end >= text.length || text[end] === '\n') fail('a string that does not end')
      end += text[end] === '\\' ? 2 : 1
    }
    push('string', text.slice(position + 1, end))
    advance(end + 1)
  }
  /**
   * Reads from the position after a backtick or a closing placeholder brace to the next placeholder
   * or the end.
   */
  const readTemplate = (): void => {
    let end = position
    while (text[end] !== '`' && !text.startsWith('${', end)) {
      if (end >= text.length) fail('a template that does not end')
      end += text[end] === '\\' ? 2 : 1
    }
    push('template', text.slice(position, end))
    if (text[end] === '$') {
      braces.push(true)
      push('punctuation', '${')
    }
    advance(end + (text[end] === '$' ? 2 : 1))
  }

  while (position < text.length) {
    const character = text[position]!
    if (/\s/.test(character)) advance(position + 1)
    else if (text.startsWith('//', position))
      skipComment(text.indexOf('\n', position) < 0 ? text.length : text.indexOf('\n', position))
    else if (text.startsWith('/*', position)) {
      const end = text.indexOf('*/', position + 2)
      if (end < 0) fail('a comment that does not end')
      skipComment(end + 2)
    } else if (character === '"' || character === "'") readString(character)
    else if (character === '`') {
      advance(position + 1)
      readTemplate()
    } else if (/\d/.test(character) || (character === '.' && /\d/.test(text[position + 1] ?? ''))) {
      const number = matchAt(numberPattern, text, position) ?? character
      push('number', number)
      advance(position + number.length)
    } else if (nameStart.test(character)) {
      const name = matchAt(namePattern, text, position)!
      push('name', name)
      advance(position + name.length)
    } else if (character === '/' && !afterOperand()) {
      const regex = matchAt(regexPattern, text, position) ?? fail('a regular expression that does not end')
      push('regex', regex)
      advance(position + regex.length)
    } else if (character === '}' && braces.at(-1) === true) {
      braces.pop()
      push('punctuation', '}')
      advance(position + 1)
      readTemplate()
    } else {
      const mark = punctuation.find((candidate) => text.startsWith(candidate, position)) ?? character
      if (mark === '{') braces.push(false)
      if (mark === '}') braces.pop()
      push('punctuation', mark === '!' && afterOperand() ? 'postfix !' : mark)
      advance(position + mark.length)
    }
  }
  return tokens
}

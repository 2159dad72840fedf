import type { Token } from './tokens.js'

/** One import of a module by another. */
export interface Import {
  readonly specifier: string
  readonly line: number
  /** `url`: the first argument of `new URL(…, import.meta.url)`, as worker entries are named. */
  readonly form: 'static' | 'dynamic' | 'url'
  /**
   * Names between the braces, as the other module exports them; null when it is imported as a
   * whole, or for its effects.
   */
  readonly names: readonly string[] | null
}

const isMark = (token: Token | undefined, text: string): boolean => token?.kind === 'punctuation' && token.text === text
const isWord = (token: Token | undefined, text: string): boolean => token?.kind === 'name' && token.text === text

/**
 * `import` and `export … from` declarations, `import()` of a literal (types included),
 * `new URL(literal, …)`.
 */
export function importsOf(tokens: readonly Token[]): Import[] {
  const imports: Import[] = []
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!
    const next = tokens[i + 1]
    if (isMark(tokens[i - 1], '.') || token.kind !== 'name') continue
    if (token.text === 'new' && isWord(next, 'URL') && isMark(tokens[i + 2], '(') && tokens[i + 3]?.kind === 'string') {
      imports.push({ specifier: tokens[i + 3]!.text, line: token.line, form: 'url', names: null })
    } else if (token.text === 'import' && isMark(next, '(')) {
      const argument = tokens[i + 2]
      if (argument?.kind === 'string')
        imports.push({ specifier: argument.text, line: token.line, form: 'dynamic', names: null })
    } else if (token.text === 'import' && next?.kind === 'string') {
      imports.push({ specifier: next.text, line: token.line, form: 'static', names: null })
    } else if (
      token.text === 'import' ? next?.kind === 'name' || isMark(next, '{') || isMark(next, '*') : isReExport(tokens, i)
    ) {
      const from = clauseEnd(tokens, i + 1)
      const specifier = tokens[from + 1]
      if (isWord(tokens[from], 'from') && specifier?.kind === 'string') {
        imports.push({
          specifier: specifier.text,
          line: token.line,
          form: 'static',
          names: namesBetween(tokens, i + 1, from),
        })
      }
    }
  }
  return imports
}

function isReExport(tokens: readonly Token[], i: number): boolean {
  if (!isWord(tokens[i], 'export')) return false
  const next = isWord(tokens[i + 1], 'type') ? tokens[i + 2] : tokens[i + 1]
  return isMark(next, '{') || isMark(next, '*')
}

/** The index of `from`, or of the first token that is not part of an import clause. */
function clauseEnd(tokens: readonly Token[], start: number): number {
  let i = start
  for (let inBraces = false; i < tokens.length; i++) {
    const token = tokens[i]!
    if (isMark(token, '{')) inBraces = true
    else if (isMark(token, '}')) inBraces = false
    else if (!inBraces && token.text === 'from' && tokens[i + 1]?.kind === 'string') return i
    else if (token.kind !== 'name' && token.kind !== 'string' && !isMark(token, ',') && !isMark(token, '*')) return i
  }
  return i
}

function namesBetween(tokens: readonly Token[], start: number, end: number): string[] | null {
  const open = tokens.findIndex((token, i) => i >= start && i < end && isMark(token, '{'))
  if (open < 0 || open > start + 1) return null
  const names: string[] = []
  for (let i = open + 1; i < end && !isMark(tokens[i], '}'); i++) {
    const token = tokens[i]!
    const first = isMark(tokens[i - 1], '{') || isMark(tokens[i - 1], ',')
    if (first && isWord(token, 'type') && tokens[i + 1]?.kind === 'name') names.push(tokens[i + 1]!.text)
    else if (first && token.kind === 'name') names.push(token.text)
  }
  return names
}

/** `@scope/name/deep` gives `@scope/name`, `name/deep` gives `name`. */
export function packageOfSpecifier(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

/** Parses a translated pattern, which JavaScript has accepted: Unicode mode, without flag `m`. */

export interface RepeatNode {
  readonly kind: 'repeat'
  readonly body: PatternNode
  readonly min: number
  readonly max: number
  readonly lazy: boolean
  /** The groups inside, which each repetition empties. */
  readonly groups: readonly [from: number, to: number]
}

export type PatternNode =
  /** One character: a literal, an escape or a class. */
  | { readonly kind: 'set'; readonly text: string }
  | { readonly kind: 'sequence'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly options: readonly PatternNode[] }
  | { readonly kind: 'group'; readonly index: number; readonly body: PatternNode }
  | { readonly kind: 'look'; readonly body: PatternNode; readonly behind: boolean; readonly negated: boolean }
  | { readonly kind: 'reference'; readonly index: number }
  | { readonly kind: 'start' }
  | { readonly kind: 'boundary'; readonly negated: boolean }
  | RepeatNode

export interface PatternTree {
  readonly root: PatternNode
  readonly groupCount: number
  readonly hasReferences: boolean
}

const quantifier = /(?:[*+?]|\{(\d+)(,?)(\d*)\})(\??)/y
const classText = /\[(?:\\u\{[^}]*\}|\\[^]|[^\]\\])*\]/uy
const escapeText = /\\(?:u\{[^}]*\}|[pP]\{[^}]*\}|[^])/uy
const opening = /\((?:\?(?::|<?[=!]|<(\w+)>))?/y

export function parseTree(text: string): PatternTree {
  return new TreeParser(text).parse()
}

class TreeParser {
  readonly #text: string
  readonly #names: readonly (string | undefined)[]
  #at = 0
  #groups = 0
  #hasReferences = false

  constructor(text: string) {
    this.#text = text
    this.#names = [...text.matchAll(/\\[^]|\[(?:\\[^]|[^\]\\])*\]|\((?!\?)|\(\?<(\w+)>/gu)]
      .filter(([found]) => found.startsWith('('))
      .map(([, name]) => name)
  }

  parse(): PatternTree {
    const root = this.#choice()
    return { root, groupCount: this.#groups, hasReferences: this.#hasReferences }
  }

  #choice(): PatternNode {
    const options = [this.#sequence()]
    while (this.#text[this.#at] === '|') {
      this.#at++
      options.push(this.#sequence())
    }
    return options.length === 1 ? options[0]! : { kind: 'choice', options }
  }

  #sequence(): PatternNode {
    const items: PatternNode[] = []
    for (
      let char = this.#text[this.#at];
      char !== undefined && char !== '|' && char !== ')';
      char = this.#text[this.#at]
    ) {
      const before = this.#groups
      items.push(this.#quantified(this.#atom(char), before))
    }
    return items.length === 1 ? items[0]! : { kind: 'sequence', items }
  }

  #quantified(body: PatternNode, groupsBefore: number): PatternNode {
    const found = this.#match(quantifier)
    if (found === null) return body
    const [whole, least, comma, most, lazy] = found
    const min = least === undefined ? (whole[0] === '+' ? 1 : 0) : Number(least)
    const max =
      least === undefined
        ? whole[0] === '?'
          ? 1
          : Infinity
        : comma === ''
          ? min
          : most === ''
            ? Infinity
            : Number(most)
    return { kind: 'repeat', body, min, max, lazy: lazy === '?', groups: [groupsBefore, this.#groups] }
  }

  #atom(char: string): PatternNode {
    if (char === '(') return this.#group()
    if (char === '^') {
      this.#at++
      return { kind: 'start' }
    }
    if (char === '[') return { kind: 'set', text: this.#match(classText)![0] }
    if (char === '\\') return this.#escape()
    const literal = String.fromCodePoint(this.#text.codePointAt(this.#at)!)
    this.#at += literal.length
    return { kind: 'set', text: literal }
  }

  #group(): PatternNode {
    const [whole] = this.#match(opening)!
    const isCapturing = whole === '(' || whole.endsWith('>')
    const index = isCapturing ? ++this.#groups : 0
    const body = this.#choice()
    this.#at++
    if (isCapturing) return { kind: 'group', index, body }
    if (whole === '(?:') return body
    return { kind: 'look', body, behind: whole.includes('<'), negated: whole.endsWith('!') }
  }

  #escape(): PatternNode {
    const named = this.#match(/\\k<(\w+)>/y)
    const numbered = named === null ? this.#match(/\\([1-9]\d*)/y) : null
    if (named !== null || numbered !== null) {
      this.#hasReferences = true
      return { kind: 'reference', index: named === null ? Number(numbered![1]) : this.#names.indexOf(named[1]) + 1 }
    }
    const [text] = this.#match(escapeText)!
    return text === '\\b' || text === '\\B' ? { kind: 'boundary', negated: text === '\\B' } : { kind: 'set', text }
  }

  #match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#text)
    if (found !== null) this.#at = expression.lastIndex
    return found
  }
}

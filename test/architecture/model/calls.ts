import type { Token } from './tokens.js'

/** A declaration at the top level of a module; null: statements outside of one. */
export interface Declaration {
  readonly name: string | null
}

const declaring = new Set(['function', 'class', 'const', 'let'])

/**
 * The declarations that call, construct or extend something imported from the modules that match.
 * Calls of methods count for the object they begin with.
 */
export function calledImports(tokens: readonly Token[], matches: (specifier: string) => boolean): Declaration[] {
  const bindings = bindingsOf(tokens, matches)
  const found: Declaration[] = []
  let depth = 0
  let declaration: Declaration = { name: null }
  tokens.forEach(({ kind, text }, i) => {
    if (kind === 'punctuation') depth += '({['.includes(text) ? 1 : ')}]'.includes(text) ? -1 : 0
    if (kind !== 'name') return
    const next = tokens[i + 1]
    if (depth === 0 && declaring.has(text) && next?.kind === 'name') declaration = { name: next.text }
    if (!bindings.has(text)) return
    const before = tokens[i - 1]?.text
    if (before === 'new' || before === 'extends' || next?.text === '(') found.push(declaration)
  })
  return found
}

/** Local names of the imports, without those of types. */
function bindingsOf(tokens: readonly Token[], matches: (specifier: string) => boolean): Set<string> {
  const bindings = new Set<string>()
  tokens.forEach((token, i) => {
    if (token.text !== 'import' || token.kind !== 'name' || tokens[i + 1]?.text === 'type') return
    const from = tokens.findIndex(({ kind, text }, at) => at > i && kind === 'name' && text === 'from')
    const specifier = tokens[from + 1]
    if (from < 0 || specifier?.kind !== 'string' || !matches(specifier.text)) return
    tokens.slice(i + 1, from).forEach(({ kind, text }, at, clause) => {
      const isRenamed = clause[at + 1]?.text === 'as'
      if (kind === 'name' && clause[at - 1]?.text !== 'type' && text !== 'as' && text !== 'type' && !isRenamed)
        bindings.add(text)
    })
  })
  return bindings
}

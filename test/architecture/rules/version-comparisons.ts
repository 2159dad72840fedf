import type { Finding, Repository, SourceFile } from '../model/repository.js'
import type { Token } from '../model/tokens.js'

/** A version or series as people write it: 2.6, 4.4, 6.0.2. */
const versionText = /^v?(?:2\.[46]|3\.[0246]|4\.[0-4]|[5-8]\.[0-3])(?:\.\d+)?$/
/** What code calls an emulated version. */
const versionName = /^(?:emulate[ds]?|emulatedVersions?|serverVersion|mongoVersion|profileVersion|versionProfile)$/
const relations = new Set(['===', '!==', '==', '!=', '<', '>', '<=', '>='])
const orders = new Set(['<', '>', '<=', '>='])
const comparingMethods = new Set(['startsWith', 'localeCompare', 'indexOf', 'includes', 'has', 'match', 'test', 'at'])

/**
 * Which version behaves how is one table in `sharding`; code elsewhere asks for a behaviour by name (law 6).
 * Found are comparisons with a version as text, `case` labels and table keys that are versions, and orderings of
 * names that mean the emulated version.
 */
export function findVersionComparisons(repository: Repository): Finding[] {
  return repository.packages
    .filter(({ folder }) => folder !== 'sharding')
    .flatMap(({ sources }) => sources.flatMap(findingsOf))
}

function findingsOf(file: SourceFile): Finding[] {
  const tokens = file.tokens
  return tokens.flatMap((token, i): Finding[] => {
    const about =
      token.kind === 'string' && versionText.test(token.text)
        ? comparesText(tokens, i)
        : token.kind === 'name' && versionName.test(token.text) && comparesName(tokens, i)
    if (!about) return []
    return [
      {
        path: file.path,
        line: token.line,
        message: `compares the emulated version (${token.text}): ask @shardlab/sharding for a behaviour by name`,
      },
    ]
  })
}

const isMark = (token: Token | undefined, marks: ReadonlySet<string> | string): boolean =>
  token?.kind === 'punctuation' && (typeof marks === 'string' ? token.text === marks : marks.has(token.text))

function comparesText(tokens: readonly Token[], i: number): boolean {
  const previous = tokens[i - 1]
  const next = tokens[i + 1]
  if (isMark(previous, relations) || isMark(next, relations)) return true
  if (previous?.kind === 'name' && previous.text === 'case') return true
  if (isMark(next, ':') && (isMark(previous, '{') || isMark(previous, ','))) return true
  return isMark(previous, '(') && comparingMethods.has(tokens[i - 2]?.text ?? '')
}

function comparesName(tokens: readonly Token[], i: number): boolean {
  const next = tokens[i + 1]
  let start = i
  while (isMark(tokens[start - 1], '.') && tokens[start - 2]?.kind === 'name') start -= 2
  const previous = tokens[start - 1]
  if (isMark(next, orders) || isMark(previous, orders)) {
    // `<` after a type's name, as in Set<EmulatedVersion>, orders nothing: types begin with a capital.
    return /^[a-z]/.test(tokens[i]!.text) && !(isMark(previous, '<') && isMark(next, '>'))
  }
  return isMark(next, '.') && comparingMethods.has(tokens[i + 2]?.text ?? '') && tokens[i]!.text !== 'emulatedVersions'
}

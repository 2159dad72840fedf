import type { Finding, Repository, SourceFile } from '../model/repository.js'
import type { Token } from '../model/tokens.js'

/** The folders that may compare versions: the tables of behaviours and of the language. */
const tableFolders = ['packages/sharding/src/behaviours/', 'packages/query/src/language/']
/** Works on any server, and reads the version from its reply to `hello`. */
const clientFolders = ['packages/unique/src/driver/']
const exemptFolders = [...tableFolders, ...clientFolders]
/** A version or series: 2.6, 4.4, 6.0.2, and later ones such as 9.0 or 10.0. */
const versionText = /^v?(?:2\.[46]|3\.[0246]|4\.[0-4]|(?:[5-9]|[1-9]\d)\.[0-3])(?:\.\d+)?$/
/** Names of the emulated version, and of its wire version. */
const versionName =
  /^(?:emulate[ds]?|emulatedVersions?|serverVersion|mongoVersion|profileVersion|versionProfile|\w*[wW]ireVersion(?:Of\w+)?)$/
/** Lists of versions in the table: their content and order depend on the emulated version. */
const listName = /^(?:emulatedVersions|featureCompatibilityVersions)$/
const relations = new Set(['===', '!==', '==', '!=', '<', '>', '<=', '>='])
const orders = new Set(['<', '>', '<=', '>='])
const comparingMethods = new Set(['startsWith', 'localeCompare', 'indexOf', 'includes', 'has', 'match', 'test', 'at'])
/** Members of a list that depend on how many versions it has, or on their order. */
const positionalMembers = new Set(['length', 'indexOf', 'lastIndexOf', 'at', 'slice', 'findIndex'])

/**
 * Differences between versions are one table in `sharding`; other code asks for a behaviour by name
 * (law 6). The rule finds comparisons with a version as text, `case` labels and table keys that are
 * versions, orderings of names of the emulated version or a wire version (`Math.max` included), and
 * code that depends on the position of a version in a list of versions.
 */
export function findVersionComparisons(repository: Repository): Finding[] {
  return repository.packages.flatMap(({ sources }) =>
    sources.filter(({ path }) => !exemptFolders.some((folder) => path.startsWith(folder))).flatMap(findingsOf),
  )
}

function findingsOf(file: SourceFile): Finding[] {
  const tokens = file.tokens
  const lists = listNamesIn(tokens)
  return tokens.flatMap((token, i): Finding[] => {
    const isComparison =
      (token.kind === 'string' && versionText.test(token.text) && comparesText(tokens, i)) ||
      (token.kind === 'name' && versionName.test(token.text) && comparesName(tokens, i)) ||
      (token.kind === 'name' && lists.has(token.text) && usesPosition(tokens, i))
    if (!isComparison) return []
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
  const start = startOfPath(tokens, i)
  const previous = tokens[start - 1]
  if (isMark(next, orders) || isMark(previous, orders)) {
    // After a type's name, as in Set<EmulatedVersion>, `<` is not a comparison. Types begin with a
    // capital.
    return /^[a-z]/.test(tokens[i]!.text) && !(isMark(previous, '<') && isMark(next, '>'))
  }
  if (isArgumentOf(tokens, start, new Set(['max', 'min']))) return true
  return isMark(next, '.') && comparingMethods.has(tokens[i + 2]?.text ?? '') && tokens[i]!.text !== 'emulatedVersions'
}

/** The first token of `host.behaviours.name` for the position of `name`. */
function startOfPath(tokens: readonly Token[], i: number): number {
  let start = i
  while (isMark(tokens[start - 1], '.') && tokens[start - 2]?.kind === 'name') start -= 2
  return start
}

function isArgumentOf(tokens: readonly Token[], i: number, methods: ReadonlySet<string>): boolean {
  let depth = 0
  for (let at = i - 1; at >= 0 && i - at < 40; at--) {
    if (isMark(tokens[at], ')')) depth++
    else if (isMark(tokens[at], '(') && depth-- === 0)
      return isMark(tokens[at - 2], '.') && methods.has(tokens[at - 1]?.text ?? '')
  }
  return false
}

/** The names of lists of versions in a file, local names given to them included. */
function listNamesIn(tokens: readonly Token[]): Set<string> {
  const names = new Set<string>()
  tokens.forEach((token, i) => {
    if (token.kind !== 'name' || !listName.test(token.text)) return
    names.add(token.text)
    const start = startOfPath(tokens, i)
    const isAssigned = isMark(tokens[start - 1], '=') && !isMark(tokens[i + 1], '.') && !isMark(tokens[i + 1], '[')
    if (isAssigned && tokens[start - 2]?.kind === 'name') names.add(tokens[start - 2]!.text)
    if (isMark(tokens[i + 1], ':') && tokens[i + 2]?.kind === 'name') names.add(tokens[i + 2]!.text)
  })
  return names
}

function usesPosition(tokens: readonly Token[], i: number): boolean {
  if (isMark(tokens[i + 1], '.')) return positionalMembers.has(tokens[i + 2]?.text ?? '')
  return isMark(tokens[i + 1], '[') && tokens[i + 2]?.kind === 'number'
}

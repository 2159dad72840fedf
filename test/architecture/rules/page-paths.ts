import type { Finding, Repository } from '../model/repository.js'

const architecture = 'docs/ARCHITECTURE.md'

/**
 * A code span with a path of this repository or of the page's package; `src/mongo/` is the
 * server's.
 */
const pathSpan = /`((?:packages|test|docs|scripts|src)\/(?!mongo\/)[\w./-]+)`/g

/**
 * Paths that pages name exist. Decision records are left out: they keep the paths of their time.
 *
 * @param exists whether there is a file or folder at a path relative to the root
 */
export function findMissingPaths(repository: Repository, exists: (path: string) => boolean): Finding[] {
  const findings: Finding[] = []
  for (const { path, text } of repository.files.values()) {
    if (!path.endsWith('.md') || path.startsWith('docs/decisions/')) continue
    const ownFolder = /^packages\/[^/]+\//.exec(path)?.[0] ?? ''
    for (const match of text.matchAll(pathSpan)) {
      const named = match[1]!
      if (exists(named) || (ownFolder !== '' && exists(`${ownFolder}${named}`))) continue
      const line = text.slice(0, match.index).split('\n').length
      findings.push({ path, line, message: `names ${named}, which does not exist` })
    }
  }
  return findings
}

/**
 * The drawing of the floors in ARCHITECTURE.md has every package on its floor:
 * `5  shard  mongos   the roles`, names two spaces apart. A line without a number belongs to the
 * floor above it.
 */
export function findPackagesNotDrawn(repository: Repository): Finding[] {
  const drawn = new Map<string, number>()
  const [, drawing = ''] = repository.files.get(architecture)?.text.split('```\n') ?? []
  let current = NaN
  for (const [, floor, names] of drawing.matchAll(/^(?: ?(\d+)| {2}) {2,}(.+)$/gm)) {
    if (floor !== undefined) current = Number(floor)
    for (const name of names!.split(/ {3,}/)[0]!.split('  ')) drawn.set(name, current)
  }
  return repository.packages.flatMap(({ folder, floor }): Finding[] => {
    if (floor === undefined || drawn.get(folder) === floor) return []
    return [{ path: architecture, line: 0, message: `does not draw ${folder} on floor ${floor}` }]
  })
}

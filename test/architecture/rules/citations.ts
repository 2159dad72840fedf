import type { Finding, Repository, SourceFile } from '../model/repository.js'

const architecture = 'docs/ARCHITECTURE.md'

/** `law N`, `laws N and M`, also across lines of a comment. */
const lawCitation = /\blaws?[\s*/]+(\d+)(?:(?:,| and| or)[\s*/]+(\d+))?/gi

/** `(README, invariant N)`, `(README, invariants N and M)`, `(README of node, invariant N)`. */
const invariantCitation =
  /\(README(?:[\s*/]+of[\s*/]+([a-z-]+))?,[\s*/]+invariants?[\s*/]+(\d+)(?:(?:,| and| or)[\s*/]+(\d+))?/g

/** Laws and invariants that code and pages cite by number exist. */
export function findUnknownCitations(repository: Repository): Finding[] {
  const laws = numbersBelow(repository.files.get(architecture), 'Laws')
  const findings: Finding[] = []
  for (const { path, text } of repository.files.values()) {
    const check = (
      match: RegExpExecArray,
      cited: readonly (string | undefined)[],
      known: Set<string>,
      message: string,
    ) => {
      const line = text.slice(0, match.index).split('\n').length
      for (const number of cited)
        if (number !== undefined && !known.has(number))
          findings.push({ path, line, message: message.replace('#', number) })
    }
    for (const match of text.matchAll(lawCitation))
      check(match, match.slice(1), laws, `cites law #, which is not in ${architecture}`)
    for (const match of text.matchAll(invariantCitation)) {
      const readme = `packages/${match[1] ?? path.split('/')[1]!}/README.md`
      const invariants = numbersBelow(repository.files.get(readme), 'Invariants')
      check(match, match.slice(2), invariants, `cites invariant #, which is not in ${readme}`)
    }
  }
  return findings
}

/** Numbers of the list below a heading of a page. */
function numbersBelow(page: SourceFile | undefined, heading: string): Set<string> {
  const section = page?.text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  return new Set([...section.matchAll(/^(\d+)\. /gm)].map((match) => match[1]!))
}

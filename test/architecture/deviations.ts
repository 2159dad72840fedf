/** The page of deviations: written by hand, numbered, with a test for each entry. */
import type { Finding, Repository } from './model/repository.js'

export const deviationsPath = 'docs/reference/deviations.md'

export interface Deviation {
  /** `D101`. */
  readonly number: string
  readonly title: string
  /** The line of its heading, from 1. */
  readonly line: number
  /** Path of its test; null: none is named. */
  readonly test: string | null
}

/** The entries: headings `### D<number> title`, each followed by a line `Test: path`. */
export function parseDeviations(text: string): Deviation[] {
  const found: { number: string; title: string; line: number; test: string | null }[] = []
  text.split('\n').forEach((line, index) => {
    const heading = /^### (D\d+) (.+)$/.exec(line)
    if (heading !== null) found.push({ number: heading[1]!, title: heading[2]!, line: index + 1, test: null })
    const test = /^Test: `?([^`\s]+)`?\s*$/.exec(line)
    if (test !== null && found.length > 0) found.at(-1)!.test ??= test[1]!
  })
  return found
}

/** Numbers are unique, and each entry names a test that contains its number. */
export function findUnprovenDeviations(repository: Repository): Finding[] {
  const page = repository.files.get(deviationsPath)
  if (page === undefined) return [{ path: deviationsPath, line: 0, message: 'is missing' }]
  const seen = new Set<string>()
  const findings: Finding[] = []
  for (const { number, line, test } of parseDeviations(page.text)) {
    const object = (message: string) => findings.push({ path: deviationsPath, line, message: `${number} ${message}` })
    if (seen.has(number)) object('is given twice')
    seen.add(number)
    if (test === null) object('names no test')
    else if (!(repository.files.get(test)?.text ?? '').match(new RegExp(`\\b${number}\\b`)))
      object(`is not named in ${test}`)
  }
  return findings
}

/** The list of entries for the compatibility page. */
export function deviationSection(text: string): string[] {
  const entries = parseDeviations(text)
  if (entries.length === 0) return []
  return [
    '## Deviations',
    '',
    'Supported features that differ from the server, each with a test. The texts are in',
    '[deviations](deviations.md).',
    '',
    ...entries.map(({ number, title }) => `- ${number} ${title}`),
    '',
  ]
}

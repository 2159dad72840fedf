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
  /** Title and body. */
  readonly text: string
}

/** The entries: headings `### D<number> title`, each followed by a line `Test: path`. */
export function parseDeviations(text: string): Deviation[] {
  const found: { number: string; title: string; line: number; test: string | null; text: string }[] = []
  text.split('\n').forEach((line, index) => {
    const heading = /^### (D\d+) (.+)$/.exec(line)
    if (heading !== null)
      found.push({ number: heading[1]!, title: heading[2]!, line: index + 1, test: null, text: heading[2]! })
    else if (found.length > 0 && !line.startsWith('#') && !line.startsWith('Test:')) found.at(-1)!.text += `\n${line}`
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

/** A link from another page of docs/reference to the entry, as its heading's anchor. */
export function deviationLink({ number, title }: Pick<Deviation, 'number' | 'title'>): string {
  const anchor = `${number} ${title}`
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-')
  return `[${number}](${deviationsPath.split('/').at(-1)!}#${anchor})`
}

/** The table of entries for the compatibility page, with the rows that link each. */
export function deviationSection(
  text: string,
  rows: readonly { readonly name: string; readonly deviations?: readonly string[] }[],
): string[] {
  const entries = parseDeviations(text)
  if (entries.length === 0) return []
  const linking = (number: string) =>
    new Set(rows.filter(({ deviations }) => deviations?.includes(number)).map(({ name }) => `\`${name}\``))
  return [
    '## Deviations',
    '',
    'Supported features that differ from the server, each with a test.',
    '',
    '| number | difference | commands and operators |',
    '| --- | --- | --- |',
    ...entries.map((entry) =>
      ['|', deviationLink(entry), '|', entry.title, '|', [...linking(entry.number)].sort().join(', '), '|'].join(' '),
    ),
    '',
  ]
}

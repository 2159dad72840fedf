import type { Finding, Repository } from '../model/repository.js'

const longestFileLines = 400
const longestWorkerEntryLines = 10
const readmeHeadings = ['Role', 'Where MongoDB does this', 'Entry points', 'Invariants', 'How to test']

/** Files that may be longer, each with the reason. */
export const longFiles: Readonly<Record<string, string>> = {}

/** One mechanism, one file: no file over 400 lines, and no exception that is not needed. */
export function findLongFiles(repository: Repository, exceptions = longFiles): Finding[] {
  const findings: Finding[] = []
  for (const { path, text } of repository.files.values()) {
    if (!/\.(ts|mjs)$/.test(path)) continue
    const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
    const excepted = Object.hasOwn(exceptions, path)
    if (lines > longestFileLines && !excepted) {
      findings.push({
        path,
        line: 0,
        message: `has ${lines} lines, more than ${longestFileLines}: split it by mechanism`,
      })
    }
    if (lines <= longestFileLines && excepted)
      findings.push({ path, line: 0, message: 'is short enough: take it off the list longFiles' })
  }
  return findings
}

/** Every package has a README.md with the five headings, in the same order. */
export function findIncompleteReadmes(repository: Repository): Finding[] {
  return repository.packages.flatMap((workspace): Finding[] => {
    const path = `${workspace.path}/README.md`
    const text = repository.files.get(path)?.text
    if (text === undefined)
      return [{ path, line: 0, message: `is missing; its headings are ${readmeHeadings.join(', ')}` }]
    const headings = [...text.matchAll(/^##? (.+)$/gm)].map((match) => match[1]!.trim())
    const found = headings.filter((heading) => readmeHeadings.includes(heading))
    return found.join() === readmeHeadings.join()
      ? []
      : [{ path, line: 0, message: `must have the headings ${readmeHeadings.join(', ')}, in this order` }]
  })
}

/** The invariants of a README are numbered from 1, so that code and tests can cite them. */
export function findUnnumberedInvariants(repository: Repository): Finding[] {
  return repository.packages.flatMap((workspace): Finding[] => {
    const path = `${workspace.path}/README.md`
    const section = /^## Invariants\n(.*?)(?=^## |(?![^]))/ms.exec(repository.files.get(path)?.text ?? '')?.[1] ?? ''
    const marks = [...section.matchAll(/^(?:[-*+]|\d+\.) /gm)].map(([mark]) => mark)
    if (marks.every((mark, i) => mark === `${i + 1}. `)) return []
    return [{ path, line: 0, message: 'must number its invariants from 1, without gaps' }]
  })
}

/** A worker's entry only binds a role to a runtime. */
export function findLongWorkerEntries(repository: Repository): Finding[] {
  return [...repository.files.values()]
    .filter(({ path }) => path.endsWith('.worker.ts'))
    .flatMap(({ path, tokens }): Finding[] => {
      const lines = new Set(tokens.map((token) => token.line)).size
      if (lines <= longestWorkerEntryLines) return []
      return [
        {
          path,
          line: 0,
          message: `has ${lines} lines of code, more than ${longestWorkerEntryLines}: a worker entry only binds a role to the runtime`,
        },
      ]
    })
}

import type { Row } from '../model/command-tables.js'
import type { Finding } from '../model/repository.js'
import { deviationsPath, parseDeviations } from '../deviations.js'
import type { OperatorEntry } from '../operators.js'

type Linking = Pick<Row | OperatorEntry, 'name' | 'deviations'>

/**
 * The commands and operators that an entry names: operators and commands with a capital letter
 * anywhere, other commands in code spans, since `find` and `split` are also words.
 */
export function namesIn(text: string, commands: Iterable<string>, operators: Iterable<string>): string[] {
  const spans = new Set([...text.matchAll(/`([^`\s:]+)/g)].map(([, name]) => name!))
  const words = new Set([...text.matchAll(/(?<![$\w.])[a-z]\w*[A-Z]\w*/g)].map(([word]) => word))
  const dollars = new Set([...text.matchAll(/\$\w+/g)].map(([name]) => name))
  return [
    ...[...commands].filter((name) => spans.has(name) || words.has(name)),
    ...[...operators].filter((name) => dollars.has(name)),
  ]
}

/**
 * Rows link existing entries, and each command or operator that an entry names has a row that links
 * it.
 */
export function findUnlinkedDeviations(
  page: string,
  commands: readonly Linking[],
  operators: readonly Linking[],
): Finding[] {
  const entries = parseDeviations(page)
  const known = new Set(entries.map(({ number }) => number))
  const finding = (line: number, message: string): Finding => ({ path: deviationsPath, line, message })
  const linked = new Map<string, Set<string>>()
  const findings: Finding[] = []
  for (const { name, deviations = [] } of [...commands, ...operators]) {
    const all = linked.get(name) ?? new Set()
    linked.set(name, all)
    for (const number of deviations) {
      all.add(number)
      if (!known.has(number)) findings.push(finding(0, `the row '${name}' links ${number}, which does not exist`))
    }
  }
  const names = (rows: readonly Linking[]) => new Set(rows.map(({ name }) => name))
  for (const { number, line, text } of entries)
    for (const name of namesIn(text, names(commands), names(operators)))
      if (linked.get(name)?.has(number) !== true)
        findings.push(finding(line, `${number} names ${name}, whose row does not link it`))
  return findings
}

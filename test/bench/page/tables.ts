/** The generated parts of docs/internals/performance.md: everything between two markers. */
import type { BenchResult, BenchRow } from '../bench.js'

/** All runs of one bench, in their order. */
export interface Measured {
  /** Of its markers. */
  readonly name: string
  /** What to type to run it alone. */
  readonly command: string
  readonly runs: readonly BenchResult[]
}

export interface FailedRun {
  readonly name: string
  readonly run: number
  readonly reason: string
}

/** One series of measurements: one commit on one machine, one bench after the other. */
export interface Sitting {
  readonly beganAt: string
  readonly endedAt: string
  readonly commit: string
  readonly machine: string
  /** Of the machine, before each run of a bench. */
  readonly loadAverages: readonly number[]
  readonly measured: readonly Measured[]
  readonly failed: readonly FailedRun[]
}

/** The part that says when and where the others were measured. */
export const sittingPart = 'sitting'

const beginOf = (name: string): string => `<!-- measured: ${name} -->`
const end = '<!-- end -->'

export function partsOf(page: string): string[] {
  return [...page.matchAll(/^<!-- measured: (.+) -->$/gm)].map((match) => match[1]!)
}

/**
 * The page with the parts of the sitting.
 * @throws when a bench has no part on the page
 */
export function withSitting(page: string, sitting: Sitting): string {
  let text = withPart(page, sittingPart, descriptionOf(sitting))
  for (const measured of sitting.measured) text = withPart(text, measured.name, tableOf(measured))
  return text
}

function withPart(page: string, name: string, lines: readonly string[]): string {
  const begin = page.indexOf(`${beginOf(name)}\n`)
  const at = begin + beginOf(name).length + 1
  const until = page.indexOf(end, at)
  if (begin < 0 || until < 0) throw new Error(`the page has no part for ${name}: ${beginOf(name)} … ${end}`)
  return `${page.slice(0, at)}\n${lines.join('\n')}\n\n${page.slice(until)}`
}

function descriptionOf({ beganAt, endedAt, commit, machine, loadAverages, measured, failed }: Sitting): string[] {
  const loads = loadAverages.map((load) => load.toFixed(2)).sort()
  return [
    '| | |',
    '| --- | --- |',
    `| measured | ${beganAt} to ${endedAt}, UTC |`,
    `| commit | ${commit} |`,
    `| machine | ${cell(machine)} |`,
    `| load average before each run | ${loads[0]} to ${loads.at(-1)} |`,
    `| runs of each bench | ${measured.map(({ name, runs }) => `${name} ${runs.length}`).join(', ')} |`,
    ...failed.map(({ name, run, reason }) => `| failed: ${name}, run ${run} | ${cell(reason)} |`),
  ]
}

function tableOf({ command, runs }: Measured): string[] {
  const [first] = runs
  if (first === undefined) return [`\`${command}\` failed in each run: see the top of the page.`]
  const rows = rowsOf(runs)
  const hasGoals = rows.some(({ goal }) => goal !== undefined)
  return [
    `\`${command}\`: ${first.title}.`,
    '',
    row(['', ...runs.map((_, run) => `run ${run + 1}`), ...(hasGoals ? ['goal'] : [])]),
    row(['---', ...runs.map(() => '---'), ...(hasGoals ? ['---'] : [])]),
    ...rows.map(({ name: title, values, goal }) => row([title.trim(), ...values, ...(hasGoals ? [goal ?? ''] : [])])),
    '',
    first.note,
  ].flatMap((line) => (line.startsWith('|') ? [line] : wrapped(line)))
}

interface Row {
  readonly name: string
  readonly goal: string | undefined
  /** One for each run; empty for a run without this row. */
  readonly values: string[]
}

/** Rows by name; rows of the same name, which are under different headings, by their order. */
function rowsOf(runs: readonly BenchResult[]): Row[] {
  const rows = new Map<string, Row>()
  for (const [run, result] of runs.entries()) {
    const seen = new Map<string, number>()
    for (const each of result.rows) {
      const { name, goal } = each
      const nth = seen.get(name) ?? 0
      seen.set(name, nth + 1)
      const key = `${nth} ${name}`
      const known = rows.get(key) ?? { name, goal, values: runs.map(() => '') }
      rows.set(key, known)
      known.values[run] = cellText(each)
    }
  }
  return [...rows.values()]
}

const cellText = ({ value, isMissed = false }: BenchRow): string => (isMissed ? `${value}, **missed**` : value)

const row = (cells: readonly string[]): string =>
  `|${cells.map((text) => (text === '' ? ' ' : ` ${cell(text)} `)).join('|')}|`

const cell = (text: string): string => text.replaceAll('|', '\\|')

const widthMax = 100

/** Prose is wrapped as in the rest of the page. */
function wrapped(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line !== '' && line.length + 1 + word.length > widthMax) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}

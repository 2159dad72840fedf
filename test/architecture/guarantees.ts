import {
  anomalies,
  anomalyTexts,
  cellsOf,
  faults,
  faultTexts,
  isExcluded,
  runs,
  type Anomaly,
  type Cell,
} from '../guarantees/cells.js'
import { seedOf, type Results } from '../guarantees/results.js'

/** The content of docs/reference/guarantees.md, without the notice. */
export function guaranteesPage(results: Results): string[] {
  return [
    '# What concerns guarantee',
    '',
    'A document of a sharded cluster is changed by one writer, and read by a client for each read',
    'concern and read preference, outside of sessions, while a fault strikes the set of three members',
    'that owns it. The table shows which anomalies occur.',
    '',
    ...anomalies.map((anomaly) => `- **${anomaly}**: ${anomalyTexts[anomaly]}`),
    '',
    '| fault | what happens |',
    '| --- | --- |',
    ...faults.map((fault) => `| ${fault} | ${faultTexts[fault]} |`),
    '',
    'A number is the seed of a simulation in which the anomaly occurs; `never` means that the manual',
    'excludes it, and a dash that the manual permits it and no simulation had it. The profile is 7.0. A',
    'test plays the seeds, and fails when a simulation has an anomaly that the manual excludes.',
    '`node test/dist/guarantees/main.js --seeds 20 --write` searches again.',
    '',
    `| write concern | fault | read concern | read preference | ${anomalies.join(' | ')} |`,
    `| --- | --- | --- | --- | ${anomalies.map(() => '---').join(' | ')} |`,
    ...runs.flatMap(cellsOf).map((cell) => row(results, cell)),
    '',
  ]
}

function row(results: Results, cell: Cell): string {
  const { writeConcern, fault, readConcern, readPreference } = cell
  const columns = anomalies.map((anomaly) => textOf(results, cell, anomaly))
  return `| ${writeConcern} | ${fault} | ${readConcern} | ${readPreference} | ${columns.join(' | ')} |`
}

function textOf(results: Results, cell: Cell, anomaly: Anomaly): string {
  const seed = seedOf(results, cell, anomaly)
  if (seed !== undefined) return String(seed)
  return isExcluded(cell, anomaly) ? 'never' : '–'
}

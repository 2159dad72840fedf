import { anomalies, anomalyTexts, faults, faultTexts, type Cell } from '../guarantees/cells.js'
import { seedOf, type Results } from '../guarantees/results.js'
import type { Table } from '../guarantees/table.js'
import { concernsTable, transactionsTable } from '../guarantees/tables.js'
import { transactionAnomalies, transactionAnomalyTexts, type TransactionCell } from '../guarantees/transaction-cells.js'

/** The content of docs/reference/guarantees.md, without the notice. */
export function guaranteesPage(results: Results): string[] {
  return [
    '# What concerns guarantee',
    '',
    'Which anomalies an application can see, for each write concern, read concern, read preference and',
    'fault. The results come from simulations: one writer changes a document of a sharded cluster, and',
    'clients read it outside of sessions, while a fault breaks the set of three members that owns it.',
    '',
    ...anomalies.map((anomaly) => `- **${anomaly}**: ${anomalyTexts[anomaly]}`),
    '',
    '| fault | what happens |',
    '| --- | --- |',
    ...faults.map((fault) => `| ${fault} | ${faultTexts[fault]} |`),
    '',
    '| cell | meaning |',
    '| --- | --- |',
    '| a number | the anomaly occurs: the seed of a simulation that has it |',
    '| never | the manual excludes the anomaly |',
    '| – | the manual permits the anomaly, and no simulation had it |',
    '',
    'The version is 7.0. A test repeats the simulations, and fails if one has an anomaly that the manual',
    'excludes. `node test/dist/guarantees/main.js --seeds 20 --write` searches again.',
    '',
    ...tableOf(concernsTable, results, ['write concern', 'fault', 'read concern', 'read preference'], columnsOf),
    '',
    '## Transactions',
    '',
    'A writer appends each number to two documents on two shards in one transaction, which commits with',
    'the write concern of the row. Readers read both documents, in a transaction that commits with a',
    'majority, or outside of one. The fault breaks the shard of the second document.',
    '',
    ...transactionAnomalies
      .filter((anomaly) => !(anomaly in anomalyTexts))
      .map((anomaly) => `- **${anomaly}**: ${transactionAnomalyTexts[anomaly]}`),
    '',
    'Only read concern snapshot reads all shards at the same point in time. Without it, a transaction',
    'that reads on two shards may see one half of another transaction.',
    '',
    ...tableOf(transactionsTable, results, ['write concern', 'fault', 'read concern', 'reader'], transactionColumnsOf),
    '',
  ]
}

const columnsOf = ({ writeConcern, fault, readConcern, readPreference }: Cell): string[] => [
  writeConcern,
  fault,
  readConcern,
  readPreference,
]

const transactionColumnsOf = ({ writeConcern, fault, readConcern, kind }: TransactionCell): string[] => [
  writeConcern,
  fault,
  readConcern,
  kind,
]

function tableOf<R, C, A extends string>(
  table: Table<R, C, A>,
  results: Results,
  titles: readonly string[],
  columns: (cell: C) => string[],
): string[] {
  const header = [...titles, ...table.anomalies]
  const line = (texts: readonly string[]): string => `| ${texts.join(' | ')} |`
  return [
    line(header),
    line(header.map(() => '---')),
    ...table.runs
      .flatMap((run) => table.cellsOf(run))
      .map((cell) => line([...columns(cell), ...table.anomalies.map((each) => textOf(table, results, cell, each))])),
  ]
}

function textOf<R, C, A extends string>(table: Table<R, C, A>, results: Results, cell: C, anomaly: A): string {
  const seed = seedOf(results, table.nameOf(cell), anomaly)
  if (seed !== undefined) return String(seed)
  return table.isExcluded(cell, anomaly) ? 'never' : '–'
}

import { anomalies, cellsOf, isExcluded, nameOf, runs, type Anomaly, type Cell, type Run } from './cells.js'
import { play } from './play.js'
import type { Table } from './table.js'
import {
  isExcludedInTransactions,
  transactionAnomalies,
  transactionCellsOf,
  transactionNameOf,
  type TransactionAnomaly,
  type TransactionCell,
} from './transaction-cells.js'
import { playTransactions } from './transaction-play.js'

const titleOf = ({ writeConcern, fault }: Run): string => `w: ${writeConcern}, ${fault}`

export const concernsTable: Table<Run, Cell, Anomaly> = {
  name: 'concerns',
  runs,
  anomalies,
  cellsOf,
  isExcluded,
  nameOf,
  titleOf,
  play,
}

export const transactionsTable: Table<Run, TransactionCell, TransactionAnomaly> = {
  name: 'transactions',
  runs,
  anomalies: transactionAnomalies,
  cellsOf: transactionCellsOf,
  isExcluded: isExcludedInTransactions,
  nameOf: transactionNameOf,
  titleOf: (run) => `transactions, ${titleOf(run)}`,
  play: playTransactions,
}

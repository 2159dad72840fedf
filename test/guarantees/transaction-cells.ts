/**
 * Which anomalies the manual excludes in transactions: core/transactions,
 * core/transactions-sharded-clusters, reference/read-concern-snapshot.
 */
import { anomalyTexts, hasRollback, type Run } from './cells.js'

export const transactionReadConcerns = ['local', 'majority', 'snapshot'] as const
export const readerKinds = ['transaction', 'outside'] as const
export const transactionAnomalies = ['lost', 'dirty', 'torn', 'stale', 'backwards', 'orphan'] as const

export type TransactionAnomaly = (typeof transactionAnomalies)[number]

export const transactionAnomalyTexts: Readonly<Record<TransactionAnomaly, string>> = {
  ...anomalyTexts,
  torn: 'a read returns one of the two writes of a transaction',
}

export interface TransactionReader {
  readonly readConcern: (typeof transactionReadConcerns)[number]
  readonly kind: (typeof readerKinds)[number]
}

/** The write concern of a run is that of the commit. */
export type TransactionCell = Run & TransactionReader

export const transactionReaders: readonly TransactionReader[] = readerKinds.flatMap((kind) =>
  transactionReadConcerns.map((readConcern) => ({ readConcern, kind })),
)

export const transactionCellsOf = (run: Run): TransactionCell[] =>
  transactionReaders.map((reader) => ({ ...run, ...reader }))

/** Readers commit with a majority, so their reads are committed as their read concern says. */
export function isExcludedInTransactions(cell: TransactionCell, anomaly: TransactionAnomaly): boolean {
  const { writeConcern, readConcern } = cell
  switch (anomaly) {
    case 'lost':
      return writeConcern === 'majority' || !hasRollback(cell)
    case 'dirty':
      return readConcern !== 'local' || !hasRollback(cell)
    case 'torn':
      return readConcern === 'snapshot'
    case 'orphan':
      return true
    case 'stale':
    case 'backwards':
      // A shard may learn the decision of a commit after the client; reads outside of causally
      // consistent sessions do not wait for it.
      return false
  }
}

export const transactionNameOf = ({ writeConcern, readConcern, kind, fault }: TransactionCell): string =>
  `transactions, w: ${writeConcern}, ${readConcern}, ${kind}, ${fault}`

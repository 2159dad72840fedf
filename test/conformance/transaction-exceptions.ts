import type { Exception } from './exception.js'

const tests: Readonly<Record<string, readonly string[]>> = {
  'client-bulkWrite': ['client writeConcern ignored for client bulkWrite in transaction'],
  delete: ['collection writeConcern ignored for delete'],
  'error-labels-errorLabels': [
    'add RetryableWriteError and UnknownTransactionCommitResult labels to writeConcernError ShutdownInProgress',
  ],
  'error-labels': [
    'add UnknownTransactionCommitResult label to writeConcernError WriteConcernTimeout',
    'add UnknownTransactionCommitResult label to writeConcernError WriteConcernTimeout with wtimeout',
    'omit UnknownTransactionCommitResult label from writeConcernError UnsatisfiableWriteConcern',
    'omit UnknownTransactionCommitResult label from writeConcernError UnknownReplWriteConcern',
    'add UnknownTransactionCommitResult label to MaxTimeMSExpired',
    'add UnknownTransactionCommitResult label to writeConcernError MaxTimeMSExpired',
  ],
  findOneAndDelete: ['collection writeConcern ignored for findOneAndDelete'],
  findOneAndReplace: ['collection writeConcern ignored for findOneAndReplace'],
  findOneAndUpdate: ['collection writeConcern ignored for findOneAndUpdate'],
  insert: ['collection writeConcern ignored for insert'],
  'mongos-recovery-token-errorLabels': ['commitTransaction retry succeeds on new mongos'],
}

const withWtimeout = Object.entries(tests).map(([name, some]): Exception => ({
  path: `transactions/unified/${name}.json`,
  tests: some,
  kind: 'driver',
  reason: 'the driver adds a wtimeout to the write concern of every commit',
}))

export const transactionExceptions: readonly Exception[] = [
  ...withWtimeout,
  {
    path: 'transactions/unified/client-bulkWrite.json',
    tests: ['client bulkWrite with writeConcern in a transaction causes a transaction error'],
    kind: 'driver',
    reason: 'the driver drops the write concern of a bulkWrite in a transaction',
  },
  {
    path: 'transactions/unified/mongos-pin-auto.json',
    tests: ['unpin after transient ShutdownInProgress error on clientBulkWrite bulkWrite'],
    kind: 'driver',
    reason: 'the driver hides the labels of the error of a bulkWrite',
  },
]

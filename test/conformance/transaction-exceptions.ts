import type { Exception } from './exception.js'

const tests: Readonly<Record<string, readonly string[]>> = {
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
}

export const transactionExceptions: readonly Exception[] = Object.entries(tests).map(([name, some]) => ({
  path: `transactions/unified/${name}.json`,
  tests: some,
  kind: 'driver',
  reason: 'the driver adds a wtimeout to the write concern of every commit',
}))

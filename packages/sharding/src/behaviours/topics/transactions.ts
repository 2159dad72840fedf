/** Multi-document transactions. */
import { row } from '../row.js'

export const transactionBehaviours = {
  transactions: row<boolean>(
    'Members of replica sets run multi-document transactions.',
    'core/transactions, new in 4.0',
    ['2.6', false],
    ['4.0', true],
  ),
  shardedTransactions: row<boolean>(
    'Routers run transactions on sharded clusters.',
    'core/transactions, new in 4.2',
    ['2.6', false],
    ['4.4', true],
  ),
  writeConcernsHaveProvenance: row<boolean>(
    'Write concerns in replies name their source.',
    'write_concern_options.cpp since 4.4, ReadWriteConcernProvenance',
    ['2.6', false],
    ['4.4', true],
  ),
  largeTransactions: row<boolean>(
    'The operations of a transaction may need several oplog entries of 16 MB.',
    'core/transactions-production-consideration, Oplog Size Limit, since 4.2',
    ['2.6', false],
    ['4.4', true],
  ),
  transactionsCreateCollections: row<boolean>(
    'Transactions may create collections and indexes.',
    'core/transactions, Create Collections and Indexes In a Transaction, new in 4.4',
    ['2.6', false],
    ['4.4', true],
  ),
  createTakesIntentLocks: row<boolean>(
    'create and createIndexes wait for no transaction if everything exists already.',
    'create_collection.cpp and create_indexes.cpp since 4.2',
    ['2.6', false],
    ['4.4', true],
  ),
  transactionsHaveRetryCounters: row<boolean>(
    'currentOp shows the retry counter of a transaction whose commit a shard coordinates.',
    'transaction_coordinator.cpp since 5.1, TxnNumberAndRetryCounter',
    ['2.6', false],
    ['6.0.2', true],
  ),
  transactionTextsAreStructured: row<boolean>(
    'Errors show the number of a transaction as a document.',
    'transaction_participant.cpp since 5.1, TxnNumberAndRetryCounter',
    ['2.6', false],
    ['6.0.2', true],
  ),
}

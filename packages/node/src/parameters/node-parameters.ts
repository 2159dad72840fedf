import type { ParameterOwner, ParameterRow } from '@shardlab/member'
import { balancerParameters } from './balancer-parameters.js'
import { reshardingParameters } from './resharding-parameters.js'

const runtime = { settableAtRuntime: true, settableAtStartup: true } as const
const startup = { settableAtRuntime: false, settableAtStartup: true } as const
const intMax = 0x7fff_ffff

interface Owner extends ParameterOwner {
  readonly featureCompatibilityVersion: string
}

export const nodeParameters = [
  ...balancerParameters,
  {
    name: 'coordinateCommitReturnImmediatelyAfterPersistingDecision',
    type: 'bool',
    initial: false,
    ...runtime,
    behaviour: 'shardedTransactions',
  },
  { name: 'createRollbackDataFiles', type: 'bool', initial: true, ...runtime },
  {
    name: 'featureCompatibilityVersion',
    type: 'document',
    initial: '',
    settableAtRuntime: false,
    settableAtStartup: false,
    behaviour: 'featureCompatibilityVersionCanBeSet',
    write: (writer, name, host) =>
      void writer.startDocument(name).string('version', host.featureCompatibilityVersion).end(),
  },
  { name: 'internalQueryExecYieldIterations', type: 'int', initial: 1000, ...runtime },
  { name: 'internalQueryExecYieldPeriodMS', type: 'int', initial: 10, min: 0, ...runtime },
  { name: 'KeysRotationIntervalSec', type: 'int', initial: 7_776_000, min: 1, ...startup },
  { name: 'maxCatchUpPercentageBeforeBlockingWrites', type: 'int', initial: 10, ...startup },
  {
    name: 'maxNumberOfTransactionOperationsInSingleOplogEntry',
    type: 'int',
    initial: intMax,
    min: 1,
    ...runtime,
    behaviour: 'largeTransactions',
  },
  {
    name: 'maxTransactionLockRequestTimeoutMillis',
    type: 'int',
    initial: 5,
    ...runtime,
    behaviour: 'transactions',
  },
  {
    name: 'metadataRefreshInTransactionMaxWaitBehindCritSecMS',
    type: 'int',
    initial: 500,
    min: 0,
    ...runtime,
    behaviour: 'shardedTransactions',
  },
  {
    name: 'migrationLockAcquisitionMaxWaitMS',
    type: 'int',
    initial: 500,
    ...runtime,
    behaviour: 'shardedTransactions',
  },
  { name: 'migrateCloneInsertionBatchSize', type: 'int', initial: 0, min: 0, ...runtime },
  {
    name: 'minSnapshotHistoryWindowInSeconds',
    type: 'int',
    initial: 300,
    min: 0,
    ...runtime,
    behaviour: 'snapshotReads',
  },
  { name: 'notablescan', type: 'bool', initial: false, ...runtime },
  { name: 'orphanCleanupDelaySecs', type: 'int', initial: 900, ...runtime },
  { name: 'rangeDeleterBatchDelayMS', type: 'int', initial: 20, min: 0, ...runtime },
  { name: 'rangeDeleterBatchSize', type: 'int', initial: intMax, min: 0, ...runtime },
  { name: 'receiveChunkWaitForRangeDeleterTimeoutMS', type: 'int', initial: 10_000, min: 0, ...runtime },
  {
    name: 'periodicNoopIntervalSecs',
    type: 'int',
    initial: 10,
    above: 0,
    max: 10,
    ...startup,
    behaviour: 'periodicNoops',
  },
  ...reshardingParameters,
  {
    name: 'requireApiVersion',
    type: 'bool',
    initial: false,
    ...runtime,
    behaviour: 'stableApi',
    refusal: {
      accepts: false,
      code: 'IllegalOperation',
      message: 'Cannot set parameter requireApiVersion=true on a shard or config server',
    },
  },
  { name: 'transactionLifetimeLimitSeconds', type: 'int', initial: 60, min: 1, ...runtime },
  { name: 'ttlMonitorEnabled', type: 'bool', initial: true, ...runtime },
  { name: 'ttlMonitorSleepSecs', type: 'int', initial: 60, min: 1, ...runtime },
  { name: 'waitForSecondaryBeforeNoopWriteMS', type: 'int', initial: 10, min: 0, ...runtime },
  { name: 'writePeriodicNoops', type: 'bool', initial: true, ...runtime, behaviour: 'periodicNoops' },
] as const satisfies readonly ParameterRow<Owner>[]

export type NodeParameterName = (typeof nodeParameters)[number]['name']

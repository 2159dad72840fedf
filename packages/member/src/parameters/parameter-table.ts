import { writeLogComponents } from './log-components.js'
import type { ParameterRow } from './parameter.js'
import { balancerParameters } from './balancer-parameters.js'
import { analyzeShardKeyParameters, queryAnalysisParameters } from './query-analysis-parameters.js'
import { reshardingParameters } from './resharding-parameters.js'

const runtime = { settableAtRuntime: true, settableAtStartup: true } as const
const startup = { settableAtRuntime: false, settableAtStartup: true } as const
const intMax = 0x7fff_ffff

/**
 * The parameters that members know: those that change what clients see, and those whose effect cannot be seen in an
 * emulated cluster. What would be seen and is not built is not here, so that setting it fails.
 */
export const parameterTable = [
  { name: 'acceptApiVersion2', type: 'bool', initial: false, ...startup },
  ...analyzeShardKeyParameters,
  {
    name: 'authenticationMechanisms',
    type: 'strings',
    initial: ['MONGODB-X509', 'SCRAM-SHA-1', 'SCRAM-SHA-256'],
    ...startup,
  },
  ...balancerParameters,
  { name: 'cursorTimeoutMillis', type: 'long', initial: 600_000, ...runtime },
  { name: 'diagnosticDataCollectionEnabled', type: 'bool', initial: false, ...runtime },
  { name: 'enableTestCommands', type: 'bool', initial: true, ...startup },
  {
    name: 'featureCompatibilityVersion',
    type: 'document',
    initial: '',
    settableAtRuntime: false,
    settableAtStartup: false,
    only: 'mongod',
    write: (writer, name, host) =>
      void writer.startDocument(name).string('version', host.featureCompatibilityVersion!).end(),
  },
  { name: 'internalQueryExecYieldIterations', type: 'int', initial: 1000, ...runtime, only: 'mongod' },
  { name: 'internalQueryExecYieldPeriodMS', type: 'int', initial: 10, min: 0, ...runtime, only: 'mongod' },
  {
    name: 'internalQueryProhibitMergingOnMongoS',
    type: 'bool',
    initial: false,
    ...runtime,
    only: 'mongos',
    behaviour: 'routersMerge',
  },
  { name: 'localLogicalSessionTimeoutMinutes', type: 'int', initial: 30, ...startup },
  {
    name: 'logComponentVerbosity',
    type: 'document',
    initial: '',
    settableAtRuntime: false,
    settableAtStartup: false,
    write: (writer, name, host) => writeLogComponents(writer, name, host.parameters.number('logLevel')),
  },
  { name: 'logLevel', type: 'int', initial: 0, min: 0, max: intMax, ...runtime },
  { name: 'logicalSessionRefreshMillis', type: 'int', initial: 300_000, ...startup },
  { name: 'maxCatchUpPercentageBeforeBlockingWrites', type: 'int', initial: 10, ...startup, only: 'mongod' },
  { name: 'maxSessions', type: 'int', initial: 1_000_000, ...startup },
  { name: 'migrateCloneInsertionBatchSize', type: 'int', initial: 0, min: 0, ...runtime, only: 'mongod' },
  { name: 'notablescan', type: 'bool', initial: false, ...runtime, only: 'mongod' },
  { name: 'orphanCleanupDelaySecs', type: 'int', initial: 900, ...runtime, only: 'mongod' },
  ...queryAnalysisParameters,
  { name: 'quiet', type: 'bool', initial: false, ...runtime },
  { name: 'rangeDeleterBatchDelayMS', type: 'int', initial: 20, min: 0, ...runtime, only: 'mongod' },
  { name: 'rangeDeleterBatchSize', type: 'int', initial: intMax, min: 0, ...runtime, only: 'mongod' },
  {
    name: 'receiveChunkWaitForRangeDeleterTimeoutMS',
    type: 'int',
    initial: 10_000,
    min: 0,
    ...runtime,
    only: 'mongod',
  },
  ...reshardingParameters,
  { name: 'requireApiVersion', type: 'bool', initial: false, ...runtime },
  { name: 'transactionLifetimeLimitSeconds', type: 'int', initial: 60, min: 1, ...runtime, only: 'mongod' },
  { name: 'ttlMonitorEnabled', type: 'bool', initial: true, ...runtime, only: 'mongod' },
  { name: 'ttlMonitorSleepSecs', type: 'int', initial: 60, min: 1, ...runtime, only: 'mongod' },
] as const satisfies readonly ParameterRow[]

export type ParameterName = (typeof parameterTable)[number]['name']

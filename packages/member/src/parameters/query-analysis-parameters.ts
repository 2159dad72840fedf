/** Server: analyze_shard_key_server_parameters.idl. */
import type { ParameterRow } from './parameter.js'

const traits = { settableAtRuntime: true, settableAtStartup: true, behaviour: 'queryAnalyzer' } as const
const atStartup = { ...traits, settableAtRuntime: false } as const

export const analyzeShardKeyParameters = [
  { name: 'analyzeShardKeyCharacteristicsDefaultSampleSize', type: 'int', initial: 10_000_000, above: 0, ...traits },
  {
    name: 'analyzeShardKeyMonotonicityCorrelationCoefficientThreshold',
    type: 'double',
    initial: 0.7,
    above: 0,
    max: 1,
    ...traits,
  },
  { name: 'analyzeShardKeyNumMostCommonValues', type: 'int', initial: 5, above: 0, max: 1000, ...traits },
  { name: 'analyzeShardKeyNumRanges', type: 'int', initial: 100, above: 1, max: 10_000, ...traits },
  { name: 'analyzeShardKeyNumSamplesPerRange', type: 'int', initial: 10, above: 0, max: 10_000, ...traits },
  { name: 'analyzeShardKeySplitPointExpirationSecs', type: 'int', initial: 300, above: 0, ...traits },
] as const satisfies readonly ParameterRow[]

export const queryAnalysisParameters = [
  { name: 'queryAnalysisQueryStatsSmoothingFactor', type: 'double', initial: 0.125, above: 0, below: 1, ...traits },
  { name: 'queryAnalysisSampleExpirationSecs', type: 'int', initial: 604_800, above: 0, ...traits },
  { name: 'queryAnalysisSamplerBurstMultiplier', type: 'double', initial: 2, min: 1, ...traits },
  { name: 'queryAnalysisSamplerConfigurationRefreshSecs', type: 'int', initial: 10, above: 0, ...traits },
  { name: 'queryAnalysisSamplerInActiveThresholdSecs', type: 'int', initial: 300, above: 0, ...traits },
  { name: 'queryAnalysisWriterIntervalSecs', type: 'int', initial: 90, above: 0, ...traits },
  { name: 'queryAnalysisWriterMaxBatchSize', type: 'int', initial: 100_000, above: 0, max: 100_000, ...traits },
  { name: 'queryAnalysisWriterMaxMemoryUsageBytes', type: 'int', initial: 104_857_600, above: 0, ...traits },
  { name: 'queryAnalysisWriterMaxThreadPoolSize', type: 'int', initial: 8, min: 1, ...atStartup },
  { name: 'queryAnalysisWriterMinThreadPoolSize', type: 'int', initial: 0, min: 0, ...atStartup },
] as const satisfies readonly ParameterRow[]

export { BalancerControls, NotSettledError, type SettleOptions } from './balancer-controls.js'
export type { ClusterEvents } from './cluster-events.js'
export { ClusterSnapshot } from './copies/snapshot.js'
export { checkExportFolder, type ExportedDump } from './dumps/export-dump.js'
export type { ImportedDump } from './dumps/import-dump.js'
export {
  expectTargeted,
  TargetingError,
  type ExpectedRouting,
  type RoutingKind,
  type TargetedOperation,
} from './expect-targeted.js'
export type { AppliedFault } from './faults/applied-fault.js'
export type { FaultInput, FaultSpec, FaultVerbName } from './faults/fault-data.js'
export { Faults } from './faults/faults.js'
export { faultForms, faultReference, formatFault, parseFaultText } from './faults/grammar.js'
export { parseFault } from './faults/parse.js'
export { nameInTarget } from './faults/targets/named-target.js'
export { faultVerbs } from './faults/verb-names.js'
export { resolveStartOptions } from './durable/durable-start.js'
export { logIn, logInByCertificate, type Login, type SendCommand } from './login/log-in.js'
export { LoginError } from './login/login-error.js'
export { nonceBytes, simulatedMeans } from './login/scram-client.js'
export { openPage } from './live/open-page.js'
export { bodyOfPageCommand, killOfRest, replyOfPageCommand } from './live/page-command.js'
export { OptionError } from './option-error.js'
export type { ClusterOptions } from './options.js'
export type { ClientLimits } from './limit-options.js'
export { checkParameters, type CheckedParameters } from './parameter-options.js'
export { TlsOptionError } from './tls-options.js'
export type { TlsMode, TlsProtocol, TlsSettings } from '@shardlab/runtime'
export { brokenMemberRule, type BrokenMemberRule, type MemberOptions, type SetMembers } from './sets/member-options.js'
export type { TopologyName } from './topology-name.js'
export { resolveOptions } from './resolve-options.js'
export type { ResolvedOptions } from './resolved-options.js'
export type { RollbackFile } from './rollback-files.js'
export { EmulatedServer } from './server/emulated-server.js'
export { ServerDirectoryError, type DirectoryProblem } from './server/server-directory-error.js'
export type { EmulatedServerOptions } from './server/server-options.js'
export type { AddedMember } from './sets/membership.js'
export { ShardedCluster } from './sharded-cluster.js'
export type { SetInfo, ShardInfo, StandbyInfo } from './shard-info.js'
export {
  createSimulatedCluster,
  type MeasuredCollections,
  type SimulatedCluster,
  type SimulatedClusterOptions,
  type SimulatedCommandOptions,
} from './simulated-cluster.js'
export { SimulationFailedError, TurnLimitError } from '@shardlab/runtime'
export { parseDuration, parseSize } from './quantity-options.js'
export { formatDuration } from '@shardlab/quantities'
export { emulatedVersions, type EmulatedVersion } from '@shardlab/sharding'
export type { BalancerExplanation, ExplainedShard, ExplainedZone } from '@shardlab/balancer'
export type {
  BalancerRoundEvent,
  CatalogEvent,
  ClusterEvent,
  ElectionEvent,
  FaultAppliedEvent,
  FaultHealedEvent,
  FaultStruckEvent,
  JumboEvent,
  LimitEvent,
  LogEvent,
  MemberEvent,
  MemberStateEvent,
  MergeEvent,
  MigrationEvent,
  ReshardingEvent,
  RangeDeletedEvent,
  ReplicationLagEvent,
  RollbackEvent,
  RollbackFailedEvent,
  RolledBackNamespace,
  BlockedBalance,
  PlannedMigration,
  PlannedSplit,
  RoutedEvent,
  SplitEvent,
  StepDownEvent,
} from '@shardlab/actor'
export { BusyWorldError } from '@shardlab/runtime'
export type {
  LatencyOption,
  LatencyRange,
  MemberInfo,
  MemoryUsage,
  ReachedStep,
  StepControls,
  ThreadMemory,
} from '@shardlab/runtime'
export { isKeptByClusters } from './forgotten-clusters.js'

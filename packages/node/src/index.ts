export { CommitStatistics, type CommitStep } from './transactions/commit-statistics.js'
export { checkRename } from './commands/rename-collection.js'
export { reachIgnoringFault, retryUntilDone } from './host/retry-until-done.js'
export { isFullDisk, untilMajorityHasState } from './host/until-majority-has-state.js'
export { checkCollectionUuid, expectUuid } from './ddl/collection-uuid.js'
export { dropLocalCollection, dropLocalDatabase, dropLocalNamespace } from './ddl/drop.js'
export { buildIndex, dropIndex } from './ddl/index-specs.js'
export { createCollection, idIndexVersionOf, isIdIndex } from './ddl/namespace.js'
export { inTime, untilAborted } from './transactions/undecided-reads.js'
export { raiseError } from './host/raise-error.js'
export { renameLocalCollection } from './ddl/rename.js'
export { isTemporary } from './ddl/temporary.js'
export { decodeSessionsImage, encodeSessionsImage } from './retry/sessions-image.js'
export { nodeRows } from './dispatch/node-rows.js'
export type { NodeClients, NodeState } from './host/node-state.js'
export { nodeParameters } from './parameters/node-parameters.js'
export {
  setFeatureCompatibilityVersionOf,
  startWithOldestFeatureCompatibilityVersion,
} from './parameters/feature-compatibility.js'
export { changeQuerySettings } from './query-settings/change-settings.js'
export { addKeys, catchUpKeys } from './read/catch-up-keys.js'
export { inTurns, type SteppedWork } from './read/in-turns.js'
export { sampledQueriesNs } from './read/sources/list-sampled-queries.js'
export type { CollectionSizes, KeyBounds } from './statistics/collection-sizes.js'
export {
  type ReceivedInResharding,
  ReshardingStatistics,
  reshardingSectionOf,
} from './statistics/resharding-statistics.js'
export type {
  Access,
  Entrant,
  IndexRules,
  NodeHost,
  NodeInvocation,
  NodeRole,
  RoutedBy,
  SampledWrites,
  StorageNodeOptions,
} from './host/node-host.js'
export type { TransactionStatement } from './transactions/transaction.js'
export {
  announceLastChunk,
  announceNewShard,
  announceReshardBegin,
  announceReshardDoneCatchUp,
} from './change-streams/progress-events.js'
export { announceSharding } from './change-streams/sharding-events.js'
export { createMongod, type MongodOptions } from './mongod/mongod.js'
export { StorageNode, type NodeOfSet } from './host/storage-node.js'
export { createSetMember, RoleActor } from './host/role-actor.js'
export { SetMember, type OwnSetOptions, type SetMemberState, type SetOptions } from './replication/set-member.js'
export { storedDefaultWriteConcern } from './replication/concerns/stored-defaults.js'
export { connectionStringOf, setHostsOf, type SetHosts } from './replication/set-hosts.js'
export { checkDocument } from './validation/check-document.js'
export { refuseView } from './views/refuse-view.js'
export { viewOf } from './views/view-catalog.js'
export { snapshotWindowSeconds } from './parameters/snapshot-window.js'
export {
  storeClusterParameter,
  storedClusterParameter,
  storedClusterParameters,
} from './parameters/cluster-parameter.js'

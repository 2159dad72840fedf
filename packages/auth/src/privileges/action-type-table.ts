/**
 * The actions that privileges may name. Manual: reference/privilege-actions. Server:
 * `action_types.txt` until 5.0, then `action_type.idl`; their order is the one of replies.
 */
import type { Lifetime, Release } from '../rules/lifetime.js'

export interface ActionType extends Lifetime {
  readonly name: string
}

/** Of Shardlab, not of any server: faults, fail points and the commands of the emulation. */
export const controlAction = 'controlEmulation'

/** Grants every action, those that no user has included. */
export const anyAction = 'anyAction'

const lifetimes = new Map<string, Lifetime>()

function list(lifetime: Lifetime, names: string): void {
  for (const name of names.trim().split(/\s+/)) lifetimes.set(name, lifetime)
}

const since = (release: Release, names: string): void => list({ since: release }, names)

list(
  {},
  `addShard anyAction appendOplogNote applicationMessage auditLogRotate authCheck authSchemaUpgrade authenticate
  changeCustomData changeOwnCustomData changeOwnPassword changePassword cleanupOrphaned closeAllDatabases collMod
  collStats compact connPoolStats connPoolSync convertToCapped cpuProfiler createCollection createDatabase createIndex
  createRole createUser dbHash dbStats dropAllRolesFromDatabase dropAllUsersFromDatabase dropCollection dropDatabase
  dropIndex dropRole dropUser emptycapped enableProfiler enableSharding find flushRouterConfig fsync getCmdLineOpts
  getLog getParameter getShardMap getShardVersion grantPrivilegesToRole grantRole grantRolesToRole grantRolesToUser
  hostInfo impersonate indexStats inprog insert internal invalidateUserCache killCursors killop listDatabases listShards
  logRotate moveChunk netstat planCacheIndexFilter planCacheRead planCacheWrite reIndex remove removeShard
  renameCollection renameCollectionSameDB repairDatabase replSetConfigure replSetGetStatus replSetHeartbeat
  replSetReconfig replSetStateChange resync revokePrivilegesFromRole revokeRole revokeRolesFromRole revokeRolesFromUser
  serverStatus setParameter shardCollection shardingState shutdown splitChunk splitVector storageDetails top touch
  unlock update updateRole updateUser validate viewRole viewUser`,
)
list({ until: '4.0' }, 'cursorInfo diagLogging')
since(
  '4.0',
  `advanceClusterTime bypassDocumentValidation changeStream checkFreeMonitoringStatus clearJumboFlag forceUUID
  getDatabaseVersion killAnyCursor killAnySession listCollections listCursors listIndexes listSessions replSetGetConfig
  replSetResizeOplog setAuthenticationRestriction setFeatureCompatibilityVersion setFreeMonitoring useUUID`,
)
since(
  '4.4',
  `applyOps dropConnections getDefaultRWConcern listCachedAndActiveUsers refineCollectionShardKey
  runAsLessPrivilegedUser setDefaultRWConcern trafficRecord`,
)
since(
  '5.0',
  `auditConfigure exportCollection importCollection oidReset operationMetrics reshardCollection rotateCertificates
  runTenantMigration`,
)
since(
  '6.0.2',
  `analyze bypassWriteBlockingMode compactStructuredEncryptionData dbCheck getClusterParameter setClusterParameter
  setUserWriteBlockMode`,
)
since(
  '6.0',
  `allCollectionStats createSearchIndexes dropSearchIndex listSearchIndexes shardedDataDistribution
  updateSearchIndex`,
)
since(
  '7.0',
  `analyzeShardKey checkMetadataConsistency configureQueryAnalyzer getChangeStreamState issueDirectShardOperations
  listSampledQueries oidcListKeys oidcRefreshKeys setChangeStreamState transitionToDedicatedConfigServer useTenant`,
)
since(
  '8.0',
  `bypassDefaultMaxTimeMS cleanupStructuredEncryptionData fsyncUnlock listClusterCatalog moveCollection querySettings queryStatsRead
  queryStatsReadTransformed transitionFromDedicatedConfigServer unshardCollection`,
)

/** The server has these elsewhere than in the alphabet. */
const placedAfter: readonly (readonly [name: string, after: string])[] = [
  ['changeOwnPassword', 'changePassword'],
  ['changeOwnCustomData', 'changeOwnPassword'],
  ['cleanupStructuredEncryptionData', 'clearJumboFlag'],
  ['getCmdLineOpts', 'getDefaultRWConcern'],
  ['grantPrivilegesToRole', 'grantRole'],
  ['revokePrivilegesFromRole', 'revokeRole'],
  ['updateSearchIndex', 'logRotate'],
  ['update', 'useUUID'],
  ['updateRole', 'update'],
  ['updateUser', 'updateRole'],
  ['applyOps', 'viewUser'],
  ['setChangeStreamState', 'applyOps'],
  ['getChangeStreamState', 'setChangeStreamState'],
]

/** In the order of replies. */
export const actionTypeTable: readonly ActionType[] = [
  ...ordered().map((name) => ({ name, ...lifetimes.get(name)! })),
  { name: controlAction },
]

function ordered(): string[] {
  const names = [...lifetimes.keys()].sort((a, b) => compare(a.toLowerCase(), b.toLowerCase()))
  for (const [name, after] of placedAfter) {
    names.splice(names.indexOf(name), 1)
    names.splice(names.indexOf(after) + 1, 0, name)
  }
  return names
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

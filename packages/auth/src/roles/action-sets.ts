/** Actions that several built-in roles have. Names that the emulated release lacks are left out. */
const words = (text: string): readonly string[] => text.trim().split(/\s+/)

export const readActions = words(
  `changeStream collStats dbHash dbStats find killCursors listCollections listIndexes listSearchIndexes planCacheRead`,
)

export const readWriteActions = [
  ...readActions,
  ...words(
    `cleanupStructuredEncryptionData compactStructuredEncryptionData convertToCapped createCollection createIndex
    createSearchIndexes dropCollection dropIndex dropSearchIndex insert remove renameCollectionSameDB update
    updateSearchIndex`,
  ),
]

export const userAdminActions = words(
  `changeCustomData changePassword createRole createUser dropRole dropUser grantRole revokeRole
  setAuthenticationRestriction viewRole viewUser`,
)

export const dbAdminActions = words(
  `analyze bypassDocumentValidation collMod collStats compact convertToCapped createCollection createIndex
  createSearchIndexes dbStats dropCollection dropDatabase dropIndex dropSearchIndex enableProfiler listCollections
  listIndexes listSearchIndexes planCacheIndexFilter planCacheRead planCacheWrite reIndex renameCollectionSameDB
  storageDetails updateSearchIndex validate`,
)

export const readAndIndexActions = [
  ...readActions,
  ...words('createIndex createSearchIndexes dropIndex dropSearchIndex'),
]

export const profileActions = [...readActions, ...words('convertToCapped createCollection dropCollection')]

export const monitorClusterActions = words(
  `allCollectionStats connPoolStats cursorInfo getCmdLineOpts getDefaultRWConcern getLog getParameter getShardMap
  hostInfo inprog listClusterCatalog listDatabases listSampledQueries listSessions listShards netstat operationMetrics queryStatsRead
  queryStatsReadTransformed replSetGetConfig replSetGetStatus serverStatus shardedDataDistribution shardingState top
  useUUID`,
)

export const monitorNamespaceActions = words('collStats dbStats getDatabaseVersion getShardVersion')

export const hostClusterActions = words(
  `applicationMessage auditConfigure connPoolSync diagLogging dropConnections flushRouterConfig fsync
  invalidateUserCache killAnyCursor killAnySession killop logRotate oidReset oidcListKeys oidcRefreshKeys
  replSetResizeOplog resync rotateCertificates setParameter shutdown touch trafficRecord unlock`,
)

export const managerClusterActions = words(
  `addShard appendOplogNote applicationMessage checkMetadataConsistency cleanupOrphaned flushRouterConfig
  getChangeStreamState getClusterParameter getDefaultRWConcern listSessions listShards querySettings removeShard
  replSetConfigure replSetGetConfig replSetGetStatus replSetStateChange resync runTenantMigration setChangeStreamState
  setClusterParameter setDefaultRWConcern setFeatureCompatibilityVersion transitionFromDedicatedConfigServer
  transitionToDedicatedConfigServer`,
)

export const managerNamespaceActions = words(
  `analyzeShardKey clearJumboFlag configureQueryAnalyzer enableSharding moveChunk moveCollection
  refineCollectionShardKey reshardCollection splitChunk splitVector unshardCollection`,
)

export const shardingActions = words(
  `analyzeShardKey enableSharding moveCollection refineCollectionShardKey reshardCollection unshardCollection`,
)

export const writeActions = words('insert remove update')

export const restoreActions = words(
  `bypassDocumentValidation collMod createCollection createIndex createSearchIndexes dropCollection insert
  updateSearchIndex`,
)

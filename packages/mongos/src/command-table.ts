import { CommandTable, type CommandRow } from '@shardlab/actor'
import { memberRows } from '@shardlab/member'
import type { MongosInvocation } from './host/mongos-host.js'
import { abortMoveCollection } from './commands/abort-move-collection.js'
import { abortReshardCollection } from './commands/abort-reshard-collection.js'
import { abortUnshardCollection } from './commands/abort-unshard-collection.js'
import { abortTransaction } from './commands/abort-transaction.js'
import { addShardToZone } from './commands/add-shard-to-zone.js'
import { addShard } from './commands/add-shard.js'
import { aggregate } from './commands/aggregate.js'
import { analyzeShardKey } from './commands/analyze-shard-key.js'
import { balancerCollectionStatus } from './commands/balancer-collection-status.js'
import { balancerStart } from './commands/balancer-start.js'
import { balancerStatus } from './commands/balancer-status.js'
import { balancerStop } from './commands/balancer-stop.js'
import { bulkWrite } from './commands/bulk-write.js'
import { checkMetadataConsistency } from './commands/check-metadata-consistency.js'
import { cleanupReshardCollection } from './commands/cleanup-reshard-collection.js'
import { clearJumboFlag } from './commands/clear-jumbo-flag.js'
import { cloneCollectionAsCapped } from './commands/clone-collection-as-capped.js'
import { collMod } from './commands/coll-mod.js'
import { collStats } from './commands/coll-stats.js'
import { commitReshardCollection } from './commands/commit-reshard-collection.js'
import { commitTransaction } from './commands/commit-transaction.js'
import { compact } from './commands/compact.js'
import { configureCollectionBalancing } from './commands/configure-collection-balancing.js'
import { configureQueryAnalyzer } from './commands/configure-query-analyzer.js'
import { convertToCapped } from './commands/convert-to-capped.js'
import { count } from './commands/count.js'
import { createIndexes } from './commands/create-indexes.js'
import { create } from './commands/create.js'
import { currentOp } from './commands/current-op.js'
import { dataSize } from './commands/data-size.js'
import { dbStats } from './commands/db-stats.js'
import { deleteCommand } from './commands/delete.js'
import { distinct } from './commands/distinct.js'
import { dropDatabase } from './commands/drop-database.js'
import { dropIndexes } from './commands/drop-indexes.js'
import { drop } from './commands/drop.js'
import { enableSharding } from './commands/enable-sharding.js'
import { explain } from './commands/explain.js'
import { fileMd5 } from './commands/file-md5.js'
import { findAndModify } from './commands/find-and-modify.js'
import { find } from './commands/find.js'
import { flushRouterConfig } from './commands/flush-router-config.js'
import { fsync } from './commands/fsync.js'
import { fsyncUnlock } from './commands/fsync-unlock.js'
import { getCmdLineOpts } from './commands/get-cmd-line-opts.js'
import { getDefaultRWConcern } from './commands/get-default-rw-concern.js'
import { getMore } from './commands/get-more.js'
import { getShardMap } from './commands/get-shard-map.js'
import { getShardVersion } from './commands/get-shard-version.js'
import { hello } from './commands/hello.js'
import { insert } from './commands/insert.js'
import { isMaster } from './commands/is-master.js'
import { isdbgrid } from './commands/isdbgrid.js'
import { killAllSessionsByPattern } from './commands/kill-all-sessions-by-pattern.js'
import { killAllSessions } from './commands/kill-all-sessions.js'
import { killCursors } from './commands/kill-cursors.js'
import { killOp } from './commands/kill-op.js'
import { killSessions } from './commands/kill-sessions.js'
import { listCollections } from './commands/list-collections.js'
import { listDatabases } from './commands/list-databases.js'
import { listIndexes } from './commands/list-indexes.js'
import { listShards } from './commands/list-shards.js'
import { mergeAllChunksOnShard } from './commands/merge-all-chunks-on-shard.js'
import { mergeChunks } from './commands/merge-chunks.js'
import { moveChunk } from './commands/move-chunk.js'
import { moveCollection } from './commands/move-collection.js'
import { movePrimary } from './commands/move-primary.js'
import { moveRange } from './commands/move-range.js'
import { planCacheClearFilters } from './commands/plan-cache-clear-filters.js'
import { planCacheClear } from './commands/plan-cache-clear.js'
import { planCacheListFilters } from './commands/plan-cache-list-filters.js'
import { planCacheSetFilter } from './commands/plan-cache-set-filter.js'
import { refineCollectionShardKey } from './commands/refine-collection-shard-key.js'
import { removeQuerySettings } from './commands/remove-query-settings.js'
import { setQuerySettings } from './commands/set-query-settings.js'
import { removeShardFromZone } from './commands/remove-shard-from-zone.js'
import { removeShard } from './commands/remove-shard.js'
import { renameCollection } from './commands/rename-collection.js'
import { replSetGetStatus } from './commands/repl-set-get-status.js'
import { reshardCollection } from './commands/reshard-collection.js'
import { serverStatus } from './commands/server-status.js'
import { setAllowMigrations } from './commands/set-allow-migrations.js'
import { setDefaultRWConcern } from './commands/set-default-rw-concern.js'
import { setFeatureCompatibilityVersion } from './commands/set-feature-compatibility-version.js'
import { shardCollection } from './commands/shard-collection.js'
import { shardlab } from './commands/shardlab.js'
import { splitVector } from './commands/split-vector.js'
import { split } from './commands/split.js'
import { unshardCollection } from './commands/unshard-collection.js'
import { updateZoneKeyRange } from './commands/update-zone-key-range.js'
import { update } from './commands/update.js'
import { validate } from './commands/validate.js'
import { getClusterParameter } from './commands/get-cluster-parameter.js'
import { setClusterParameter } from './commands/set-cluster-parameter.js'
import { getLastError } from './commands/get-last-error.js'

export const mongosRows: readonly CommandRow<MongosInvocation>[] = [
  abortMoveCollection,
  abortReshardCollection,
  abortUnshardCollection,
  abortTransaction,
  addShard,
  addShardToZone,
  aggregate,
  analyzeShardKey,
  balancerCollectionStatus,
  balancerStart,
  balancerStatus,
  balancerStop,
  bulkWrite,
  checkMetadataConsistency,
  cleanupReshardCollection,
  clearJumboFlag,
  cloneCollectionAsCapped,
  collMod,
  collStats,
  commitReshardCollection,
  commitTransaction,
  compact,
  configureCollectionBalancing,
  configureQueryAnalyzer,
  convertToCapped,
  count,
  create,
  createIndexes,
  currentOp,
  dataSize,
  dbStats,
  deleteCommand,
  distinct,
  drop,
  dropDatabase,
  dropIndexes,
  enableSharding,
  explain,
  find,
  fileMd5,
  findAndModify,
  flushRouterConfig,
  fsync,
  fsyncUnlock,
  getCmdLineOpts,
  getDefaultRWConcern,
  getClusterParameter,
  setClusterParameter,
  getLastError,
  getMore,
  getShardMap,
  getShardVersion,
  hello,
  insert,
  isdbgrid,
  isMaster,
  killAllSessions,
  killAllSessionsByPattern,
  killCursors,
  killOp,
  killSessions,
  listCollections,
  listDatabases,
  listIndexes,
  listShards,
  mergeAllChunksOnShard,
  mergeChunks,
  moveChunk,
  moveCollection,
  movePrimary,
  moveRange,
  planCacheClear,
  planCacheClearFilters,
  planCacheListFilters,
  planCacheSetFilter,
  refineCollectionShardKey,
  removeQuerySettings,
  setQuerySettings,
  removeShard,
  removeShardFromZone,
  renameCollection,
  replSetGetStatus,
  reshardCollection,
  serverStatus,
  setAllowMigrations,
  setDefaultRWConcern,
  setFeatureCompatibilityVersion,
  shardCollection,
  shardlab,
  split,
  splitVector,
  unshardCollection,
  update,
  updateZoneKeyRange,
  validate,
]

export const commandTable = new CommandTable<MongosInvocation>([...memberRows, ...mongosRows])

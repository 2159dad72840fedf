import { CommandTable, type CommandRow } from '@shardlab/actor'
import { memberRows } from '@shardlab/member'
import type { MongosInvocation } from './command/invocation.js'
import { addShard } from './commands/add-shard.js'
import { addShardToZone } from './commands/add-shard-to-zone.js'
import { removeShard } from './commands/remove-shard.js'
import { removeShardFromZone } from './commands/remove-shard-from-zone.js'
import { updateZoneKeyRange } from './commands/update-zone-key-range.js'
import { movePrimary } from './commands/move-primary.js'
import { balancerCollectionStatus } from './commands/balancer-collection-status.js'
import { configureCollectionBalancing } from './commands/configure-collection-balancing.js'
import { setAllowMigrations } from './commands/set-allow-migrations.js'
import { setFeatureCompatibilityVersion } from './commands/set-feature-compatibility-version.js'
import { aggregate } from './commands/aggregate.js'
import { analyzeShardKey } from './commands/analyze-shard-key.js'
import { configureQueryAnalyzer } from './commands/configure-query-analyzer.js'
import { balancerStart } from './commands/balancer-start.js'
import { balancerStatus } from './commands/balancer-status.js'
import { balancerStop } from './commands/balancer-stop.js'
import { clearJumboFlag } from './commands/clear-jumbo-flag.js'
import { mergeAllChunksOnShard } from './commands/merge-all-chunks-on-shard.js'
import { mergeChunks } from './commands/merge-chunks.js'
import { split } from './commands/split.js'
import { splitVector } from './commands/split-vector.js'
import { collMod } from './commands/coll-mod.js'
import { cloneCollectionAsCapped } from './commands/clone-collection-as-capped.js'
import { convertToCapped } from './commands/convert-to-capped.js'
import { bulkWrite } from './commands/bulk-write.js'
import { checkMetadataConsistency } from './commands/check-metadata-consistency.js'
import { count } from './commands/count.js'
import { create } from './commands/create.js'
import { createIndexes } from './commands/create-indexes.js'
import { deleteCommand } from './commands/delete.js'
import { distinct } from './commands/distinct.js'
import { drop } from './commands/drop.js'
import { dropDatabase } from './commands/drop-database.js'
import { dropIndexes } from './commands/drop-indexes.js'
import { enableSharding } from './commands/enable-sharding.js'
import { explain } from './commands/explain.js'
import { find } from './commands/find.js'
import { findAndModify } from './commands/find-and-modify.js'
import { flushRouterConfig } from './commands/flush-router-config.js'
import { getMore } from './commands/get-more.js'
import { getShardMap } from './commands/get-shard-map.js'
import { getShardVersion } from './commands/get-shard-version.js'
import { hello } from './commands/hello.js'
import { insert } from './commands/insert.js'
import { isMaster } from './commands/is-master.js'
import { isdbgrid } from './commands/isdbgrid.js'
import { killCursors } from './commands/kill-cursors.js'
import { listCollections } from './commands/list-collections.js'
import { listDatabases } from './commands/list-databases.js'
import { listIndexes } from './commands/list-indexes.js'
import { listShards } from './commands/list-shards.js'
import { abortMoveCollection } from './commands/abort-move-collection.js'
import { abortReshardCollection } from './commands/abort-reshard-collection.js'
import { abortUnshardCollection } from './commands/abort-unshard-collection.js'
import { cleanupReshardCollection } from './commands/cleanup-reshard-collection.js'
import { commitReshardCollection } from './commands/commit-reshard-collection.js'
import { refineCollectionShardKey } from './commands/refine-collection-shard-key.js'
import { reshardCollection } from './commands/reshard-collection.js'
import { moveChunk } from './commands/move-chunk.js'
import { moveCollection } from './commands/move-collection.js'
import { unshardCollection } from './commands/unshard-collection.js'
import { moveRange } from './commands/move-range.js'
import { renameCollection } from './commands/rename-collection.js'
import { serverStatus } from './commands/server-status.js'
import { shardlab } from './commands/shardlab.js'
import { shardCollection } from './commands/shard-collection.js'
import { collStats } from './commands/coll-stats.js'
import { currentOp } from './commands/current-op.js'
import { dataSize } from './commands/data-size.js'
import { dbStats } from './commands/db-stats.js'
import { killOp } from './commands/kill-op.js'
import { validate } from './commands/validate.js'
import { replSetGetStatus } from './commands/repl-set-get-status.js'
import { getDefaultRWConcern } from './commands/get-default-rw-concern.js'
import { setDefaultRWConcern } from './commands/set-default-rw-concern.js'
import { fsync } from './commands/fsync.js'
import { killSessions } from './commands/kill-sessions.js'
import { killAllSessions } from './commands/kill-all-sessions.js'
import { killAllSessionsByPattern } from './commands/kill-all-sessions-by-pattern.js'
import { update } from './commands/update.js'

/** The commands of a router alone. */
export const mongosRows: readonly CommandRow<MongosInvocation>[] = [
  aggregate,
  analyzeShardKey,
  configureQueryAnalyzer,
  addShard,
  addShardToZone,
  removeShard,
  removeShardFromZone,
  updateZoneKeyRange,
  movePrimary,
  balancerCollectionStatus,
  configureCollectionBalancing,
  setAllowMigrations,
  setFeatureCompatibilityVersion,
  balancerStart,
  balancerStatus,
  balancerStop,
  clearJumboFlag,
  mergeAllChunksOnShard,
  mergeChunks,
  split,
  splitVector,
  cloneCollectionAsCapped,
  collMod,
  convertToCapped,
  bulkWrite,
  checkMetadataConsistency,
  count,
  create,
  createIndexes,
  deleteCommand,
  distinct,
  drop,
  dropDatabase,
  dropIndexes,
  enableSharding,
  explain,
  find,
  findAndModify,
  flushRouterConfig,
  getMore,
  getShardMap,
  getShardVersion,
  hello,
  insert,
  isMaster,
  isdbgrid,
  killCursors,
  listCollections,
  listDatabases,
  listIndexes,
  listShards,
  refineCollectionShardKey,
  reshardCollection,
  abortReshardCollection,
  commitReshardCollection,
  cleanupReshardCollection,
  moveCollection,
  abortMoveCollection,
  unshardCollection,
  abortUnshardCollection,
  moveChunk,
  moveRange,
  renameCollection,
  serverStatus,
  shardCollection,
  shardlab,
  collStats,
  currentOp,
  dataSize,
  dbStats,
  killOp,
  fsync,
  validate,
  replSetGetStatus,
  getDefaultRWConcern,
  setDefaultRWConcern,
  update,
  killSessions,
  killAllSessions,
  killAllSessionsByPattern,
]

/** All commands that a client can run on a router. */
export const commandTable = new CommandTable<MongosInvocation>([...memberRows, ...mongosRows])

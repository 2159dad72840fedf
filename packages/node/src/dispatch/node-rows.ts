import type { CommandRow } from '@shardlab/actor'
import { memberRows } from '@shardlab/member'
import type { NodeInvocation } from '../host/node-host.js'
import { abortTransaction } from '../commands/abort-transaction.js'
import { aggregate } from '../commands/aggregate.js'
import { applyOps } from '../commands/apply-ops.js'
import { bulkWrite } from '../commands/bulk-write.js'
import { cloneCollectionAsCapped } from '../commands/clone-collection-as-capped.js'
import { collMod } from '../commands/coll-mod.js'
import { collStats } from '../commands/coll-stats.js'
import { commitTransaction } from '../commands/commit-transaction.js'
import { compact } from '../commands/compact.js'
import { convertToCapped } from '../commands/convert-to-capped.js'
import { count } from '../commands/count.js'
import { createIndexes } from '../commands/create-indexes.js'
import { create } from '../commands/create.js'
import { currentOp } from '../commands/current-op.js'
import { dataSize } from '../commands/data-size.js'
import { dbHash } from '../commands/db-hash.js'
import { dbStats } from '../commands/db-stats.js'
import { deleteCommand } from '../commands/delete.js'
import { distinct } from '../commands/distinct.js'
import { dropDatabase } from '../commands/drop-database.js'
import { dropIndexes } from '../commands/drop-indexes.js'
import { drop } from '../commands/drop.js'
import { explain } from '../commands/explain.js'
import { fileMd5 } from '../commands/file-md5.js'
import { findAndModify } from '../commands/find-and-modify.js'
import { find } from '../commands/find.js'
import { fsync } from '../commands/fsync.js'
import { fsyncUnlock } from '../commands/fsync-unlock.js'
import { getCmdLineOpts } from '../commands/get-cmd-line-opts.js'
import { getDefaultRWConcern } from '../commands/get-default-rw-concern.js'
import { getMore } from '../commands/get-more.js'
import { hello } from '../commands/hello.js'
import { insert } from '../commands/insert.js'
import { isMaster } from '../commands/is-master.js'
import { killAllSessionsByPattern } from '../commands/kill-all-sessions-by-pattern.js'
import { killAllSessions } from '../commands/kill-all-sessions.js'
import { killCursors } from '../commands/kill-cursors.js'
import { killOp } from '../commands/kill-op.js'
import { killSessions } from '../commands/kill-sessions.js'
import { listCollections } from '../commands/list-collections.js'
import { listDatabases } from '../commands/list-databases.js'
import { listIndexes } from '../commands/list-indexes.js'
import { planCacheClearFilters } from '../commands/plan-cache-clear-filters.js'
import { planCacheClear } from '../commands/plan-cache-clear.js'
import { planCacheListFilters } from '../commands/plan-cache-list-filters.js'
import { planCacheSetFilter } from '../commands/plan-cache-set-filter.js'
import { prepareTransaction } from '../commands/prepare-transaction.js'
import { reIndex } from '../commands/re-index.js'
import { renameCollection } from '../commands/rename-collection.js'
import { removeQuerySettings } from '../commands/remove-query-settings.js'
import { setQuerySettings } from '../commands/set-query-settings.js'
import { replSetAbortPrimaryCatchUp } from '../commands/repl-set-abort-primary-catch-up.js'
import { replSetFreeze } from '../commands/repl-set-freeze.js'
import { replSetGetConfig } from '../commands/repl-set-get-config.js'
import { replSetGetStatus } from '../commands/repl-set-get-status.js'
import { replSetInitiate } from '../commands/repl-set-initiate.js'
import { replSetMaintenance } from '../commands/repl-set-maintenance.js'
import { replSetReconfig } from '../commands/repl-set-reconfig.js'
import { replSetStepDown } from '../commands/repl-set-step-down.js'
import { replSetStepUp } from '../commands/repl-set-step-up.js'
import { replSetSyncFrom } from '../commands/repl-set-sync-from.js'
import { serverStatus } from '../commands/server-status.js'
import { setDefaultRWConcern } from '../commands/set-default-rw-concern.js'
import { shardlab } from '../commands/shardlab.js'
import { top } from '../commands/top.js'
import { update } from '../commands/update.js'
import { validate } from '../commands/validate.js'
import { getClusterParameter } from '../commands/get-cluster-parameter.js'
import { setClusterParameter } from '../commands/set-cluster-parameter.js'
import { getLastError } from '../commands/get-last-error.js'

export const nodeRows: readonly CommandRow<NodeInvocation>[] = [
  ...(memberRows as readonly CommandRow<NodeInvocation>[]),
  abortTransaction,
  aggregate,
  applyOps,
  bulkWrite,
  cloneCollectionAsCapped,
  collMod,
  collStats,
  commitTransaction,
  compact,
  convertToCapped,
  count,
  create,
  createIndexes,
  currentOp,
  dataSize,
  dbHash,
  dbStats,
  deleteCommand,
  distinct,
  drop,
  dropDatabase,
  dropIndexes,
  explain,
  find,
  fileMd5,
  findAndModify,
  fsync,
  fsyncUnlock,
  getCmdLineOpts,
  getDefaultRWConcern,
  getClusterParameter,
  setClusterParameter,
  removeQuerySettings,
  setQuerySettings,
  getLastError,
  getMore,
  hello,
  insert,
  isMaster,
  killAllSessions,
  killAllSessionsByPattern,
  killCursors,
  killOp,
  killSessions,
  listCollections,
  listDatabases,
  listIndexes,
  planCacheClear,
  planCacheClearFilters,
  planCacheListFilters,
  planCacheSetFilter,
  prepareTransaction,
  reIndex,
  renameCollection,
  replSetAbortPrimaryCatchUp,
  replSetFreeze,
  replSetGetConfig,
  replSetGetStatus,
  replSetInitiate,
  replSetMaintenance,
  replSetReconfig,
  replSetStepDown,
  replSetStepUp,
  replSetSyncFrom,
  serverStatus,
  setDefaultRWConcern,
  shardlab,
  top,
  update,
  validate,
]

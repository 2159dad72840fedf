import { CommandTable, type CommandRow } from '@shardlab/actor'
import { commonRows } from '@shardlab/node'
import type { MongosInvocation } from './command/invocation.js'
import { aggregate } from './commands/aggregate.js'
import { balancerStart } from './commands/balancer-start.js'
import { balancerStatus } from './commands/balancer-status.js'
import { balancerStop } from './commands/balancer-stop.js'
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
import { renameCollection } from './commands/rename-collection.js'
import { serverStatus } from './commands/server-status.js'
import { shardCollection } from './commands/shard-collection.js'
import { collStats } from './commands/coll-stats.js'
import { currentOp } from './commands/current-op.js'
import { dataSize } from './commands/data-size.js'
import { dbStats } from './commands/db-stats.js'
import { killOp } from './commands/kill-op.js'
import { validate } from './commands/validate.js'
import { replSetGetStatus } from './commands/repl-set-get-status.js'
import { getDefaultRWConcern } from './commands/get-default-rw-concern.js'
import { fsync } from './commands/fsync.js'
import { killSessions } from './commands/kill-sessions.js'
import { killAllSessions } from './commands/kill-all-sessions.js'
import { killAllSessionsByPattern } from './commands/kill-all-sessions-by-pattern.js'
import { update } from './commands/update.js'

/** The commands of a router alone. */
export const mongosRows: readonly CommandRow<MongosInvocation>[] = [
  aggregate,
  balancerStart,
  balancerStatus,
  balancerStop,
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
  renameCollection,
  serverStatus,
  shardCollection,
  collStats,
  currentOp,
  dataSize,
  dbStats,
  killOp,
  fsync,
  validate,
  replSetGetStatus,
  getDefaultRWConcern,
  update,
  killSessions,
  killAllSessions,
  killAllSessionsByPattern,
]

/** All commands that a client can run on a router. */
export const commandTable = new CommandTable<MongosInvocation>([...commonRows, ...mongosRows])

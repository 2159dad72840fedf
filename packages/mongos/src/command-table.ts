import { CommandTable, type CommandRow } from '@shardlab/actor'
import { commonRows } from '@shardlab/node'
import type { MongosInvocation } from './command/invocation.js'
import { aggregate } from './commands/aggregate.js'
import { balancerStart } from './commands/balancer-start.js'
import { balancerStatus } from './commands/balancer-status.js'
import { balancerStop } from './commands/balancer-stop.js'
import { count } from './commands/count.js'
import { create } from './commands/create.js'
import { createIndexes } from './commands/create-indexes.js'
import { deleteCommand } from './commands/delete.js'
import { drop } from './commands/drop.js'
import { dropDatabase } from './commands/drop-database.js'
import { enableSharding } from './commands/enable-sharding.js'
import { find } from './commands/find.js'
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
import { serverStatus } from './commands/server-status.js'
import { shardCollection } from './commands/shard-collection.js'
import { update } from './commands/update.js'

/** The commands of a router alone. */
export const mongosRows: readonly CommandRow<MongosInvocation>[] = [
  aggregate,
  balancerStart,
  balancerStatus,
  balancerStop,
  count,
  create,
  createIndexes,
  deleteCommand,
  drop,
  dropDatabase,
  enableSharding,
  find,
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
  serverStatus,
  shardCollection,
  update,
]

/** All commands that a client can run on a router. */
export const commandTable = new CommandTable<MongosInvocation>([...commonRows, ...mongosRows])

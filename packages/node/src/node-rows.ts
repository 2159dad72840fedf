import type { CommandRow } from '@shardlab/actor'
import { aggregate } from './commands/aggregate.js'
import { count } from './commands/count.js'
import { create } from './commands/create.js'
import { createIndexes } from './commands/create-indexes.js'
import { deleteCommand } from './commands/delete.js'
import { drop } from './commands/drop.js'
import { dropDatabase } from './commands/drop-database.js'
import { find } from './commands/find.js'
import { getMore } from './commands/get-more.js'
import { hello } from './commands/hello.js'
import { insert } from './commands/insert.js'
import { killCursors } from './commands/kill-cursors.js'
import { listCollections } from './commands/list-collections.js'
import { listDatabases } from './commands/list-databases.js'
import { listIndexes } from './commands/list-indexes.js'
import { serverStatus } from './commands/server-status.js'
import { update } from './commands/update.js'
import type { NodeInvocation } from './invocation.js'

/** The command table of every storage node; roles add theirs. */
export const nodeRows: readonly CommandRow<NodeInvocation>[] = [
  aggregate,
  count,
  create,
  createIndexes,
  deleteCommand,
  drop,
  dropDatabase,
  find,
  getMore,
  hello,
  insert,
  killCursors,
  listCollections,
  listDatabases,
  listIndexes,
  serverStatus,
  update,
]

/** Every request that a shard answers, commands of clients apart. */
import { createShardedCollection } from './coordinators/create-collection.js'
import { dropCollection, dropDatabase } from './coordinators/drop-collection.js'
import { localChangeHandlers } from './coordinators/local-changes.js'
import { renameCollection } from './coordinators/rename-collection.js'
import { identityHandlers } from './metadata/identity.js'
import type { ShardHandlers } from './shard-parts.js'

export const shardHandlers: ShardHandlers = {
  ...identityHandlers,
  ...localChangeHandlers,
  'shard.create-sharded-collection': createShardedCollection,
  'shard.drop-collection': dropCollection,
  'shard.rename-collection': renameCollection,
  'shard.drop-database': dropDatabase,
}

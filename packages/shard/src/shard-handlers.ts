/** Every request that a shard answers, commands of clients apart. */
import { balancingHandlers } from './auto-split/handlers.js'
import { chunkHandlers } from './chunks/split-chunk.js'
import { consistencyHandlers } from './consistency/check-collections.js'
import { createShardedCollection, shardHere } from './coordinators/shard-collection/create-collection.js'
import { dropCollection, dropDatabase } from './coordinators/collections/drop-collection.js'
import { localChangeHandlers } from './coordinators/collections/local-changes.js'
import { refineShardKeyHandlers } from './coordinators/collections/refine-shard-key.js'
import { renameCollection } from './coordinators/collections/rename-collection.js'
import { documentMoveHandlers } from './document-moves/handlers.js'
import { identityHandlers } from './membership/identity.js'
import { membershipHandlers } from './membership/membership.js'
import { queryAnalysisHandlers } from './query-analysis/analysis-handlers.js'
import { measureHandlers } from './ranges/measured/measure.js'
import { migrationHandlers } from './migration/handlers.js'
import { reshardingHandlers } from './resharding/handlers.js'
import type { ShardHandlers } from './shard-parts.js'
import { statisticsHandlers } from './ranges/collection-counts.js'
import { rangeSizeHandlers } from './ranges/measure-range.js'

export const shardHandlers: ShardHandlers = {
  ...identityHandlers,
  ...balancingHandlers,
  ...chunkHandlers,
  ...membershipHandlers,
  ...documentMoveHandlers,
  ...localChangeHandlers,
  ...migrationHandlers,
  ...reshardingHandlers,
  ...queryAnalysisHandlers,
  ...refineShardKeyHandlers,
  ...statisticsHandlers,
  ...rangeSizeHandlers,
  ...measureHandlers,
  ...consistencyHandlers,
  'shard.create-sharded-collection': createShardedCollection,
  'shard.shard-collection-here': shardHere,
  'shard.drop-collection': dropCollection,
  'shard.rename-collection': renameCollection,
  'shard.drop-database': dropDatabase,
}

import { balancingHandlers } from './auto-split/handlers.js'
import { chunkHandlers } from './chunks/split-chunk.js'
import { consistencyHandlers } from './consistency/check-collections.js'
import { changeDefinition } from './coordinators/collections/change-definition.js'
import { dropCollection } from './coordinators/collections/drop-collection.js'
import { localChangeHandlers } from './coordinators/collections/local-changes.js'
import { refineShardKeyHandlers } from './coordinators/collections/refine-shard-key.js'
import { renameCollection } from './coordinators/collections/rename-collection.js'
import { receiveDocuments } from './coordinators/databases/copy-collection.js'
import { dropDatabase } from './coordinators/databases/drop-database.js'
import { movePrimary } from './coordinators/databases/move-primary.js'
import { holdDatabase, releaseDatabase } from './coordinators/databases/receive-database.js'
import { createShardedCollection } from './coordinators/shard-collection/create-collection.js'
import { shardForPrimary } from './coordinators/shard-collection/shard-here.js'
import type { ShardHandlers, ShardKind } from './host/handlers.js'
import { identityHandlers } from './membership/identity.js'
import { membershipHandlers } from './membership/membership.js'
import { flushHandlers } from './metadata/flush-placement.js'
import { migrationHandlers } from './migration/handlers.js'
import { queryAnalysisHandlers } from './query-analysis/analysis-handlers.js'
import { rangeHandlers } from './ranges/handlers.js'
import { measureHandlers } from './ranges/measured/measure.js'
import { reshardingHandlers } from './resharding/handlers.js'
import type { ShardParts } from './shard-parts.js'

export const shardHandlers: ShardHandlers<ShardKind, ShardParts> = {
  ...identityHandlers,
  ...balancingHandlers,
  ...chunkHandlers,
  ...membershipHandlers,
  ...localChangeHandlers,
  ...migrationHandlers,
  ...reshardingHandlers,
  ...queryAnalysisHandlers,
  ...refineShardKeyHandlers,
  ...rangeHandlers,
  ...measureHandlers,
  ...consistencyHandlers,
  ...flushHandlers,
  'shard.create-sharded-collection': createShardedCollection,
  'shard.shard-collection-here': shardForPrimary,
  'shard.change-definition': changeDefinition,
  'shard.drop-collection': dropCollection,
  'shard.rename-collection': renameCollection,
  'shard.drop-database': dropDatabase,
  'shard.move-primary': movePrimary,
  'shard.hold-database': holdDatabase,
  'shard.release-database': releaseDatabase,
  'shard.receive-documents': receiveDocuments,
}

/** Every request that the config server answers. */
import { balancerHandlers } from './balancer-requests.js'
import { changelogHandlers } from './changelog.js'
import { chunkHandlers } from './chunks.js'
import { collectionSwitchHandlers } from './collection-switches.js'
import { collectionHandlers } from './collections.js'
import { databaseHandlers } from './databases.js'
import { defragmentationHandlers } from './defragmentation.js'
import { featureCompatibilityHandlers } from './feature-compatibility.js'
import { memberHandlers } from './members.js'
import { migrationHandlers } from './migrations.js'
import { movePrimaryHandlers } from './move-primary.js'
import { queryAnalyzerHandlers } from './query-analyzers.js'
import { refineShardKeyHandlers } from './refine-shard-key.js'
import { relocationHandlers } from './relocation.js'
import { reshardingHandlers } from './resharding/reshardings.js'
import { settingsHandlers } from './settings.js'
import { shardHandlers } from './shards.js'
import { zoneHandlers } from './zones.js'
import type { ConfigHandlers } from './sharding-catalog.js'

export const configHandlers: ConfigHandlers = {
  ...memberHandlers,
  ...balancerHandlers,
  ...shardHandlers,
  ...zoneHandlers,
  ...migrationHandlers,
  ...movePrimaryHandlers,
  ...collectionSwitchHandlers,
  ...defragmentationHandlers,
  ...featureCompatibilityHandlers,
  ...databaseHandlers,
  ...chunkHandlers,
  ...collectionHandlers,
  ...refineShardKeyHandlers,
  ...relocationHandlers,
  ...reshardingHandlers,
  ...settingsHandlers,
  ...queryAnalyzerHandlers,
  ...changelogHandlers,
}

import { balancerHandlers } from './settings/balancer-requests.js'
import { changelogHandlers } from './changelog.js'
import { clusterParameterHandlers } from './settings/cluster-parameters.js'
import { chunkHandlers } from './chunks/requests.js'
import { collectionSwitchHandlers } from './collections/collection-switches.js'
import { collectionHandlers } from './collections/collections.js'
import { databaseHandlers } from './databases/databases.js'
import { defragmentationHandlers } from './collections/defragmentation.js'
import { featureCompatibilityHandlers } from './settings/feature-compatibility.js'
import { memberHandlers } from './members/members.js'
import { migrationHandlers } from './migrations/migrations.js'
import { movePrimaryHandlers } from './databases/move-primary.js'
import { placementHandlers } from './placement/get-collection.js'
import { queryAnalyzerHandlers } from './collections/query-analyzers.js'
import { refineShardKeyHandlers } from './collections/refine-shard-key.js'
import { relocationHandlers } from './members/relocation.js'
import { reshardingHandlers } from './resharding/reshardings.js'
import { querySettingsHandlers } from './settings/query-settings.js'
import { settingsHandlers } from './settings/settings.js'
import { shardHandlers } from './members/shards.js'
import { zoneHandlers } from './zones/zones.js'
import type { ConfigHandlers, ConfigHost, ConfigKind } from './host.js'

export const configHandlers: ConfigHandlers<ConfigKind, ConfigHost> = {
  ...memberHandlers,
  ...balancerHandlers,
  ...shardHandlers,
  ...zoneHandlers,
  ...migrationHandlers,
  ...movePrimaryHandlers,
  ...collectionSwitchHandlers,
  ...defragmentationHandlers,
  ...featureCompatibilityHandlers,
  ...clusterParameterHandlers,
  ...querySettingsHandlers,
  ...databaseHandlers,
  ...chunkHandlers,
  ...collectionHandlers,
  ...placementHandlers,
  ...refineShardKeyHandlers,
  ...relocationHandlers,
  ...reshardingHandlers,
  ...settingsHandlers,
  ...queryAnalyzerHandlers,
  ...changelogHandlers,
}

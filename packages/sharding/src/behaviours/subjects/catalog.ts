/** The documents of the config database. */
import { row } from '../row.js'

export const catalogBehaviours = {
  chunksAreKeyedByUuid: row<boolean>(
    'config.chunks documents name their collection by uuid instead of ns, and collections carry a timestamp.',
    'reference/config-database; type_chunk.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  chunksHaveOnCurrentShardSince: row<boolean>(
    'config.chunks documents have onCurrentShardSince.',
    'type_chunk.cpp',
    ['2.6', false],
    ['7.0', true],
  ),
  configVersionRange: row<readonly [least: number, current: number] | null>(
    'minCompatibleVersion and currentVersion of config.version, null for none.',
    'reference/config-database; type_config_version.cpp',
    ['2.6', [4, 5]],
    ['4.0', [5, 6]],
    ['7.0', null],
  ),
  configVersionHasVersion: row<boolean>(
    'config.version holds version as well, equal to minCompatibleVersion.',
    'config_upgrade.cpp of 2.6',
    ['2.6', true],
    ['4.0', false],
  ),
  shardsHaveState: row<boolean>(
    'config.shards documents tell the state of the shard.',
    'type_shard.cpp, new in 3.4',
    ['2.6', false],
    ['4.0', true],
  ),
  shardsHaveTopologyTime: row<boolean>(
    'config.shards documents tell when the shard joined.',
    'type_shard.cpp, topologyTime',
    ['2.6', false],
    ['5.0', true],
  ),
  shardsHaveReplSetConfigVersion: row<boolean>(
    'config.shards documents have replSetConfigVersion.',
    'type_shard.cpp, new in 7.2',
    ['2.6', false],
    ['8.0', true],
  ),
  collectionsHaveDistributionMode: row<boolean>(
    'config.collections documents have distributionMode.',
    'type_collection.cpp of 4.2 and 4.4',
    ['2.6', false],
    ['4.4', true],
    ['5.0', false],
  ),
  mongosesHaveAdvisoryHosts: row<boolean>(
    'config.mongos documents have advisoryHostFQDNs, and count their seconds in 64 bits.',
    'type_mongos.cpp, new in 3.6',
    ['2.6', false],
    ['4.0', true],
  ),
  mongosesHaveCreationTime: row<boolean>(
    'config.mongos documents tell when the router started.',
    'SERVER-57310, asked for in June 2021 when 5.0 had been branched; type_mongos.cpp, created',
    ['2.6', false],
    ['6.0.2', true],
  ),
  catalogCollectionsCannotBeDropped: row<boolean>(
    'Routers refuse to drop collections and indexes of config and admin.',
    'cluster_drop_collection_cmd.cpp, cluster_drop_indexes_cmd.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  configServerNamesRefusedCollections: row<boolean>(
    'A config server that refuses to make a collection of users says which, with InvalidNamespace instead of 14037.',
    'create_collection.cpp, userAllowedCreateNS',
    ['2.6', false],
    ['5.0', true],
  ),
  catalogHasLocks: row<boolean>(
    'There are config.locks and config.lockpings, for distributed locks.',
    'reference/config-database, config.locks; dist_lock_catalog_replset.cpp',
    ['2.6', true],
    ['7.0', false],
  ),
  catalogHasMigrations: row<boolean>(
    'There is config.migrations, for migrations that the balancer has to recover.',
    'type_migration.cpp, 3.4 to 5.3',
    ['2.6', false],
    ['4.0', true],
    ['6.0.2', false],
  ),
  databasesHavePartitioned: row<'as enabled' | 'false' | 'no'>(
    'config.databases documents have the field partitioned: whether enableSharding was called, false, or not at all.',
    'reference/config-database; type_database.idl, where the field is deprecated from 6.0 on; sh.status() of 7.0.24 and 8.0.3',
    ['2.6', 'as enabled'],
    ['6.0.2', 'false'],
    ['8.0', 'no'],
  ),
  droppedCollectionsLeaveEntries: row<boolean>(
    'A dropped sharded collection stays in config.collections with dropped: true.',
    'type_collection.cpp',
    ['2.6', true],
    ['5.0', false],
  ),
}

/** The documents of the config database. */
import { row } from '../row.js'

export const catalogBehaviours = {
  chunksAreKeyedByUuid: row<boolean>(
    'Documents of config.chunks reference their collection by uuid, and collections have a timestamp; otherwise by ns.',
    'reference/config-database; type_chunk.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  chunksHaveOnCurrentShardSince: row<boolean>(
    'Documents of config.chunks have onCurrentShardSince.',
    'type_chunk.cpp',
    ['2.6', false],
    ['7.0', true],
  ),
  configVersionRange: row<readonly [least: number, current: number] | null>(
    'minCompatibleVersion and currentVersion of config.version; none: they do not exist.',
    'reference/config-database; type_config_version.cpp',
    ['2.6', [4, 5]],
    ['4.0', [5, 6]],
    ['7.0', null],
  ),
  configVersionHasVersion: row<boolean>(
    'config.version also has the field version, equal to minCompatibleVersion.',
    'config_upgrade.cpp of 2.6',
    ['2.6', true],
    ['4.0', false],
  ),
  shardsHaveState: row<boolean>(
    'Documents of config.shards have the state of the shard.',
    'type_shard.cpp, new in 3.4',
    ['2.6', false],
    ['4.0', true],
  ),
  shardsHaveTopologyTime: row<boolean>(
    'Documents of config.shards have the time at which the shard joined.',
    'type_shard.cpp, topologyTime',
    ['2.6', false],
    ['5.0', true],
  ),
  shardsHaveReplSetConfigVersion: row<boolean>(
    'Documents of config.shards have replSetConfigVersion.',
    'type_shard.cpp, new in 7.2',
    ['2.6', false],
    ['8.0', true],
  ),
  collectionsHaveDistributionMode: row<boolean>(
    'Documents of config.collections have distributionMode.',
    'type_collection.cpp of 4.2 and 4.4',
    ['2.6', false],
    ['4.4', true],
    ['5.0', false],
  ),
  mongosesHaveAdvisoryHosts: row<boolean>(
    'Documents of config.mongos have advisoryHostFQDNs, and their seconds are 64-bit integers.',
    'type_mongos.cpp, new in 3.6',
    ['2.6', false],
    ['4.0', true],
  ),
  mongosesHaveCreationTime: row<boolean>(
    'Documents of config.mongos have the time at which the router started.',
    'SERVER-57310 of June 2021, after 5.0 was branched; type_mongos.cpp, created',
    ['2.6', false],
    ['6.0.2', true],
  ),
  catalogCollectionsCannotBeDropped: row<boolean>(
    'Routers reject drops of collections and indexes in config and admin.',
    'cluster_drop_collection_cmd.cpp, cluster_drop_indexes_cmd.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  configServerNamesRefusedCollections: row<boolean>(
    'A config server that rejects the creation of a user collection names the collection, with InvalidNamespace; otherwise it fails with 14037.',
    'create_collection.cpp, userAllowedCreateNS',
    ['2.6', false],
    ['5.0', true],
  ),
  catalogHasLocks: row<boolean>(
    'config.locks and config.lockpings exist, for distributed locks.',
    'reference/config-database, config.locks; dist_lock_catalog_replset.cpp',
    ['2.6', true],
    ['7.0', false],
  ),
  catalogHasMigrations: row<boolean>(
    'config.migrations exists, for migrations that the balancer must recover.',
    'type_migration.cpp, 3.4 to 5.3',
    ['2.6', false],
    ['4.0', true],
    ['6.0.2', false],
  ),
  databasesHavePartitioned: row<'as enabled' | 'false' | 'no'>(
    'The field partitioned of config.databases: whether enableSharding was called, always false, or absent.',
    'reference/config-database; type_database.idl, where the field is deprecated since 6.0; sh.status() of 7.0.24 and 8.0.3',
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

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
  configVersionHasCompatibilityRange: row<boolean>(
    'config.version holds minCompatibleVersion and currentVersion.',
    'reference/config-database',
    ['2.6', true],
    ['7.0', false],
  ),
  databasesHavePartitioned: row<boolean>(
    'config.databases documents have the partitioned field.',
    'reference/config-database',
    ['2.6', true],
    ['6.0.2', false],
  ),
  droppedCollectionsLeaveEntries: row<boolean>(
    'A dropped sharded collection stays in config.collections with dropped: true.',
    'type_collection.cpp',
    ['2.6', true],
    ['5.0', false],
  ),
}

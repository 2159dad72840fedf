/** reshardCollection and related commands. */
import { row } from '../row.js'

export const reshardingBehaviours = {
  reshardCollectionCommand: row<boolean>(
    'The command reshardCollection exists, with the commands that abort, commit and clean up after it.',
    'reference/command/reshardCollection, new in 5.0',
    ['2.6', false],
    ['5.0', true],
  ),
  reshardingCanForceRedistribution: row<boolean>(
    'reshardCollection accepts forceRedistribution, which allows the same key, and shardDistribution; otherwise it ignores them.',
    'reference/command/reshardCollection; cluster_reshard_collection_cmd.cpp, featureFlagReshardingImprovements',
    ['2.6', false],
    ['8.0', true],
  ),
  moveCollectionCommand: row<boolean>(
    'The commands moveCollection and unshardCollection exist, with the commands that abort them: unsharded collections may be on any shard.',
    'reference/command/moveCollection, reference/command/unshardCollection, new in 8.0',
    ['2.6', false],
    ['8.0', true],
  ),
  reshardingInitialChunks: row<number | null>(
    'Default number of chunks that reshardCollection creates; none: as many as the collection has.',
    'SERVER-92762; resharding_coordinator_service.cpp',
    ['2.6', null],
    ['7.0', 90],
  ),
  reshardingUnshardedCode: row<number>(
    'Code of reshardCollection for a collection that is not in the catalog: NamespaceNotSharded or NamespaceNotFound.',
    'reshard_collection_coordinator.cpp',
    ['2.6', 118],
    ['8.0', 26],
  ),
  reshardingStatistics: row<'none' | 'operations-first' | 'operations-last' | 'same-key'>(
    'Counters of reshardings in shardingStatistics of serverStatus: none in this form; with the applied operations before or after the blocked writes; also reshardings that keep the key.',
    'sharding_data_transform_cumulative_metrics.cpp; resharding_cumulative_metrics.cpp',
    ['2.6', 'none'],
    ['6.0.2', 'operations-first'],
    ['7.0', 'operations-last'],
    ['8.0', 'same-key'],
  ),
  reshardingReport: row<'status' | 'instance' | 'phases' | 'index-build'>(
    'The fields of a resharding in $currentOp: its status; the progress of each role; the same with the durations of phases first; also those of index builds.',
    'resharding_metrics.cpp, sharding_data_transform_instance_metrics.cpp',
    ['2.6', 'status'],
    ['6.0.2', 'instance'],
    ['7.0', 'phases'],
    ['8.0', 'index-build'],
  ),
}

/** reshardCollection and what belongs to it. */
import { row } from '../row.js'

export const reshardingBehaviours = {
  reshardCollectionCommand: row<boolean>(
    'There is a reshardCollection command, with those that abort it, let it commit and clean up after it.',
    'reference/command/reshardCollection, new in 5.0',
    ['2.6', false],
    ['5.0', true],
  ),
  reshardingCanForceRedistribution: row<boolean>(
    'reshardCollection takes forceRedistribution, with which the key may stay the same, and shardDistribution; before they are ignored.',
    'reference/command/reshardCollection; cluster_reshard_collection_cmd.cpp, featureFlagReshardingImprovements',
    ['2.6', false],
    ['8.0', true],
  ),
  moveCollectionCommand: row<boolean>(
    'There are moveCollection and unshardCollection, with those that abort them: collections that are not sharded may be on any shard.',
    'reference/command/moveCollection, reference/command/unshardCollection, new in 8.0',
    ['2.6', false],
    ['8.0', true],
  ),
  reshardingInitialChunks: row<number | null>(
    'Chunks that reshardCollection makes when it is not told how many; null: as many as there are.',
    'SERVER-92762; resharding_coordinator_service.cpp',
    ['2.6', null],
    ['7.0', 90],
  ),
  reshardingUnshardedCode: row<number>(
    'Code of reshardCollection for a collection that the catalog does not know: NamespaceNotSharded, later NamespaceNotFound.',
    'reshard_collection_coordinator.cpp',
    ['2.6', 118],
    ['8.0', 26],
  ),
  reshardingStatistics: row<'none' | 'operations-first' | 'operations-last' | 'same-key'>(
    'serverStatus counts reshardings in shardingStatistics: not in this form; with what has been applied before or behind writes that wait; also those that keep the key.',
    'sharding_data_transform_cumulative_metrics.cpp; resharding_cumulative_metrics.cpp',
    ['2.6', 'none'],
    ['6.0.2', 'operations-first'],
    ['7.0', 'operations-last'],
    ['8.0', 'same-key'],
  ),
  reshardingReport: row<'status' | 'instance' | 'phases' | 'index-build'>(
    'What $currentOp tells of a resharding: its status; or for each role what it has done; then the times of phases first; then those of index builds, too.',
    'resharding_metrics.cpp, sharding_data_transform_instance_metrics.cpp',
    ['2.6', 'status'],
    ['6.0.2', 'instance'],
    ['7.0', 'phases'],
    ['8.0', 'index-build'],
  ),
}

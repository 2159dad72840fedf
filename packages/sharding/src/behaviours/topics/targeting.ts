/** How routers target, merge and count. */
import { row } from '../row.js'

export const targetingBehaviours = {
  exprComparisonsGiveBounds: row<'none' | 'equality' | 'all'>(
    'Which comparisons of a field with a constant inside $expr give bounds for routing.',
    'reference/operator/query/expr; rewrite_expr.cpp',
    ['2.6', 'none'],
    ['4.0', 'equality'],
    ['5.0', 'all'],
  ),
  emptyInIsFalse: row<boolean>(
    'A filter with an empty $in is optimized to false before routing and goes to all shards; otherwise it is a contradiction in the bounds and goes to one shard.',
    'expression_leaf.cpp, optimizer of InMatchExpression; shard_key_pattern_query_util.cpp, collapseQuerySolution',
    ['2.6', false],
    ['8.0', true],
  ),
  routersMerge: row<boolean>(
    'A router merges the results of a pipeline unless a stage needs a shard; then one of the targeted shards merges. Otherwise the primary shard always merges.',
    'core/aggregation-pipeline-sharded-collections; cluster_pipeline_cmd.cpp of 2.6, cluster_aggregation_planner.cpp',
    ['2.6', false],
    ['4.0', true],
  ),
  ownersMerge: row<boolean>(
    'A pipeline that reads or writes an unsharded collection is merged on the shard that has it; otherwise on the primary shard of the pipeline.',
    'stage_constraints.h, document_source_lookup.cpp, document_source_writer.h; determineSpecificMergeShard of common_process_interface.cpp',
    ['2.6', false],
    ['8.0', true],
  ),
  shardedCollectionsCanBeJoined: row<boolean>(
    'The stages $lookup and $graphLookup can read sharded collections; otherwise they fail with 28769.',
    'release notes 5.1; reference/operator/aggregation/lookup, graphLookup',
    ['2.6', false],
    ['6.0.2', true],
  ),
  partialResultsAreReported: row<boolean>(
    'If a find with allowPartialResults skipped shards, its cursor reply has partialResultsReturned.',
    'reference/command/find, allowPartialResults',
    ['2.6', false],
    ['4.4', true],
  ),
  timeLimitsLeavePartialResults: row<boolean>(
    'A find with allowPartialResults and maxTimeMS skips shards that do not reply in time; otherwise it fails with 50.',
    'SERVER-57469; cluster_find.cpp',
    ['2.6', false],
    ['7.0', true],
  ),
  targetedHostsAreCounted: row<boolean>(
    'serverStatus on a router counts how many shards commands target, in shardingStatistics.numHostsTargeted.',
    'reference/command/serverStatus of 4.4; num_hosts_targeted_metrics.cpp',
    ['2.6', false],
    ['4.4', true],
  ),
}

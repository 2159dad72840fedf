/** Where filters lead, and how routers count it. */
import { row } from '../row.js'

export const targetingBehaviours = {
  exprComparisonsGiveBounds: row<'none' | 'equality' | 'all'>(
    'Which comparisons of a field with a constant within $expr tell a router where documents can be.',
    'reference/operator/query/expr; rewrite_expr.cpp',
    ['2.6', 'none'],
    ['4.0', 'equality'],
    ['5.0', 'all'],
  ),
  emptyInIsFalse: row<boolean>(
    'A filter with an empty $in is known to match nothing before it is routed, and goes to all shards; before, it is a contradiction and goes to one.',
    'expression_leaf.cpp, optimizer of InMatchExpression; shard_key_pattern_query_util.cpp, collapseQuerySolution',
    ['2.6', false],
    ['8.0', true],
  ),
  routersMerge: row<boolean>(
    'A router merges what shards send of a pipeline where no stage needs a shard, and a shard that takes part where one does; before, the primary shard always does.',
    'core/aggregation-pipeline-sharded-collections; cluster_pipeline_cmd.cpp of 2.6, cluster_aggregation_planner.cpp',
    ['2.6', false],
    ['4.0', true],
  ),
  ownersMerge: row<boolean>(
    'What reads or writes a collection that is not sharded is merged on the shard that has it, instead of on the primary shard of the pipeline.',
    'stage_constraints.h, document_source_lookup.cpp, document_source_writer.h; determineSpecificMergeShard of common_process_interface.cpp',
    ['2.6', false],
    ['8.0', true],
  ),
  partialResultsAreTold: row<boolean>(
    'A cursor reply of a find with allowPartialResults says partialResultsReturned when shards were passed over.',
    'reference/command/find, allowPartialResults',
    ['2.6', false],
    ['4.4', true],
  ),
  timeLimitsLeavePartialResults: row<boolean>(
    'A find with allowPartialResults and maxTimeMS passes over shards that do not answer in time, instead of failing with 50.',
    'SERVER-57469; cluster_find.cpp',
    ['2.6', false],
    ['7.0', true],
  ),
  targetedHostsAreCounted: row<boolean>(
    'serverStatus of a router counts how many shards commands go to, in shardingStatistics.numHostsTargeted.',
    'reference/command/serverStatus of 4.4; num_hosts_targeted_metrics.cpp',
    ['2.6', false],
    ['4.4', true],
  ),
}

/** The fields of explain and their order. */
import { row } from '../row.js'

export const explainBehaviours = {
  explainShowsWholePlans: row<boolean>(
    'A pipeline that one plan answers completely is explained like a find, and every explained pipeline has serverInfo; otherwise all pipelines are explained as stages, the first of them $cursor, without serverInfo.',
    'pipeline_d.cpp, canOptimizeAwayPipeline, new in 4.2; explain.cpp, explainPipelineExecutor',
    ['2.6', false],
    ['4.4', true],
  ),
  explainCursorsShowQuery: row<boolean>(
    'The stage $cursor shows the query, sort, limit and fields that its plan answers.',
    'document_source_cursor.cpp, serialize, until 4.2',
    ['2.6', true],
    ['4.4', false],
  ),
  explainCountsStageResults: row<boolean>(
    'The stages of an executed pipeline have nReturned and executionTimeMillisEstimate.',
    'pipeline.cpp, writeExplainOps, new in 4.4',
    ['2.6', false],
    ['4.4', true],
  ),
  explainHasQueryHash: row<boolean>(
    'queryPlanner has queryHash and planCacheKey.',
    'reference/explain-results, new in 4.2',
    ['2.6', false],
    ['4.4', true],
  ),
  explainStages: row<'invalidated' | 'named'>(
    'The stages of plans count invalidations, with PROJECTION and SORT_KEY_GENERATOR; later projections have the names of their kinds, and sorts show their limits.',
    'explain.cpp of 4.0, statsToBSON; plan_explainer_impl.cpp',
    ['2.6', 'invalidated'],
    ['4.4', 'named'],
  ),
  hashesCoverShardKeys: row<boolean>(
    'A plan over an index with the hash of a shard key field finds orphans without reading documents.',
    'query_solution.cpp, IndexScanNode::hasField of 4.0 and getFieldAvailability of 4.4',
    ['2.6', false],
    ['4.4', true],
  ),
  explainIsVersioned: row<boolean>(
    'Explain has explainVersion, the command, server parameters and the limits that the planner reached; otherwise plannerVersion.',
    'reference/explain-results of 4.4 and 5.0',
    ['2.6', false],
    ['5.0', true],
  ),
  explainVerbosityIsEnumerated: row<boolean>(
    'An unknown verbosity of explain fails with BadValue; otherwise with FailedToParse.',
    'explain_options.cpp, explain_cmd.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  explainTimesOptimization: row<boolean>(
    'queryPlanner has optimizationTimeMillis.',
    'reference/explain-results of 6.0 and 7.0',
    ['2.6', false],
    ['7.0', true],
  ),
  explainNamesQueryFramework: row<boolean>(
    'serverParameters has internalQueryFrameworkControl.',
    'explain_common.cpp',
    ['2.6', false],
    ['7.0', true],
  ),
  explainNamesRegexPlanning: row<boolean>(
    'serverParameters has internalQueryPlannerIgnoreIndexWithCollationForRegex.',
    'explain_common.cpp',
    ['2.6', false],
    ['8.0', true],
  ),
  explainShowsPlanCache: row<boolean>(
    'Plans have isCached, queryPlanner has planCacheShapeHash and prunedSimilarIndexes, and parsedQuery precedes indexFilterSet.',
    'reference/explain-results of 8.0; explain.cpp',
    ['2.6', false],
    ['8.0', true],
  ),
  explainHasScores: row<boolean>(
    'Plans in allPlansExecution have their score.',
    'explain.cpp, generateSinglePlanExecutionInfo',
    ['2.6', false],
    ['6.0.2', true],
  ),
  explainHasQueryShapeHash: row<boolean>(
    'Explain has queryShapeHash. On a router it has explainVersion for each shard; otherwise mongosPlannerVersion.',
    'reference/explain-results of 8.0; cluster_explain.cpp, explain_common.cpp',
    ['2.6', false],
    ['8.0', true],
  ),
  unshardedPipelinesPassThrough: row<boolean>(
    "A router's explain of a pipeline without sharded collections is the primary shard's explain; otherwise it has one entry under shards.",
    'cluster_aggregate.cpp, TargetingPolicy::kPassthrough',
    ['2.6', true],
    ['8.0', false],
  ),
  explainShowsMergeCursors: row<boolean>(
    'The merging part of an explained pipeline begins with $mergeCursors.',
    'agg_explain_fmt.js: since 5.3',
    ['2.6', false],
    ['6.0.2', true],
  ),
  expressPlans: row<boolean>(
    'Reads and writes of one document by a single equality have their own plans, such as EXPRESS_IXSCAN.',
    'release notes 8.0; reference/explain-results; query_utils.h, isExpressEligible',
    ['2.6', false],
    ['8.0', true],
  ),
}

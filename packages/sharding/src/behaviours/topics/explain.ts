/** The fields of explain and their order. */
import { row } from '../row.js'

export const explainBehaviours = {
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

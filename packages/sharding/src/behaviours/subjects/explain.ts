/** What explain tells, and in which order. */
import { row } from '../row.js'

export const explainBehaviours = {
  explainIsVersioned: row<boolean>(
    'Explain says explainVersion, the command, server parameters and which limits the planner reached, instead of plannerVersion.',
    'reference/explain-results of 4.4 and 5.0',
    ['2.6', false],
    ['5.0', true],
  ),
  explainVerbosityIsEnumerated: row<boolean>(
    'An unknown verbosity of explain is BadValue instead of FailedToParse.',
    'explain_options.cpp, explain_cmd.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  explainTimesOptimization: row<boolean>(
    'queryPlanner holds optimizationTimeMillis.',
    'reference/explain-results of 6.0 and 7.0',
    ['2.6', false],
    ['7.0', true],
  ),
  explainNamesQueryFramework: row<boolean>(
    'serverParameters holds internalQueryFrameworkControl.',
    'explain_common.cpp',
    ['2.6', false],
    ['7.0', true],
  ),
  explainNamesRegexPlanning: row<boolean>(
    'serverParameters holds internalQueryPlannerIgnoreIndexWithCollationForRegex.',
    'explain_common.cpp',
    ['2.6', false],
    ['8.0', true],
  ),
  explainShowsPlanCache: row<boolean>(
    'Plans say isCached, queryPlanner has planCacheShapeHash and prunedSimilarIndexes, and parsedQuery comes before indexFilterSet.',
    'reference/explain-results of 8.0; explain.cpp',
    ['2.6', false],
    ['8.0', true],
  ),
  explainTellsScores: row<boolean>(
    'Plans in allPlansExecution have their score.',
    'explain.cpp, generateSinglePlanExecutionInfo',
    ['2.6', false],
    ['6.0.2', true],
  ),
  explainHasQueryShapeHash: row<boolean>(
    'Explain has queryShapeHash, and of a router explainVersion for each shard in the place of mongosPlannerVersion.',
    'reference/explain-results of 8.0; cluster_explain.cpp, explain_common.cpp',
    ['2.6', false],
    ['8.0', true],
  ),
  unshardedPipelinesPassThrough: row<boolean>(
    "A router's explain of a pipeline without sharded collections is what the primary shard says, instead of one entry under shards.",
    'cluster_aggregate.cpp, TargetingPolicy::kPassthrough',
    ['2.6', true],
    ['8.0', false],
  ),
  explainShowsMergeCursors: row<boolean>(
    'The merging part of an explained pipeline begins with $mergeCursors.',
    'agg_explain_fmt.js, which says: since 5.3',
    ['2.6', false],
    ['6.0.2', true],
  ),
  expressPlans: row<boolean>(
    'Reading or writing one document by a single equality has a plan of its own, EXPRESS_IXSCAN and others.',
    'release notes 8.0; reference/explain-results; query_utils.h, isExpressEligible',
    ['2.6', false],
    ['8.0', true],
  ),
}

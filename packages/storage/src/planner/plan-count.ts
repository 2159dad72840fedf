/**
 * Server: get_executor.cpp (getExecutorCount, getExecutorDistinct), planner_analysis.cpp
 * (turnIxscanIntoCount).
 */
import { DocumentWriter } from '@shardlab/bson'
import { isPoint } from '@shardlab/query'
import type { IndexScan, PlanStage } from '../plans/plan-stage.js'
import type { QueryPlan } from '../plans/query-plan.js'
import { singleRangeOf } from '../stages/scan-range.js'
import type { Collection } from '../engine/types.js'
import { accessPath, containsEveryMatch } from './access-path.js'
import { hasNoPredicate } from './data-access.js'
import { plainEntry } from './index-entry.js'
import { normalized } from './normalize.js'
import { planned } from './plan-query.js'
import type { QueryRequest } from './query-request.js'

/**
 * For `countBy`. `skip` and `limit` apply to the count. Without predicate and hint the plan counts
 * all records, orphans included, as on the server.
 * @throws CommandError as `planQuery`
 */
export function planCount(collection: Collection, request: QueryRequest): QueryPlan {
  const { filter, hint, skip = 0, limit = 0 } = request
  const strings = request.strings ?? filter.strings
  const root = normalized(filter.root, strings)
  if (hasNoPredicate(root) && hint === undefined) {
    return {
      collection,
      filter,
      root: { stage: 'RECORD_STORE_FAST_COUNT', skip, limit },
      strings,
      isFiltered: false,
      isAllowed: false,
      rejected: [],
      trials: [],
    }
  }
  const plan = planRowsToCount(collection, { ...request, skip: 0, limit: 0 })
  return { ...plan, root: { stage: 'COUNT', skip, limit, input: plan.root } }
}

/**
 * For rows that are only counted: their documents may lack requested fields.
 * @throws CommandError as `planQuery`
 */
export function planRowsToCount(collection: Collection, request: QueryRequest): QueryPlan {
  const plan = planned(collection, request, { isCount: true })
  const fast = [plan.root, ...plan.rejected].map(countScanOf).find((stage) => stage !== null)
  return fast === undefined ? plan : { ...plan, root: fast, rejected: [], trials: [] }
}

/** A plan that only scans one range of an index needs no documents. */
function countScanOf(plan: PlanStage): PlanStage | null {
  const scan = plan.stage === 'FETCH' && plan.filter === null ? plan.input : plan
  if (
    scan.stage !== 'IXSCAN' ||
    scan.filter !== null ||
    scan.scan.between !== null ||
    singleRangeOf(scan.scan) === null
  )
    return null
  return { stage: 'COUNT_SCAN', scan: { ...scan.scan, reverse: false } }
}

/**
 * Rows that together have every value of `key`. Values may repeat.
 * @throws CommandError as `planQuery`
 */
export function planDistinct(collection: Collection, request: QueryRequest & { readonly key: string }): QueryPlan {
  const plan = planned(collection, request, {})
  const scan = distinctScanOf(collection, { ...request, filter: plan.filter }, plan)
  if (scan === null) return plan
  const projection = {
    document: new DocumentWriter(32).int32('_id', 0).int32(request.key, 1).finish(),
    apply: (document: Uint8Array) => document,
  }
  return { ...plan, root: { stage: 'PROJECTION_COVERED', projection, input: scan }, rejected: [], trials: [] }
}

function distinctScanOf(
  collection: Collection,
  request: QueryRequest & { readonly key: string },
  plan: QueryPlan,
): PlanStage | null {
  if ((request.skip ?? 0) > 0 || (request.limit ?? 0) > 0 || request.sort !== undefined) return null
  const scan = exactScanOf(plan.root) ?? wholeScanOf(collection, request, plan)
  if (scan === null || scan.between !== null || scan.entry.wildcardPath !== null) return null
  const { pattern, multikeyPaths, index } = scan.entry
  const field = pattern.findIndex(({ path }) => path === request.key)
  // An array has one key per element. Hashes and the labels of a collation are not the values.
  if (field < 0 || pattern[field]!.direction === 'hashed' || multikeyPaths[field]!.size > 0 || index.collation !== null)
    return null
  const before = scan.bounds.fields.slice(0, field)
  if (!before.every(({ intervals }) => intervals.length === 1 && isPoint(intervals[0]!))) return null
  return { stage: 'DISTINCT_SCAN', scan, fieldCount: field + 1, shardFilter: request.shardFilter ?? null }
}

/** @returns null: a predicate remains to be tested on documents */
function exactScanOf(plan: PlanStage): IndexScan | null {
  switch (plan.stage) {
    case 'SHARDING_FILTER':
      return exactScanOf(plan.input)
    case 'FETCH':
      return plan.filter === null ? exactScanOf(plan.input) : null
    case 'IXSCAN':
      return plan.filter === null ? plan.scan : null
    default:
      return null
  }
}

/**
 * The index with the fewest fields that begins with the key; null if the query has a predicate or a
 * hint.
 */
function wholeScanOf(
  collection: Collection,
  { filter, key, hint, allowed }: QueryRequest & { readonly key: string },
  plan: QueryPlan,
): IndexScan | null {
  if (
    !hasNoPredicate(filter.root) ||
    hint !== undefined ||
    allowed !== undefined ||
    plan.isFiltered ||
    plan.root.stage === 'EOF'
  )
    return null
  const candidates = collection
    .indexes()
    .filter((index) => index.wildcard === null && index.pattern[0]!.path === key)
    .map((index) => accessPath(plainEntry(index), filter.root, { sort: null, strings: plan.strings }))
    .filter((path) => containsEveryMatch(path, filter.root))
    .sort((a, b) => a.scan.entry.pattern.length - b.scan.entry.pattern.length)
  return candidates[0]?.scan ?? null
}

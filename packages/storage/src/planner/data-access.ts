/**
 * Candidate accesses: one index for the whole query, or one for each branch of a `$or`. Server:
 * query_planner.cpp, plan_enumerator.cpp, subplan.cpp.
 */
import type { Filter, FilterNode, SortPattern } from '@shardlab/query'
import { mayRepeat, type IndexEntry, type IndexScan, type PlanStage } from '../plans/plan-stage.js'
import type { Index } from '../engine/types.js'
import { accessPath, containsEveryMatch, isRelevant, type AccessPath, type AccessRequest } from './access-path.js'
import { explode } from './explode.js'
import { entriesOf, plainEntry } from './index-entry.js'
import { indexPrefixWinners } from './index-prefix.js'
import { conjuncts, partOf, residualOf } from './residual.js'
import type { DataAccess } from './solution.js'

/** @returns empty: only a collection scan can answer the query */
export function indexedAccesses(indexes: readonly Index[], filter: Filter, request: AccessRequest): DataAccess[] {
  const entries = indexes.flatMap((index) => entriesOf(index, filter.root))
  const accesses: DataAccess[] = []
  if (isSingleIndexQuery(filter.root)) {
    const paths = usefulPaths(entries, filter.root, request)
    for (const path of identifyingPath(paths, filter.root) ?? paths)
      accesses.push(accessBy(path, filter, filter.root, request.sort))
  }
  const alternatives = accessByAlternatives(entries, filter, request)
  if (alternatives !== null) accesses.push(alternatives)
  if (request.sort !== null && !accesses.some(({ sorted }) => sorted)) {
    accesses.push(...wholeIndexes(indexes, filter, { ...request, sort: request.sort }))
  }
  return accesses
}

/** Full scans of indexes that give the order. The whole predicate is tested on documents. */
function wholeIndexes(
  indexes: readonly Index[],
  filter: Filter,
  request: AccessRequest & { sort: SortPattern },
): DataAccess[] {
  return indexes
    .filter((index) => index.wildcard === null && !index.sparse)
    .map((index) => accessPath(plainEntry(index), { kind: 'and', children: [] }, request))
    .filter((path) => path.sorted && containsEveryMatch(path, filter.root))
    .map(({ scan }): DataAccess => {
      const input: PlanStage = { stage: 'IXSCAN', scan, filter: null }
      return { root: hasNoPredicate(filter.root) ? input : { stage: 'FETCH', filter, input }, sorted: true }
    })
}

export function hasNoPredicate(root: FilterNode): boolean {
  return root.kind === 'and' && root.children.length === 0
}

/** The bounds come from the predicate if it concerns the hinted index. */
export function hintedAccess(entries: readonly IndexEntry[], filter: Filter, request: AccessRequest): DataAccess[] {
  return entries.map((entry) => accessBy(accessPath(entry, filter.root, request), filter, filter.root, request.sort))
}

/**
 * One scan, or several merged ones if these give the order.
 * @param root its residual predicate is tested
 */
function accessBy(path: AccessPath, filter: Filter, root: FilterNode, sort: SortPattern | null): DataAccess {
  const { onKeys, onDocuments } = residualOf(path, root)
  const keyFilter = partOf(filter, onKeys)
  const scanStage = (scan: IndexScan): PlanStage => ({ stage: 'IXSCAN', scan, filter: keyFilter })
  const hasOtherOrder = path.otherComparator !== undefined
  const exploded = sort === null || path.sorted || hasOtherOrder ? null : explode(path.scan, sort)
  const source: PlanStage =
    exploded === null
      ? scanStage(path.scan)
      : { stage: 'SORT_MERGE', sort: sort!, dedup: mayRepeat(path.scan), inputs: exploded.map(scanStage) }
  const documentFilter = partOf(filter, onDocuments)
  return {
    root: documentFilter === null ? source : { stage: 'FETCH', filter: documentFilter, input: source },
    sorted: sort === null || path.sorted || exploded !== null,
  }
}

/** False if branches of a `$or` have different paths: each branch then needs its own scan. */
function isSingleIndexQuery(root: FilterNode): boolean {
  return (
    root.kind !== 'or' ||
    new Set(root.children.flatMap((child) => conjuncts(child).map((each) => ('path' in each ? each.path : ''))))
      .size === 1
  )
}

function usefulPaths(entries: readonly IndexEntry[], root: FilterNode, request: AccessRequest): AccessPath[] {
  return entries
    .filter((entry) => isRelevant(entry, root, request.strings))
    .map((entry) => accessPath(entry, root, request))
    .filter((path) => containsEveryMatch(path, root))
}

/**
 * If equality on a unique index identifies one document, the planner ignores all other indexes.
 * Server: stripUnneededAssignments.
 */
function identifyingPath(paths: readonly AccessPath[], root: FilterNode): AccessPath[] | null {
  for (const child of conjuncts(root)) {
    if (child.kind !== 'comparison' || child.operator !== 'eq') continue
    const path = paths.find(
      ({ scan: { entry, bounds } }) =>
        entry.index.unique &&
        entry.pattern.length === 1 &&
        entry.pattern[0]!.path === child.path &&
        bounds.fields[0]!.exact,
    )
    if (path !== undefined) return [path]
  }
  return null
}

/** @returns null: the query does not have exactly one `$or`, or a branch of it has no access */
function accessByAlternatives(
  entries: readonly IndexEntry[],
  filter: Filter,
  request: AccessRequest,
): DataAccess | null {
  const alternatives = alternativesOf(filter.root)
  if (alternatives.length < 2 || (filter.root.kind === 'or' && isSingleIndexQuery(filter.root))) return null
  const chosen: AccessPath[] = []
  for (const alternative of alternatives) {
    const best = bestFor(alternative, entries, filter.root, request)
    if (best === null) return null
    chosen.push(best)
  }
  const { sort } = request
  const parts = chosen.map((path, i) => accessBy(path, filter, alternatives[i]!, sort))
  const inputs = parts.map(({ root }) => root)
  if (sort !== null && parts.every(({ sorted }) => sorted)) {
    return { root: { stage: 'SORT_MERGE', sort, dedup: true, inputs }, sorted: true }
  }
  // The branches are not merged, so scan each of them without the sort.
  const plain = chosen.map((path, i) => accessBy(path, filter, alternatives[i]!, null).root)
  return { root: { stage: 'OR', inputs: plain }, sorted: sort === null }
}

/**
 * The predicate, once for each branch of its only `$or`, with that branch in place of the `$or`.
 */
function alternativesOf(root: FilterNode): FilterNode[] {
  if (root.kind === 'or') return [...root.children]
  if (root.kind !== 'and') return []
  const ors = root.children.filter((child) => child.kind === 'or')
  const or = ors[0]
  if (ors.length !== 1 || or === undefined) return []
  const others = root.children.filter((child) => child !== or)
  return or.children.map((branch) => ({ kind: 'and', children: [...others, ...conjuncts(branch)] }))
}

function bestFor(
  alternative: FilterNode,
  entries: readonly IndexEntry[],
  root: FilterNode,
  request: AccessRequest,
): AccessPath | null {
  const relevant = entries
    .filter((entry) => isRelevant(entry, alternative, request.strings))
    .map((entry) => accessPath(entry, alternative, request))
    .filter((path) => containsEveryMatch(path, alternative) || containsEveryMatch(path, root))
  const paths = identifyingPath(relevant, alternative) ?? relevant
  const sorted = request.sort === null ? [] : paths.filter((path) => path.sorted)
  const candidates = sorted.length > 0 ? sorted : paths
  const winners = indexPrefixWinners(candidates.map(({ scan }) => ({ stage: 'IXSCAN', scan, filter: null })))
  return candidates[winners[0] ?? 0] ?? null
}

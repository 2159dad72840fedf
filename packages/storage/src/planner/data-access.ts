/**
 * All ways to the data that are worth a try: one index for all of the query, or one for each alternative of a `$or`.
 * Server: query_planner.cpp, plan_enumerator.cpp, subplan.cpp.
 */
import type { Filter, FilterNode, SortPattern } from '@shardlab/query'
import { mayRepeat, type IndexEntry, type IndexScan, type PlanStage } from '../plan.js'
import type { Collection } from '../types.js'
import { accessPath, holdsEveryMatch, isRelevant, type AccessPath, type AccessRequest } from './access-path.js'
import { explode } from './explode.js'
import { entriesOf, plainEntry } from './index-entry.js'
import { indexPrefixWinners } from './index-prefix.js'
import { conjuncts, partOf, residualOf } from './residual.js'
import type { DataAccess } from './solution.js'

/** Ways by an index; none when only a collection scan will do. */
export function indexedAccesses(collection: Collection, filter: Filter, request: AccessRequest): DataAccess[] {
  const entries = collection.indexes().flatMap((index) => entriesOf(index, filter.root))
  const accesses: DataAccess[] = []
  if (isSingleIndexQuery(filter.root)) {
    const paths = usefulPaths(entries, filter.root, request)
    for (const path of onlyIdentifying(paths, filter.root) ?? paths)
      accesses.push(accessBy(path, filter, filter.root, request.sort))
  }
  const alternatives = accessByAlternatives(entries, filter, request)
  if (alternatives !== null) accesses.push(alternatives)
  if (request.sort !== null && !accesses.some(({ sorted }) => sorted)) {
    accesses.push(...wholeIndexes(collection, filter, { ...request, sort: request.sort }))
  }
  return accesses
}

/** Whole scans of indexes that give the order, with the whole predicate left to be tested. */
function wholeIndexes(
  collection: Collection,
  filter: Filter,
  request: AccessRequest & { sort: SortPattern },
): DataAccess[] {
  return collection
    .indexes()
    .filter((index) => index.wildcard === null && !index.sparse)
    .map((index) => accessPath(plainEntry(index), { kind: 'and', children: [] }, request))
    .filter((path) => path.sorted && holdsEveryMatch(path, filter.root))
    .map(({ scan }): DataAccess => {
      const input: PlanStage = { stage: 'IXSCAN', scan, filter: null }
      return { root: isTrivial(filter.root) ? input : { stage: 'FETCH', filter, input }, sorted: true }
    })
}

/** A query without a predicate. */
export function isTrivial(root: FilterNode): boolean {
  return root.kind === 'and' && root.children.length === 0
}

/** The index, with bounds where it has a predicate for them. */
export function hintedAccess(entries: readonly IndexEntry[], filter: Filter, request: AccessRequest): DataAccess[] {
  return entries.map((entry) => accessBy(accessPath(entry, filter.root, request), filter, filter.root, request.sort))
}

/** One scan with what is left of `root`; several merged ones where that gives the order. */
function accessBy(path: AccessPath, filter: Filter, root: FilterNode, sort: SortPattern | null): DataAccess {
  const { onKeys, onDocuments } = residualOf(path, root)
  const keyFilter = partOf(filter, onKeys)
  const scanStage = (scan: IndexScan): PlanStage => ({ stage: 'IXSCAN', scan, filter: keyFilter })
  const orderIsForeign = path.foreignStrings !== undefined
  const exploded = sort === null || path.sorted || orderIsForeign ? null : explode(path.scan, sort)
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

/** A predicate whose alternatives are about different paths needs a scan for each of them. */
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
    .filter((path) => holdsEveryMatch(path, root))
}

/** Where equality on a unique index finds the one document, nothing else is tried. Server: stripUnneededAssignments. */
function onlyIdentifying(paths: readonly AccessPath[], root: FilterNode): AccessPath[] | null {
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

/** One way for each alternative of the only `$or`; null when one of them has none. */
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
  // Without an order it is the plain scans that are wanted.
  const plain = chosen.map((path, i) => accessBy(path, filter, alternatives[i]!, null).root)
  return { root: { stage: 'OR', inputs: plain }, sorted: sort === null }
}

/** The predicate with each alternative in the place of the `$or`. */
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
    .filter((path) => holdsEveryMatch(path, alternative) || holdsEveryMatch(path, root))
  const paths = onlyIdentifying(relevant, alternative) ?? relevant
  const sorted = request.sort === null ? [] : paths.filter((path) => path.sorted)
  const candidates = sorted.length > 0 ? sorted : paths
  const winners = indexPrefixWinners(candidates.map(({ scan }) => ({ stage: 'IXSCAN', scan, filter: null })))
  return candidates[winners[0] ?? 0] ?? null
}

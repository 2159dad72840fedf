/**
 * The planner: from a query and the indexes of its collection to one plan. Where the server lets plans race, this
 * one compares what they are: fields fixed to values count most, then the order that is wanted, then ranges; what
 * is still equal is decided by the number of keys in reach. Server: query/query_planner.cpp, plan_ranker.cpp.
 */
import { BsonType, type RawValue, type StringComparator } from '@shardlab/bson'
import { boundsForOr, type Filter, type FilterNode, type SortPattern } from '@shardlab/query'
import { resolveHint } from './hint.js'
import {
  boundsOn,
  boundsOptions,
  candidateOf,
  candidateWith,
  holdsEveryMatch,
  type CandidateRequest,
  type IndexCandidate,
} from './index-candidate.js'
import type { IndexScan, PlanSource, QueryPlan, RowProjection } from './plan.js'
import type { Collection } from './types.js'

export interface QueryRequest {
  readonly filter: Filter
  readonly sort?: SortPattern
  /** Name or key pattern of an index, or `{ $natural: ±1 }`. */
  readonly hint?: string | Uint8Array
  /** Default 0. */
  readonly skip?: number
  /** Default 0: no limit. */
  readonly limit?: number
  readonly projection?: RowProjection
  /** The query's collation, when it is not simple. Indexes hold no collation keys. */
  readonly strings?: StringComparator
}

/** As many keys as the server's trial of plans would return at most. */
const trialKeys = 101

/** @throws CommandError as a hint is refused with */
export function planQuery(collection: Collection, request: QueryRequest): QueryPlan {
  const sort = request.sort === undefined || request.sort.parts.length === 0 ? null : request.sort
  const plan = (source: PlanSource, sorted: boolean): QueryPlan => ({
    collection,
    filter: request.filter,
    source,
    sort: sorted ? null : sort,
    skip: request.skip ?? 0,
    limit: request.limit ?? 0,
    projection: request.projection ?? null,
  })
  const wanted: CandidateRequest = { filter: request.filter, sort, strings: request.strings }

  if (request.hint !== undefined) {
    const hint = resolveHint(collection, request.hint)
    if ('natural' in hint) return plan({ stage: 'COLLSCAN', reverse: hint.natural === -1 }, sort === null)
    const { scan, sorted } = candidateOf(hint.index, wanted)
    return plan({ stage: 'IXSCAN', scan }, sort === null || sorted)
  }
  const natural = request.sort?.natural ?? null
  if (natural !== null) return plan({ stage: 'COLLSCAN', reverse: natural === -1 }, true)
  const id = idOf(request.filter.root, request.strings)
  if (id !== null) return plan({ stage: 'IDHACK', id }, true)
  if (isNever(request.filter.root)) return plan({ stage: 'EOF' }, true)

  const best = bestCandidate(collection, wanted, request.limit ?? 0)
  if (best !== null && best.boundedFields > 0) return plan({ stage: 'IXSCAN', scan: best.scan }, sort === null || best.sorted)
  const alternatives = scansOfAlternatives(collection, wanted)
  if (alternatives !== null) return plan({ stage: 'OR', scans: alternatives }, sort === null)
  if (best !== null) return plan({ stage: 'IXSCAN', scan: best.scan }, true)
  return plan({ stage: 'COLLSCAN', reverse: false }, sort === null)
}

/** The `_id` when the whole query is one equality on it. */
function idOf(root: FilterNode, strings: StringComparator | undefined): RawValue | null {
  if (root.kind !== 'comparison' || root.operator !== 'eq' || root.path !== '_id') return null
  const { type } = root.value
  // No document's _id is one of these; embedded strings would need the collation.
  if (type === BsonType.array || type === BsonType.regex || type === BsonType.undefined || type === BsonType.null) return null
  return strings !== undefined && (type === BsonType.string || type === BsonType.object) ? null : root.value
}

function isNever(root: FilterNode): boolean {
  return root.kind === 'always' ? !root.value : root.kind === 'and' && root.children.some(isNever)
}

/** Of the indexes whose first field is restricted, or which give the order, the best; null when there is none. */
function bestCandidate(collection: Collection, request: CandidateRequest, limit: number): IndexCandidate | null {
  const candidates: IndexCandidate[] = []
  for (const index of collection.indexes()) {
    const candidate = candidateOf(index, request)
    const useful = candidate.pointFields > 0 || candidate.rangeField || candidate.sorted
    if (useful && holdsEveryMatch(index, candidate.scan.bounds, request.filter.root)) candidates.push(candidate)
  }
  return best(candidates, limit)
}

/** One scan for each alternative of a `$or`; null when one of them has no index. */
function scansOfAlternatives(collection: Collection, request: CandidateRequest): IndexScan[] | null {
  const { root } = request.filter
  const branches: IndexCandidate[][] = []
  let count = 0
  for (const index of collection.indexes()) {
    const alternatives = boundsForOr(root, index.pattern, boundsOptions(index, request))
    count = alternatives.length
    if (count < 2) return null
    alternatives.forEach((bounds, i) => {
      const candidate = candidateWith(index, boundsOn(index, bounds), { ...request, sort: null })
      const useful = candidate.pointFields > 0 || candidate.rangeField
      if (useful && holdsEveryMatch(index, candidate.scan.bounds, root)) (branches[i] ??= []).push(candidate)
    })
  }
  const scans: IndexScan[] = []
  for (let i = 0; i < count; i++) {
    const chosen = best(branches[i] ?? [], 0)
    if (chosen === null) return null
    scans.push(chosen.scan)
  }
  return scans
}

function best(candidates: readonly IndexCandidate[], limit: number): IndexCandidate | null {
  let chosen: IndexCandidate | null = null
  for (const candidate of candidates) {
    if (chosen === null) chosen = candidate
    else {
      const order = compareCandidates(candidate, chosen, limit) || keysInReach(chosen) - keysInReach(candidate)
      const shorter = candidate.scan.index.pattern.length < chosen.scan.index.pattern.length
      if (order > 0 || (order === 0 && shorter)) chosen = candidate
    }
  }
  return chosen
}

/** Above zero when `a` is better. */
function compareCandidates(a: IndexCandidate, b: IndexCandidate, limit: number): number {
  const bySort = Number(a.sorted) - Number(b.sorted)
  const byRange = Number(a.rangeField) - Number(b.rangeField)
  return (
    Number(a.singleDocument) - Number(b.singleDocument) ||
    a.pointFields - b.pointFields ||
    // With a limit the order ends the scan early; without one the sort is cheaper than reading everything.
    (limit > 0 ? bySort || byRange : byRange || bySort) ||
    a.boundedFields - b.boundedFields
  )
}

function keysInReach({ scan }: IndexCandidate): number {
  let keys = 0
  for (const { from, to } of scan.ranges) {
    const cursor = scan.index.scanKeys(from, to, false)
    while (keys < trialKeys && cursor.next() >= 0) keys++
    if (keys >= trialKeys) break
  }
  return keys
}

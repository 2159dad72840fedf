/**
 * What one index can do for one query: over which ranges, and whether in the order that is wanted.
 * Server: query/planner_ixselect.cpp, planner_analysis.cpp.
 */
import { maxKeyValue, minKeyValue, type StringComparator } from '@shardlab/bson'
import {
  boundsFor,
  isEverything,
  isPoint,
  type Filter,
  type FilterNode,
  type Interval,
  type KeyBounds,
  type SortPattern,
} from '@shardlab/query'
import { containsNull, rangesOf } from './index-ranges.js'
import { implies } from './partial-filter.js'
import type { IndexScan } from './plan.js'
import type { Index } from './types.js'

export interface CandidateRequest {
  readonly filter: Filter
  readonly sort: SortPattern | null
  readonly strings: StringComparator | undefined
}

export interface IndexCandidate {
  readonly scan: IndexScan
  /** Leading fields that are restricted to single values. */
  readonly pointFields: number
  /** Is the field after them restricted? */
  readonly rangeField: boolean
  /** Restricted fields, wherever they stand. */
  readonly boundedFields: number
  /** Does the scan come in the order that is wanted? False when none is. */
  readonly sorted: boolean
  /** A unique index with every field fixed: at most one document. */
  readonly singleDocument: boolean
}

/** The index for this query, whether it is of use or not. */
export function candidateOf(index: Index, request: CandidateRequest): IndexCandidate {
  return candidateWith(index, boundsOn(index, boundsFor(request.filter.root, index.pattern, boundsOptions(index, request))), request)
}

/** The same for bounds that stand for a part of the query. */
export function candidateWith(index: Index, bounds: KeyBounds, request: CandidateRequest): IndexCandidate {
  const { fields } = bounds
  let pointFields = 0
  while (pointFields < fields.length && fields[pointFields]!.intervals.every(isPoint)) pointFields++
  const direction = request.sort === null || request.strings !== undefined ? 0 : orderOf(index, bounds, request.sort)
  return {
    scan: { index, bounds, ranges: rangesOf(bounds, index.pattern), reverse: direction === -1 },
    pointFields,
    rangeField: pointFields < fields.length && !isEverything(fields[pointFields]!.intervals),
    boundedFields: fields.filter(({ intervals }) => !isEverything(intervals)).length,
    sorted: direction !== 0,
    singleDocument: index.unique && pointFields === fields.length && fields.every(({ intervals }) => intervals.length <= 1),
  }
}

export function boundsOptions(index: Index, request: CandidateRequest): { strings?: StringComparator; multikey: ReadonlySet<string> } {
  const multikey = new Set(index.pattern.filter((_, i) => index.multikeyPaths[i]!.size > 0).map(({ path }) => path))
  return request.strings === undefined ? { multikey } : { strings: request.strings, multikey }
}

/**
 * Fields that go through one array hold values of one element in each key, while predicates on them may be met by
 * different elements: only the first of them keeps its bounds.
 */
export function boundsOn(index: Index, bounds: KeyBounds): KeyBounds {
  if (!index.multikey) return bounds
  const arraysInUse = new Set<string>()
  return {
    fields: bounds.fields.map((field, i) => {
      if (isEverything(field.intervals)) return field
      const parts = field.path.split('.')
      const arrays = [...index.multikeyPaths[i]!].map((component) => parts.slice(0, component + 1).join('.'))
      if (arrays.some((array) => arraysInUse.has(array))) return { path: field.path, intervals: [fullInterval], exact: false }
      for (const array of arrays) arraysInUse.add(array)
      return field
    }),
  }
}

/** May the planner take this index unasked: does it hold every document that the query can match? */
export function holdsEveryMatch(index: Index, bounds: KeyBounds, root: FilterNode): boolean {
  if (index.hidden) return false
  if (index.partialRoot !== null && !implies(root, index.partialRoot)) return false
  // A sparse index lacks the documents that miss all its fields.
  return !index.sparse || bounds.fields.some(({ path, intervals }) => requiresExistence(root, path) || !intervals.some(containsNull))
}

const fullInterval: Interval = { low: minKeyValue, lowInclusive: true, high: maxKeyValue, highInclusive: true }

function requiresExistence(root: FilterNode, path: string): boolean {
  if (root.kind === 'and') return root.children.some((child) => requiresExistence(child, path))
  return root.kind === 'exists' && root.path === path
}

/** 1 when the index is in the order of the sort, -1 when against it, 0 when neither. */
function orderOf(index: Index, bounds: KeyBounds, sort: SortPattern): 1 | -1 | 0 {
  const isMultikey = (i: number): boolean => index.multikeyPaths[i]!.size > 0
  const isFixed = (i: number): boolean => bounds.fields[i]!.intervals.length === 1 && isPoint(bounds.fields[i]!.intervals[0]!)
  let order: 1 | -1 | 0 = 0
  let at = 0
  for (const part of sort.parts) {
    const path = part.path.dotted
    const position = index.pattern.findIndex((field) => field.path === path)
    if (position >= 0 && isFixed(position) && !isMultikey(position)) continue
    while (at < index.pattern.length && index.pattern[at]!.path !== path && isFixed(at)) at++
    const field = index.pattern[at]
    if (field === undefined || field.path !== path || field.direction === 'hashed') return 0
    if (isMultikey(at) && !sortsByWholeArray(index, bounds, at)) return 0
    const step = (field.direction === -1) === part.descending ? 1 : -1
    if (order === 0) order = step
    else if (order !== step) return 0
    at++
  }
  return order === 0 ? 1 : order
}

/** An array sorts by its least or greatest element, which the index shows first only when it shows all of them. */
function sortsByWholeArray(index: Index, bounds: KeyBounds, at: number): boolean {
  const [array] = index.pattern[at]!.path.split('.', 1)
  return index.pattern.every(({ path }, i) => path.split('.', 1)[0] !== array || isEverything(bounds.fields[i]!.intervals))
}

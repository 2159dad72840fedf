/** Server: planner_ixselect.cpp, planner_access.cpp, planner_analysis.cpp. */
import {
  BsonType,
  compareValues,
  emptyDocumentValue,
  maxKeyValue,
  minKeyValue,
  RawValue,
  stringValue,
  type StringComparator,
} from '@shardlab/bson'
import {
  boundsFor,
  isEverything,
  isPoint,
  type FilterNode,
  type Interval,
  type KeyBounds,
  type SortPattern,
} from '@shardlab/query'
import { isCollatable, labelledPredicate } from '../collation/labelled.js'
import type { StringLabels } from '../collation/string-labels.js'
import type { IndexEntry, IndexScan } from '../plans/plan-stage.js'
import { implies } from './implication.js'
import { sameCollation } from './index-entry.js'
import { containsNull } from './intervals.js'

export interface AccessRequest {
  readonly sort: SortPattern | null
  readonly strings: StringComparator | undefined
}

export interface AccessPath {
  readonly scan: IndexScan
  /** Over labels if the index has the query's collation. */
  readonly predicate: FilterNode
  /**
   * The string comparison of the query or index if the two differ: bounds do not restrict strings
   * then. Undefined: they are the same.
   */
  readonly otherComparator: StringComparator | undefined
  /** Replace the predicate's strings; null: strings are compared as they are. */
  readonly labels: StringLabels | null
  /** False if no order is requested. */
  readonly sorted: boolean
}

export function accessPath(entry: IndexEntry, root: FilterNode, request: AccessRequest): AccessPath {
  const { index } = entry
  const matching = sameCollation(index, request.strings)
  // A fork, because labels of the query's strings must not be added to the index.
  const labels = matching && index.labels !== null ? index.labels.fork() : null
  const predicate = labels === null ? root : labelledPredicate(root, labels)
  const otherComparator = matching ? undefined : (request.strings ?? index.labels!.compare)
  const bounds = boundsOf(entry, predicate, otherComparator)
  const direction = request.sort === null || !matching ? 0 : orderOf(entry, bounds, request.sort)
  return {
    scan: { entry, bounds, reverse: direction === -1, between: null },
    predicate,
    otherComparator,
    labels,
    sorted: direction !== 0,
  }
}

function boundsOf(entry: IndexEntry, predicate: FilterNode, strings: StringComparator | undefined): KeyBounds {
  const multikey = new Set(entry.pattern.filter((_, i) => entry.multikeyPaths[i]!.size > 0).map(({ path }) => path))
  const options = strings === undefined ? { multikey } : { strings, multikey }
  if (entry.wildcardPath === null) return boundsWithinArrays(entry, boundsFor(predicate, entry.pattern, options))
  return wildcardBounds(entry, boundsFor(predicate, entry.pattern.slice(1), options))
}

const fullInterval: Interval = { low: minKeyValue, lowInclusive: true, high: maxKeyValue, highInclusive: true }
const firstArray = new RawValue(BsonType.array, new Uint8Array([5, 0, 0, 0, 0]), 0, 5)

/**
 * Scans everything below the path if bounds on the path alone would miss documents. Only the leaves
 * of a document are keys, not the document itself. An array element without the field matches null
 * but has no key, while its document may have keys from other elements.
 */
function wildcardBounds({ wildcardPath: path, multikey }: IndexEntry, { fields: [value] }: KeyBounds): KeyBounds {
  const own = pointOf(stringValue(path!))
  const missesDocuments = (interval: Interval): boolean =>
    overlapsObjects(interval) || (multikey && containsNull(interval))
  if (!value!.intervals.some(missesDocuments))
    return { fields: [{ path: '$_path', intervals: [own], exact: true }, value!] }
  const below: Interval = {
    low: stringValue(`${path!}.`),
    lowInclusive: true,
    high: stringValue(`${path!}/`),
    highInclusive: false,
  }
  return {
    fields: [
      { path: '$_path', intervals: [own, below], exact: false },
      { path: path!, intervals: [fullInterval], exact: false },
    ],
  }
}

function pointOf(value: RawValue): Interval {
  return { low: value, lowInclusive: true, high: value, highInclusive: true }
}

/** Documents sort between the empty document and the first array. */
function overlapsObjects({ low, high }: Interval): boolean {
  return compareValues(low, firstArray) < 0 && compareValues(high, emptyDocumentValue) > 0
}

/**
 * A key has the values of one array element, but predicates on several fields below that array may
 * match different elements. Only the first of these fields keeps its bounds.
 */
function boundsWithinArrays(entry: IndexEntry, bounds: KeyBounds): KeyBounds {
  if (!entry.multikey) return bounds
  const arraysInUse = new Set<string>()
  return {
    fields: bounds.fields.map((field, i) => {
      if (isEverything(field.intervals)) return field
      const parts = field.path.split('.')
      const arrays = [...entry.multikeyPaths[i]!].map((component) => parts.slice(0, component + 1).join('.'))
      if (arrays.some((array) => arraysInUse.has(array)))
        return { path: field.path, intervals: [fullInterval], exact: false }
      for (const array of arrays) arraysInUse.add(array)
      return field
    }),
  }
}

/**
 * The planner uses an index without a hint only if it contains every document that the query can
 * match.
 */
export function containsEveryMatch(
  { scan: { entry, bounds }, labels, otherComparator }: AccessPath,
  root: FilterNode,
): boolean {
  const { index } = entry
  if (index.hidden) return false
  const { partialRoot } = index
  if (partialRoot !== null) {
    const seen = (node: FilterNode): FilterNode => (labels === null ? node : labelledPredicate(node, labels))
    if (!implies(seen(root), seen(partialRoot), otherComparator)) return false
  }
  if (!index.sparse && entry.wildcardPath === null) return true
  return bounds.fields.some(
    ({ path, intervals }) => path !== '$_path' && (requiresExistence(root, path) || !intervals.some(containsNull)),
  )
}

function requiresExistence(root: FilterNode, path: string): boolean {
  if (root.kind === 'and') return root.children.some((child) => requiresExistence(child, path))
  return root.kind === 'exists' && root.path === path
}

interface IndexLimits {
  /** The index supports only equality. */
  readonly hashed: boolean
  /** The index orders strings by another collation, also within documents and arrays. */
  readonly otherCollation: boolean
}

/**
 * Whether the predicate restricts the first field of the index in a way that the index supports.
 * @param strings the query's collation
 */
export function isRelevant(entry: IndexEntry, root: FilterNode, strings: StringComparator | undefined): boolean {
  const field = entry.pattern[entry.wildcardPath === null ? 0 : 1]!
  return hasPredicateOn(root, field.path, {
    hashed: field.direction === 'hashed',
    otherCollation: !sameCollation(entry.index, strings),
  })
}

function hasPredicateOn(node: FilterNode, path: string, limits: IndexLimits): boolean {
  const { hashed, otherCollation } = limits
  switch (node.kind) {
    case 'and':
      return node.children.some((child) => hasPredicateOn(child, path, limits))
    case 'or':
      return node.children.every((child) => hasPredicateOn(child, path, limits))
    case 'not':
      return !hashed && isNegatable(node.child) && hasPredicateOn(node.child, path, limits)
    case 'elemMatchObject':
      return (
        !hashed &&
        path.startsWith(`${node.path}.`) &&
        hasPredicateOn(node.child, path.slice(node.path.length + 1), limits)
      )
    case 'comparison':
      return (
        node.path === path && (!hashed || node.operator === 'eq') && !(otherCollation && isCollatable(node.value.type))
      )
    case 'in':
      return (
        node.path === path &&
        (!hashed || node.regexes.length === 0) &&
        !(otherCollation && node.values.some(({ type }) => isCollatable(type)))
      )
    case 'exists':
      return node.path === path
    case 'regex':
    case 'type':
    case 'mod':
    case 'bits':
    case 'elemMatchValue':
      return !hashed && node.path === path
    default:
      return false
  }
}

function isNegatable(node: FilterNode): boolean {
  return node.kind === 'comparison' || node.kind === 'exists' || (node.kind === 'in' && node.regexes.length === 0)
}

/** @returns 1: the index is in the order of the sort; -1: in reverse; 0: neither */
export function orderOf(entry: IndexEntry, bounds: KeyBounds, sort: SortPattern): 1 | -1 | 0 {
  if (sort.natural !== null) return 0
  const { pattern } = entry
  const isMultikey = (i: number): boolean => entry.multikeyPaths[i]!.size > 0
  const isFixed = (i: number): boolean =>
    bounds.fields[i]!.intervals.length === 1 && isPoint(bounds.fields[i]!.intervals[0]!)
  let order: 1 | -1 | 0 = 0
  let at = 0
  for (const part of sort.parts) {
    const path = part.path.dotted
    const position = pattern.findIndex((field) => field.path === path)
    if (position >= 0 && isFixed(position) && !isMultikey(position)) continue
    while (at < pattern.length && pattern[at]!.path !== path && isFixed(at)) at++
    const field = pattern[at]
    if (field === undefined || field.path !== path || field.direction === 'hashed') return 0
    if (isMultikey(at) && !sortsByWholeArray(entry, bounds, at)) return 0
    const step = (field.direction === -1) === part.descending ? 1 : -1
    if (order === 0) order = step
    else if (order !== step) return 0
    at++
  }
  return order === 0 ? 1 : order
}

/**
 * An array sorts by its least or greatest element. The index returns that one first only if the
 * bounds include all elements of the array.
 */
function sortsByWholeArray(entry: IndexEntry, bounds: KeyBounds, at: number): boolean {
  const [array] = entry.pattern[at]!.path.split('.', 1)
  return entry.pattern.every(
    ({ path }, i) => path.split('.', 1)[0] !== array || isEverything(bounds.fields[i]!.intervals),
  )
}

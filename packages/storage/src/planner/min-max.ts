/**
 * The options `min` and `max`. Server: query_planner.cpp. Manual pages: method/cursor.min,
 * method/cursor.max.
 */
import {
  compareValues,
  FieldIterator,
  maxKeyValue,
  minKeyValue,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import type { IndexEntry, IndexScan } from '../plans/plan-stage.js'
import { isCollatable, labelled } from '../collation/labelled.js'
import type { Collection, Index } from '../engine/types.js'
import { orderOf, type AccessRequest } from './access-path.js'
import { hasNoPredicate } from './data-access.js'
import { partOf } from './residual.js'
import { plainEntry, sameCollation } from './index-entry.js'
import type { QueryRequest } from './query-request.js'
import { noPlanError } from './planner-errors.js'
import type { DataAccess } from './solution.js'

/**
 * For bounds without a hint.
 * @throws CommandError 51173 if they need one, BadValue if no index fits
 */
export function boundedIndex(
  collection: Collection,
  indexes: readonly Index[],
  request: QueryRequest,
  strings: StringComparator | undefined,
): Index {
  const { boundsFindTheirIndex } = request
  if (boundsFindTheirIndex === undefined)
    throw noPlanError(
      collection,
      request,
      51173,
      'When using min()/max() a hint of which index to use must be provided',
    )
  const index = indexes.find(
    (each) =>
      !each.hidden &&
      misfitOf(each, request, strings) === null &&
      (boundsFindTheirIndex === 'compatible' || orderOfBounds(each, request) <= 0),
  )
  if (index === undefined)
    throw noPlanError(collection, request, 'BadValue', 'unable to find relevant index for max/min query')
  return index
}

/**
 * @throws CommandError if the index does not fit the options, or the range of a hinted one is empty
 */
export function rangeAccess(
  collection: Collection,
  index: Index,
  request: QueryRequest,
  { sort, strings }: AccessRequest,
): DataAccess {
  const entry = plainEntry(index)
  checkHint(collection, index, request, strings)
  const { from, to } = keysOf(index, request)
  const everything = entry.pattern.map(({ path }) => ({
    path,
    intervals: [{ low: minKeyValue, lowInclusive: true, high: maxKeyValue, highInclusive: true }],
    exact: false,
  }))
  const bounds = { fields: everything }
  const order = sort === null || !sameCollation(index, strings) ? 0 : orderOf(entry, bounds, sort)
  const scan: IndexScan = { entry, bounds, reverse: order === -1, between: { min: from, max: to } }
  const input = { stage: 'IXSCAN', scan, filter: null } as const
  const { filter } = request
  return {
    root: hasNoPredicate(filter.root) ? input : { stage: 'FETCH', filter: partOf(filter, filter.root), input },
    sorted: sort === null || order !== 0,
  }
}

/** @throws CommandError 51174, 51175; BadValue where bounds may have no hint */
function checkHint(
  collection: Collection,
  index: Index,
  request: QueryRequest,
  strings: StringComparator | undefined,
): void {
  const { boundsFindTheirIndex, hint } = request
  const misfit = misfitOf(index, request, strings)
  if (boundsFindTheirIndex === undefined) {
    if (misfit !== null)
      throw noPlanError(collection, request, 51174, 'The index chosen is not compatible with min/max')
    if (orderOfBounds(index, request) < 0) return
    throw noPlanError(
      collection,
      request,
      51175,
      'The value provided for min() does not come before the value provided for max() in the hinted index',
    )
  }
  if (hint === undefined) return
  const isEmpty = misfit === null && boundsFindTheirIndex === 'ordered' && orderOfBounds(index, request) >= 0
  const option = isEmpty ? 'min/max' : misfit
  if (option !== null)
    throw noPlanError(collection, request, 'BadValue', `hint provided does not work with ${option} query`)
}

/** The first option whose fields are not those of the index. */
function misfitOf(
  index: Index,
  { min, max }: QueryRequest,
  strings: StringComparator | undefined,
): 'min' | 'max' | null {
  if (min !== undefined && !isCompatible(index, boundOf(min), strings)) return 'min'
  return max !== undefined && !isCompatible(index, boundOf(max), strings) ? 'max' : null
}

function keysOf(index: Index, { min, max }: QueryRequest): { from: RawValue[]; to: RawValue[] } {
  const labels = index.labels?.fork()
  const keys = (bound: readonly Bound[], whenOpen: (descending: boolean) => RawValue): RawValue[] =>
    bound.length === 0
      ? plainEntry(index).pattern.map(({ direction }) => whenOpen(direction === -1))
      : bound.map(({ value }) => (labels === undefined ? value : labelled(value, labels)))
  return {
    from: keys(boundOf(min), (descending) => (descending ? maxKeyValue : minKeyValue)),
    to: keys(boundOf(max), (descending) => (descending ? minKeyValue : maxKeyValue)),
  }
}

/** Negative: the range is not empty. */
function orderOfBounds(index: Index, request: QueryRequest): number {
  const { from, to } = keysOf(index, request)
  return compareKeys(plainEntry(index), from, to)
}

interface Bound {
  readonly path: string
  readonly value: RawValue
}

function boundOf(document: Uint8Array | undefined): Bound[] {
  const bound: Bound[] = []
  if (document === undefined) return bound
  for (const it = new FieldIterator(document); it.next();) bound.push({ path: it.name(), value: it.value() })
  return bound
}

/**
 * The bound must have all fields of the index in their order, and no strings if the index orders
 * them by another collation.
 */
function isCompatible(index: Index, bound: readonly Bound[], strings: StringComparator | undefined): boolean {
  if (index.wildcard !== null || bound.length !== index.pattern.length) return false
  if (bound.some(({ path }, i) => path !== index.pattern[i]!.path)) return false
  return sameCollation(index, strings) || !bound.some(({ value }) => isCollatable(value.type))
}

function compareKeys({ pattern }: IndexEntry, a: readonly RawValue[], b: readonly RawValue[]): number {
  for (let i = 0; i < pattern.length; i++) {
    const order = compareValues(a[i], b[i])
    if (order !== 0) return pattern[i]!.direction === -1 ? -order : order
  }
  return 0
}

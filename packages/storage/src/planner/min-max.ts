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

/** @throws CommandError 51174 if the index does not fit the options, 51175 if the range is empty */
export function rangeAccess(
  collection: Collection,
  index: Index,
  request: QueryRequest,
  { sort, strings }: AccessRequest,
): DataAccess {
  const entry = plainEntry(index)
  const min = boundOf(request.min)
  const max = boundOf(request.max)
  const fits = (bound: readonly Bound[]): boolean => bound.length === 0 || isCompatible(index, bound, strings)
  if (!fits(min) || !fits(max))
    throw noPlanError(collection, request, 51174, 'The index chosen is not compatible with min/max')
  const labels = index.labels?.fork()
  const keys = (bound: readonly Bound[], whenOpen: (descending: boolean) => RawValue): RawValue[] =>
    bound.length === 0
      ? entry.pattern.map(({ direction }) => whenOpen(direction === -1))
      : bound.map(({ value }) => (labels === undefined ? value : labelled(value, labels)))
  const from = keys(min, (descending) => (descending ? maxKeyValue : minKeyValue))
  const to = keys(max, (descending) => (descending ? minKeyValue : maxKeyValue))
  if (compareKeys(entry, from, to) >= 0) {
    throw noPlanError(
      collection,
      request,
      51175,
      'The value provided for min() does not come before the value provided for max() in the hinted index',
    )
  }
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

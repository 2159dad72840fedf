/** Server: query/query_planner.cpp, get_executor.cpp. */
import { BsonType, CommandError, ErrorCodes, findField, type RawValue, type StringComparator } from '@shardlab/bson'
import type { FilterNode } from '@shardlab/query'
import { resolveHint } from './hint.js'
import type { QueryPlan } from '../plans/query-plan.js'
import type { Collection, Index } from '../engine/types.js'
import type { AccessRequest } from './access-path.js'
import { hintedAccess, indexedAccesses, hasNoPredicate } from './data-access.js'
import { entriesOf, sameCollation } from './index-entry.js'
import { boundedIndex, rangeAccess } from './min-max.js'
import { normalized } from './normalize.js'
import type { QueryRequest } from './query-request.js'
import { rank } from './ranking.js'
import { isNamed } from './index-filters.js'
import { noPlanError } from './planner-errors.js'
import { solutionOf, sortOf, type DataAccess, type SolutionOptions } from './solution.js'

/**
 * @throws CommandError for an invalid hint; NoQueryExecutionPlans; 51173 to 51175, or BadValue, if
 *   no index fits `min` and `max`
 */
export function planQuery(collection: Collection, request: QueryRequest): QueryPlan {
  return planned(collection, request, {})
}

/** @param options with `isCount`, an index scan may omit documents */
export function planned(collection: Collection, request: QueryRequest, options: SolutionOptions): QueryPlan {
  const strings = request.strings ?? request.filter.strings
  const filter = { ...request.filter, root: normalized(request.filter.root, strings) }
  const bySettings = request.allowed === undefined ? null : allowedAccesses(collection, { ...request, filter }, strings)
  const isAllowed = bySettings !== null
  const filtered = isAllowed || collection.indexFilters.isEmpty ? null : filteredIndexes(collection, request, strings)
  const isFiltered = filtered !== null
  const accesses =
    bySettings ??
    dataAccesses(collection, { ...request, filter }, strings, filtered === null ? null : { indexes: filtered, scan: 1 })
  const solutions = accesses.map((access) => solutionOf(access, request, options))
  if (solutions.length === 1)
    return { collection, filter, root: solutions[0]!, strings, isFiltered, isAllowed, rejected: [], trials: [] }
  const trials = rank({ collection, strings }, solutions, request.limit ?? 0)
  const root = trials[0]!.root.plan
  const rejected = solutions.filter((solution) => solution !== root)
  return { collection, filter, root, strings, isFiltered, isAllowed, rejected, trials }
}

/** What a plan may use. */
interface Allowed {
  readonly indexes: readonly Index[]
  /** The direction of collection scans; null: none is allowed. */
  readonly scan: 1 | -1 | null
}

/**
 * Null: query settings do not apply, or nothing that they allow can run the query. Server:
 * applyQuerySettingsForCollection.
 */
function allowedAccesses(
  collection: Collection,
  request: QueryRequest,
  strings: StringComparator | undefined,
): DataAccess[] | null {
  if (request.after !== undefined) return null
  try {
    return dataAccesses(collection, request, strings, allowedBySettings(collection, request.allowed!))
  } catch (error) {
    if (error instanceof CommandError && error.code === ErrorCodes.NoQueryExecutionPlans) return null
    throw error
  }
}

function allowedBySettings(collection: Collection, hints: readonly (string | Uint8Array)[]): Allowed {
  const naturals = hints.flatMap((hint) => {
    const natural = typeof hint === 'string' ? undefined : findField(hint, '$natural')
    return natural === undefined ? [] : ([natural.asNumber() < 0 ? -1 : 1] as const)
  })
  return {
    indexes: collection.indexes().filter((index) => isNamed(index, hints)),
    scan: naturals.includes(1) ? 1 : (naturals[0] ?? null),
  }
}

/**
 * Index filters do not apply to lookups by `_id` without a hint, and to scans that the client
 * demands. Server: fillOutPlannerParams.
 */
function filteredIndexes(
  collection: Collection,
  { filter: { root }, hint, sort, projection, skip = 0, min, max, after }: QueryRequest,
  strings: StringComparator | undefined,
): Index[] | null {
  const isNatural = hint !== undefined && typeof hint !== 'string' && findField(hint, '$natural') !== undefined
  if (isNatural || min !== undefined || max !== undefined || after !== undefined) return null
  if (hint === undefined && skip === 0 && idOf(root) !== null && hasIdIndex(collection, strings)) return null
  const shape = { filter: root, sort: sort ?? null, projection: projection?.document ?? null }
  return collection.indexFilters.allowed(shape, strings, collection.indexes())
}

/**
 * @param allowed the hint is ignored; null: everything
 * @throws CommandError NoQueryExecutionPlans when nothing that is allowed can run the query
 */
function dataAccesses(
  collection: Collection,
  request: QueryRequest,
  strings: StringComparator | undefined,
  allowed: Allowed | null,
): DataAccess[] {
  const { filter } = request
  const hint = allowed === null ? request.hint : undefined
  const sort = sortOf(request)
  const accessRequest: AccessRequest = { sort, strings }
  const scan = (reverse: boolean): DataAccess => ({
    root: {
      stage: 'COLLSCAN',
      filter: hasNoPredicate(filter.root) ? null : filter,
      reverse,
      after: request.after ?? null,
    },
    sorted: sort === null,
  })
  const natural = request.sort?.natural ?? null
  if (request.after !== undefined) return [scan(false)]
  const isBounded = request.min !== undefined || request.max !== undefined
  if (hint !== undefined || natural !== null) {
    const resolved = hint === undefined ? { natural: natural! } : resolveHint(collection, hint, request)
    if ('natural' in resolved) {
      if (isBounded)
        throw noPlanError(collection, request, 'NoQueryExecutionPlans', 'min and max are incompatible with $natural')
      return isAlwaysFalse(filter.root) ? [eofAccess] : [scan(resolved.natural === -1)]
    }
    if (isBounded) return [rangeAccess(collection, resolved.index, request, accessRequest)]
    if (isAlwaysFalse(filter.root)) return [eofAccess]
    const entries = entriesOf(resolved.index, filter.root)
    if (entries.length === 0) throw noPlanError(collection, request, 'NoQueryExecutionPlans', 'No query solutions')
    return hintedAccess(entries, filter, accessRequest)
  }
  if (isBounded) {
    const index = boundedIndex(collection, allowed?.indexes ?? collection.indexes(), request, strings)
    return [rangeAccess(collection, index, request, accessRequest)]
  }
  const id = (request.skip ?? 0) > 0 ? null : idOf(filter.root)
  if (id !== null && hasIdIndex(collection, strings)) return [{ root: { stage: 'IDHACK', id }, sorted: true }]
  if (isAlwaysFalse(filter.root)) return [eofAccess]
  const accesses = indexedAccesses(allowed?.indexes ?? collection.indexes(), filter, accessRequest)
  if (accesses.length > 0) return accesses
  if (allowed?.scan === null)
    throw noPlanError(
      collection,
      request,
      'NoQueryExecutionPlans',
      'No indexed plans available, and running with notablescan',
    )
  return [scan(allowed?.scan === -1)]
}

function hasIdIndex(collection: Collection, strings: StringComparator | undefined): boolean {
  const index = collection.indexes()[0]
  return index !== undefined && sameCollation(index, strings)
}

const eofAccess: DataAccess = { root: { stage: 'EOF' }, sorted: true }

/** Null unless the whole query is one equality on `_id`. */
function idOf(root: FilterNode): RawValue | null {
  if (root.kind !== 'comparison' || root.operator !== 'eq' || root.path !== '_id') return null
  const { type } = root.value
  // No document has such an _id.
  return type === BsonType.array || type === BsonType.regex || type === BsonType.undefined || type === BsonType.null
    ? null
    : root.value
}

function isAlwaysFalse(root: FilterNode): boolean {
  return root.kind === 'always' ? !root.value : root.kind === 'and' && root.children.some(isAlwaysFalse)
}

/** Server: planner_analysis.cpp (analyzeDataAccess). */
import type { SortPattern } from '@shardlab/query'
import { isFetched, type PlanStage } from '../plans/plan-stage.js'
import { isIdentity, projectionShape, projectionStage, providesFields, providesShardKey } from './projection-shape.js'
import type { QueryRequest } from './query-request.js'

/** A tree that finds the rows, and whether it returns them in the requested order. */
export interface DataAccess {
  readonly root: PlanStage
  readonly sorted: boolean
}

export interface SolutionOptions {
  /** Rows are only counted. */
  readonly isCount?: boolean
}

export function solutionOf(access: DataAccess, request: QueryRequest, options: SolutionOptions = {}): PlanStage {
  const { shardFilter, skip = 0, limit = 0 } = request
  const sort = sortOf(request)
  let tree = access.root
  if (shardFilter !== undefined && tree.stage !== 'EOF') {
    if (!providesShardKey(tree, shardFilter)) tree = fetched(tree)
    tree = { stage: 'SHARDING_FILTER', shardFilter, input: tree }
  }
  const sorts = sort !== null && !access.sorted
  if (sorts) {
    if (
      !providesFields(
        tree,
        sort.parts.map(({ path }) => path.dotted),
      )
    )
      tree = fetched(tree)
    tree = { stage: 'SORT', sort, limit: limit === 0 ? 0 : limit + skip, simple: isFetched(tree), input: tree }
  }
  if (skip > 0) tree = { stage: 'SKIP', amount: skip, input: tree }
  tree = projected(tree, request, options)
  if (!sorts && limit > 0) tree = { stage: 'LIMIT', amount: limit, input: tree }
  return tree
}

/** @returns null: no sort, or the natural order, which the scan gives */
export function sortOf({ sort }: QueryRequest): SortPattern | null {
  return sort === undefined || sort.parts.length === 0 ? null : sort
}

function fetched(input: PlanStage): PlanStage {
  return isFetched(input) ? input : { stage: 'FETCH', filter: null, input }
}

function projected(
  tree: PlanStage,
  { projection, returnKey, sort }: QueryRequest,
  { isCount }: SolutionOptions,
): PlanStage {
  if (returnKey === true) return { stage: 'RETURN_KEY', input: tree }
  if (projection === undefined || isIdentity(projection)) return isCount === true ? tree : fetched(tree)
  const shape = projection.document === undefined ? null : projectionShape(projection.document)
  const input = shape?.required && providesFields(tree, shape.required) ? tree : fetched(tree)
  const stage = projectionStage(shape, input)
  // Projecting first makes the sort smaller, but the projection must keep the sort keys.
  const keepsSort =
    shape !== null &&
    shape.simple &&
    sort?.parts.every(({ path: { dotted } }) =>
      shape.required === null ? !excludes(shape.excluded, dotted) : shape.required.includes(dotted),
    )
  if (keepsSort !== true) return { stage, projection, input }
  if (input.stage === 'SORT' && input.limit === 0) return { ...input, input: { stage, projection, input: input.input } }
  if (input.stage === 'SKIP' && input.input.stage === 'SORT' && input.input.limit === 0) {
    const sorting = input.input
    return { ...input, input: { ...sorting, input: { stage, projection, input: sorting.input } } }
  }
  return { stage, projection, input }
}

function excludes(excluded: readonly string[], path: string): boolean {
  return excluded.some((name) => path === name || path.startsWith(`${name}.`))
}

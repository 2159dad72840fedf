/** Server: `PipelineD::buildInnerQueryExecutorGeneric`. */
import { emptyDocument } from '@shardlab/bson'
import {
  compileFilter,
  compileProjection,
  parseSort,
  type EvaluationContext,
  type LeadingProjection,
  type LeadingQuery,
} from '@shardlab/query'
import type { OwnershipFilter } from '@shardlab/sharding'
import { planQuery, planRowsToCount, type Collection, type QueryPlan, type RowProjection } from '@shardlab/storage'
import type { QuerySettings } from '@shardlab/member'
import { allowedBy, shardFilterOf } from '../read-plan.js'

/** @throws CommandError for an invalid hint */
export function planLeading(
  collection: Collection,
  { filter, sort, skip, limit, projection, countsOnly }: LeadingQuery,
  ownership: OwnershipFilter | null,
  context: EvaluationContext,
  hint: { readonly hint?: string | Uint8Array },
  settings: QuerySettings | undefined,
): QueryPlan {
  const compiled = compileFilter(filter ?? emptyDocument, context)
  const plan = countsOnly ? planRowsToCount : planQuery
  return plan(collection, {
    filter: compiled,
    skip,
    limit,
    ...hint,
    ...allowedBy(settings, collection),
    ...shardFilterOf(ownership, compiled),
    ...(projection === null ? {} : { projection: rowProjection(projection, context) }),
    ...(sort === null ? {} : { sort: parseSort(sort) }),
    ...(context.strings === undefined ? {} : { strings: context.strings }),
  })
}

/**
 * Without a specification the stages only read these fields: a covering index may replace the
 * document.
 */
function rowProjection({ document, specification }: LeadingProjection, context: EvaluationContext): RowProjection {
  if (specification === null) return { document, apply: (row) => row }
  const projection = compileProjection(specification, context, { dialect: 'aggregate' })
  return { document, apply: (row) => projection.apply(row) }
}

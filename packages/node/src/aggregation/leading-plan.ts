/** The first stages of a pipeline as a plan. Server: `PipelineD::buildInnerQueryExecutorGeneric`. */
import { emptyDocument } from '@shardlab/bson'
import { compileFilter, parseSort, type EvaluationContext, type LeadingQuery } from '@shardlab/query'
import type { OwnershipFilter } from '@shardlab/sharding'
import { planQuery, type Collection, type QueryPlan } from '@shardlab/storage'
import { shardFilterOf } from '../crud/read-plan.js'

/** @throws CommandError as hints are refused */
export function planLeading(
  collection: Collection,
  { filter, sort, skip, limit }: LeadingQuery,
  ownership: OwnershipFilter | null,
  context: EvaluationContext,
  hint: { readonly hint?: string | Uint8Array } = {},
): QueryPlan {
  return planQuery(collection, {
    filter: compileFilter(filter ?? emptyDocument, context),
    skip,
    limit,
    ...hint,
    ...shardFilterOf(ownership),
    ...(sort === null ? {} : { sort: parseSort(sort) }),
    ...(context.strings === undefined ? {} : { strings: context.strings }),
  })
}

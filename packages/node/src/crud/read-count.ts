/** What a count asks for. Manual: reference/command/count. Server: count_cmd.cpp, count_request.cpp. */
import type { CommandArguments } from '@shardlab/actor'
import { emptyDocument } from '@shardlab/bson'
import { compileFilter, type EvaluationContext, type Filter } from '@shardlab/query'
import type { OwnershipFilter } from '@shardlab/sharding'
import { planCount, type Collection, type QueryPlan } from '@shardlab/storage'
import { hintOf } from './hint.js'
import { countBounds } from './read-arguments.js'
import { shardFilterOf } from './read-plan.js'

/** Arguments of count, as the command table checks them. */
export const countFields = {
  query: 'object',
  limit: 'any',
  skip: 'any',
  hint: 'any',
  collation: 'object',
  fields: 'object',
} as const

export interface CountQuery {
  readonly filter: Filter
  readonly hint: { readonly hint?: string | Uint8Array }
  readonly skip: number
  /** 0: none. */
  readonly limit: number
  readonly context: EvaluationContext
}

/** @throws CommandError what filters and hints are refused with, and as {@link countBounds} */
export function compileCount(args: CommandArguments, context: EvaluationContext): CountQuery {
  return {
    filter: compileFilter(args.document('query') ?? emptyDocument, context),
    hint: hintOf(args),
    ...countBounds(args),
    context,
  }
}

/** A plan for `runCount`. @throws CommandError as the planner refuses hints */
export function planCounting(
  collection: Collection,
  { filter, hint, skip, limit, context: { strings } }: CountQuery,
  ownership: OwnershipFilter | null,
): QueryPlan {
  return planCount(collection, {
    filter,
    skip,
    limit,
    ...hint,
    ...shardFilterOf(ownership, filter),
    ...(strings === undefined ? {} : { strings }),
  })
}

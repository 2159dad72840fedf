/** Manual: reference/command/count. Server: count_cmd.cpp, count_request.cpp. */
import type { OwnershipFilter } from '@shardlab/sharding'
import { planCount, type Collection, type QueryPlan } from '@shardlab/storage'
import type { CountQuery } from '@shardlab/member'
import { shardFilterOf } from './read-plan.js'

/** A plan for `countBy`. @throws CommandError for an invalid hint */
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

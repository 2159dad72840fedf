/** Plans of reading commands. */
import type { OwnershipFilter } from '@shardlab/sharding'
import { planQuery, type Collection, type QueryPlan, type ShardFilter } from '@shardlab/storage'
import type { FindQuery } from './read-find.js'

/** What makes a plan see owned documents alone. Null: it sees all. */
export function shardFilterOf(ownership: OwnershipFilter | null): { readonly shardFilter?: ShardFilter } {
  if (ownership === null) return {}
  const { shardKey } = ownership.placement
  return { shardFilter: { paths: shardKey.paths, owns: (document) => ownership.owns(document) } }
}

/** @throws CommandError as the planner refuses hints and bounds */
export function planFind(collection: Collection, query: FindQuery, ownership: OwnershipFilter | null): QueryPlan {
  const { filter, sort, hint, skip, limit, min, max, returnKey, shape, tailable, context } = query
  const { projection, projectionDocument } = shape
  return planQuery(collection, {
    filter,
    skip,
    limit,
    returnKey,
    ...hint,
    ...shardFilterOf(ownership),
    ...(sort === null ? {} : { sort }),
    ...(min === null ? {} : { min }),
    ...(max === null ? {} : { max }),
    ...(tailable === 'no' ? {} : { after: 0 }),
    ...(projection === null ? {} : { projection: { document: projectionDocument!, apply: (document) => projection.apply(document) } }),
    ...(context.strings === undefined ? {} : { strings: context.strings }),
  })
}

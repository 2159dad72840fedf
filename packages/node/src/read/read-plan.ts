import { BsonType } from '@shardlab/bson'
import { equalityValues, newestLanguage, type Filter, type FilterNode } from '@shardlab/query'
import type { OwnershipFilter } from '@shardlab/sharding'
import { planQuery, type Collection, type QueryPlan, type QueryRequest, type ShardFilter } from '@shardlab/storage'
import type { FindQuery, QuerySettings } from '@shardlab/member'

/** Without a shard filter the plan returns all documents. */
export function shardFilterOf(
  ownership: OwnershipFilter | null,
  { root, strings }: Pick<Filter, 'root' | 'strings'>,
): { readonly shardFilter?: ShardFilter } {
  if (ownership === null || ownsAll(ownership, root, strings)) return {}
  const { hashesCover, placement } = ownership
  return {
    shardFilter: { pattern: placement.shardKey.keyPattern, hashesCover, owns: (document) => ownership.owns(document) },
  }
}

/**
 * Whether the predicate names one shard key that the shard owns. No orphan has such a key, and
 * plans without a shard filter are cheaper. Server: get_executor.cpp, fillOutPlannerParams.
 */
function ownsAll(ownership: OwnershipFilter, root: FilterNode, strings: Filter['strings']): boolean {
  const { paths } = ownership.placement.shardKey
  const values = equalityValues(root, paths)
  if (values === null) return false
  for (const path of paths) {
    const value = values.get(path)!
    // Values that are equal under the collation may have different shard keys.
    const isPlain = value.type !== BsonType.object && (value.type !== BsonType.string || strings === undefined)
    if (!isPlain || value.type === BsonType.null || path.includes('.')) return false
  }
  return ownership.ownsValues(values)
}

function boundsOptions({ language }: FindQuery['context']): Pick<QueryRequest, 'boundsFindTheirIndex'> {
  const { boundsFindTheirIndex } = language ?? newestLanguage
  return boundsFindTheirIndex === null ? {} : { boundsFindTheirIndex }
}

const unrestricted: Pick<QueryRequest, 'allowed'> = {}

/** The field `allowed` of a {@link QueryRequest}. */
export function allowedBy(
  settings: QuerySettings | undefined,
  { ns }: Pick<Collection, 'ns'>,
): Pick<QueryRequest, 'allowed'> {
  const allowed = settings?.allowedIndexes(ns)
  return allowed === undefined ? unrestricted : { allowed }
}

/** @throws CommandError for an invalid hint or bound */
export function planFind(
  collection: Collection,
  query: FindQuery,
  ownership: OwnershipFilter | null,
  settings: QuerySettings | undefined,
): QueryPlan {
  const { filter, sort, hint, skip, limit, min, max, returnKey, shape, tailable, context } = query
  const { projection, projectionDocument } = shape
  return planQuery(collection, {
    filter,
    skip,
    limit,
    returnKey,
    ...hint,
    ...allowedBy(settings, collection),
    ...shardFilterOf(ownership, query.filter),
    ...(sort === null ? {} : { sort }),
    ...(min === null ? {} : { min }),
    ...(max === null ? {} : { max }),
    ...(min === null && max === null ? {} : boundsOptions(context)),
    ...(tailable === 'no' ? {} : { after: 0 }),
    ...(projection === null
      ? {}
      : { projection: { document: projectionDocument!, apply: (document) => projection.apply(document) } }),
    ...(context.strings === undefined ? {} : { strings: context.strings }),
  })
}

/** What the first stages of a pipeline ask of its collection, so that a plan with indexes can do it. Server: `PipelineD::prepareExecutor`. */
import { BsonType, DocumentWriter, firstFieldName, type RawValue } from '@shardlab/bson'
import type { PipelineStep } from './pipeline.js'
import { countArgument } from './stages/order.js'

export interface LeadingQuery {
  /** Null: every document. */
  readonly filter: Uint8Array | null
  /** Null: any order. */
  readonly sort: Uint8Array | null
  readonly skip: number
  /** 0: no limit. */
  readonly limit: number
  /** So many stages does it stand for. */
  readonly stageCount: number
}

/** The leading $match, then a $sort, then $skip and $limit. */
export function leadingQuery(steps: readonly PipelineStep[]): LeadingQuery {
  let at = 0
  const filters: RawValue[] = []
  for (; steps[at]?.operator.name === '$match'; at++) filters.push(steps[at]!.argument)
  let sort: Uint8Array | null = null
  const sorting = steps[at]
  if (sorting?.operator.name === '$sort' && isPlain(sorting.argument)) {
    sort = sorting.argument.slice()
    at++
  }
  let skip = 0
  let limit = Infinity
  for (; at < steps.length; at++) {
    const { operator, argument } = steps[at]!
    if (operator.name === '$limit') limit = Math.min(limit, countArgument('$limit', argument))
    else if (operator.name === '$skip') {
      const skipped = countArgument('$skip', argument)
      // Nothing would be left, which a plan's limit of 0 does not say.
      if (skipped >= limit || !Number.isSafeInteger(skip + skipped)) break
      skip += skipped
      limit -= skipped
    } else break
  }
  return { filter: conjunction(filters), sort, skip, limit: limit === Infinity ? 0 : limit, stageCount: at }
}

/** Orders by fields alone, none of them by $meta or $natural. */
function isPlain(sort: RawValue): boolean {
  return sort.type === BsonType.object && firstFieldName(sort.slice()) !== '$natural'
}

function conjunction(filters: readonly RawValue[]): Uint8Array | null {
  if (filters.length <= 1) return filters[0]?.slice() ?? null
  return new DocumentWriter()
    .documents(
      '$and',
      filters.map((filter) => filter.slice()),
    )
    .finish()
}

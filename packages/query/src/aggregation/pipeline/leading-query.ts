/** Server: `PipelineD::prepareExecutor`. */
import { BsonType, documentValue, DocumentWriter, firstFieldName, type RawValue } from '@shardlab/bson'
import { dependenciesOf, projectionOf } from './dependencies.js'
import type { PipelineStep } from './steps.js'
import { computesFields, exclusionOf, isInclusion, shownProjection } from './project-argument.js'
import { countArgument } from '../stages/order.js'

export interface LeadingProjection {
  /** As explain shows it: `{ a: 1, _id: 0 }`. */
  readonly document: Uint8Array
  /**
   * The argument of a $project for the plan to apply; null: nothing to apply, later stages just
   * read no other field.
   */
  readonly specification: Uint8Array | null
}

export interface LeadingQuery {
  /** Null: every document. */
  readonly filter: Uint8Array | null
  /** Null: any order. */
  readonly sort: Uint8Array | null
  readonly skip: number
  /** 0: no limit. */
  readonly limit: number
  /** Null: whole documents. */
  readonly projection: LeadingProjection | null
  /** The remaining stages need only the number of documents. */
  readonly countsOnly: boolean
  readonly stageCount: number
}

/**
 * The leading $match stages, then a $sort, then $skip and $limit, then $project or the fields that
 * the remaining stages read.
 */
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
      // The result is empty, but a limit of 0 means no limit in a plan.
      if (skipped >= limit || !Number.isSafeInteger(skip + skipped)) break
      skip += skipped
      limit -= skipped
    } else break
  }
  const bounded = sort !== null || skip > 0 || limit < Infinity
  const rest = steps.slice(at)
  const paths = dependenciesOf(rest)
  const projection = projectionFor(rest, paths, !bounded)
  const isTaken = projection !== null && projection.specification !== null
  if (isTaken) at++
  const countsOnly = at < steps.length && (isTaken ? dependenciesOf(rest.slice(1)) : paths)?.size === 0
  return {
    countsOnly,
    filter: conjunction(filters),
    sort,
    skip,
    limit: limit === Infinity ? 0 : limit,
    projection,
    stageCount: at,
  }
}

/**
 * An inclusion, or the fields that the stages read, or an exclusion. Server:
 * `buildProjectionForPushdown`.
 * @param paths that the stages read; null: the whole document
 * @param mayCompute false: compute nothing, since a sort or a limit may still drop documents
 */
function projectionFor(
  rest: readonly PipelineStep[],
  paths: ReturnType<typeof dependenciesOf>,
  mayCompute: boolean,
): LeadingProjection | null {
  // Only the number of documents matters.
  if (rest.length === 0 || paths?.size === 0) return null
  const { operator, argument } = rest[0]!
  const isProject = operator.name === '$project'
  if (isProject && isInclusion(argument) && (mayCompute || !computesFields(argument)))
    return { document: shownProjection(argument), specification: argument.slice() }
  const document = paths === null ? null : projectionOf(paths)
  if (document !== null) return { document, specification: null }
  if (isProject && !isInclusion(argument))
    return { document: shownProjection(argument), specification: argument.slice() }
  if (operator.name !== '$unset') return null
  const specification = exclusionOf(argument)
  return { document: shownProjection(documentValue(specification)), specification }
}

/** Not by $meta or $natural. */
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

import { encode, decode, CommandError, type Document } from '@shardlab/bson'
import { compileCollation, compileFilter, compileProjection, parseSort, type EvaluationContext } from '@shardlab/query'
import {
  countBy,
  executePlan,
  planQuery,
  type Collection,
  type ExecuteOptions,
  type QueryPlan,
  type QueryRequest,
  type RowProjection,
  type ShardFilter,
} from '../../src/index.js'

export const context: EvaluationContext = { now: () => 0, random: () => 0 }

export interface PlainQuery {
  readonly sort?: Document
  readonly hint?: string | Document
  readonly skip?: number
  readonly limit?: number
  readonly projection?: Document
  readonly min?: Document
  readonly max?: Document
  readonly returnKey?: boolean
  readonly after?: number
  readonly collation?: Document
  readonly shardFilter?: ShardFilter
}

export function contextOf(collation: Document | undefined): EvaluationContext {
  const compiled = collation === undefined ? null : compileCollation(encode(collation))
  return compiled === null ? context : { ...context, strings: compiled.compare }
}

export function requestOf(filter: Document, query: PlainQuery = {}): QueryRequest {
  const { sort, hint, projection, min, max, collation, ...rest } = query
  const evaluation = contextOf(collation)
  return {
    filter: compileFilter(encode(filter), evaluation),
    ...rest,
    ...(sort === undefined ? {} : { sort: parseSort(encode(sort)) }),
    ...(hint === undefined ? {} : { hint: typeof hint === 'string' ? hint : encode(hint) }),
    ...(projection === undefined ? {} : { projection: projectionOf(projection, evaluation) }),
    ...(min === undefined ? {} : { min: encode(min) }),
    ...(max === undefined ? {} : { max: encode(max) }),
  }
}

function projectionOf(projection: Document, evaluation: EvaluationContext): RowProjection {
  const document = encode(projection)
  const compiled = compileProjection(document, evaluation)
  return { document, apply: (row) => compiled.apply(row) }
}

export function runCount(plan: QueryPlan): number {
  const executor = executePlan(plan)
  while (executor.next() !== null) continue
  return countBy(executor)
}

export function planOf(collection: Collection, filter: Document, query: PlainQuery = {}): QueryPlan {
  return planQuery(collection, requestOf(filter, query))
}

export function find(
  collection: Collection,
  filter: Document,
  query: PlainQuery = {},
  options: ExecuteOptions = {},
): Document[] {
  return run(planOf(collection, filter, query), options)
}

export function run(plan: QueryPlan, options: ExecuteOptions = {}): Document[] {
  const executor = executePlan(plan, options)
  const rows: Document[] = []
  for (let row = executor.next(); row !== null; row = executor.next()) rows.push(decode(row.document))
  return rows
}

export function errorOf(action: () => unknown): {
  code: number
  codeName: string
  message: string
  extra: Document | null
} {
  try {
    action()
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return {
      code: error.code,
      codeName: error.codeName,
      message: error.message,
      extra: error.extra === null ? null : decode(error.extra),
    }
  }
  throw new Error('nothing was thrown')
}

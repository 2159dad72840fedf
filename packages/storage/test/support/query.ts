/** Queries as plain objects. */
import { encode, decode, CommandError, type Document } from '@shardlab/bson'
import { compileFilter, parseSort } from '@shardlab/query'
import { executePlan, planQuery, type Collection, type ExecuteOptions, type QueryPlan, type QueryRequest } from '../../src/index.js'

export const context = { nowMs: 0, random: (): number => 0 }

export interface PlainQuery {
  readonly sort?: Document
  readonly hint?: string | Document
  readonly skip?: number
  readonly limit?: number
}

export function planOf(collection: Collection, filter: Document, query: PlainQuery = {}): QueryPlan {
  const { sort, hint, ...rest } = query
  const request: QueryRequest = {
    filter: compileFilter(encode(filter), context),
    ...rest,
    ...(sort === undefined ? {} : { sort: parseSort(encode(sort)) }),
    ...(hint === undefined ? {} : { hint: typeof hint === 'string' ? hint : encode(hint) }),
  }
  return planQuery(collection, request)
}

/** The rows as plain documents. */
export function find(collection: Collection, filter: Document, query: PlainQuery = {}, options: ExecuteOptions = {}): Document[] {
  return run(planOf(collection, filter, query), options)
}

export function run(plan: QueryPlan, options: ExecuteOptions = {}): Document[] {
  const executor = executePlan(plan, options)
  const rows: Document[] = []
  for (let row = executor.next(); row !== null; row = executor.next()) rows.push(decode(row.document))
  return rows
}

/** The error's code, name and message, and its further fields. */
export function errorOf(action: () => unknown): { code: number; codeName: string; message: string; extra: Document | null } {
  try {
    action()
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { code: error.code, codeName: error.codeName, message: error.message, extra: error.extra === null ? null : decode(error.extra) }
  }
  throw new Error('nothing was thrown')
}

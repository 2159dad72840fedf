/** The documents that a statement is about. Server: get_executor.cpp, getExecutorUpdate and getExecutorDelete. */
import { BsonType, isEmptyDocument, type RawValue, type StringComparator } from '@shardlab/bson'
import { parseSort, type EvaluationContext, type Filter } from '@shardlab/query'
import { executePlan, planQuery, type Collection } from '@shardlab/storage'
import type { ModifyStatement } from './statement.js'
import { checkTableScan } from './table-scan.js'
import type { WriteScope } from './write-scope.js'

/**
 * All of them before the first change: a changed document must not be met again. Without `multi` one at most.
 * @throws CommandError what a hint and a sort are refused with
 */
export function documentsToModify(
  { access: { ownership }, invocation: { host } }: WriteScope,
  collection: Collection,
  { multi, hint, sort }: ModifyStatement,
  filter: Filter,
  { strings }: EvaluationContext,
): Uint8Array[] {
  const id = hint === undefined && sort === undefined ? onlyId(filter, strings) : null
  if (id !== null) {
    const document = collection.findById(id)?.document
    if (document !== undefined) host.statistics.queries.foundById()
    return document === undefined || ownership?.owns(document) === false ? [] : [document]
  }
  const plan = planQuery(collection, {
    filter,
    ...(hint === undefined ? {} : { hint }),
    ...(sort === undefined || isEmptyDocument(sort) ? {} : { sort: parseSort(sort) }),
    ...(multi ? {} : { limit: 1 }),
    ...(strings === undefined ? {} : { strings }),
  })
  checkTableScan(host, plan, hint)
  const executor = executePlan(plan, ownership === null ? {} : { rowFilter: (document) => ownership.owns(document) })
  const documents: Uint8Array[] = []
  for (let record = executor.next(); record !== null; record = executor.next()) {
    documents.push(record.document)
    if (!multi) break
  }
  host.statistics.queries.ran(plan.root, executor)
  return documents
}

/** The `_id` when the filter is nothing but that: the server plans nothing for it either. */
function onlyId({ root }: Filter, strings: StringComparator | undefined): RawValue | null {
  if (root.kind !== 'comparison' || root.operator !== 'eq' || root.path !== '_id') return null
  const { value } = root
  // Others match no document that way, match several, or match what the collation says.
  return value.isNumber() || value.type === BsonType.objectId || (value.type === BsonType.string && strings === undefined) ? value : null
}

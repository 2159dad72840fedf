/** Server: get_executor.cpp, getExecutorUpdate and getExecutorDelete. */
import { BsonType, documentValue, isEmptyDocument, type RawValue, type StringComparator } from '@shardlab/bson'
import { compileFilter, parseSort, soleEquality, type EvaluationContext, type Filter } from '@shardlab/query'
import type { OwnershipFilter } from '@shardlab/sharding'
import { executePlan, planQuery, type Collection } from '@shardlab/storage'
import type { ModifyKind, ModifyStatement } from '@shardlab/member'
import { checkTableScan } from '../read/table-scan.js'
import type { WriteScope } from './write-scope.js'

/** Compiled on first use: an equality on `_id` alone may never need it. */
export class StatementFilter {
  /** Set if the filter is an equality on `_id` alone, for which the server makes no plan either. */
  readonly id: RawValue | null
  readonly #document: Uint8Array
  readonly #context: EvaluationContext
  #compiled: Filter | null = null

  /** @throws CommandError errors of the filter */
  constructor(document: Uint8Array, context: EvaluationContext) {
    this.#document = document
    this.#context = context
    const sole = soleEquality(documentValue(document), '_id')
    this.id =
      sole !== null && matchesOne(sole.value, context.strings) ? sole.value : onlyId(this.filter, context.strings)
  }

  get filter(): Filter {
    return (this.#compiled ??= compileFilter(this.#document, this.#context))
  }
}

/**
 * Collects all documents before the first change, so that a changed document is not found again.
 * @throws CommandError errors of a hint or a sort
 */
export function documentsToModify(
  { access: { ownership }, invocation: { host } }: WriteScope,
  collection: Collection,
  { kind, multi, hint, sort }: ModifyStatement,
  statementFilter: StatementFilter,
  { strings }: EvaluationContext,
): Uint8Array[] {
  const id = hint === undefined && sort === undefined ? statementFilter.id : null
  if (id !== null) {
    const document = collection.findById(id)?.document
    if (document !== undefined) host.statistics.queries.addLookupById()
    return document !== undefined && isFound(ownership, kind, document) ? [document] : []
  }
  const plan = planQuery(collection, {
    filter: statementFilter.filter,
    ...(hint === undefined ? {} : { hint }),
    ...(sort === undefined || isEmptyDocument(sort) ? {} : { sort: parseSort(sort) }),
    ...(multi ? {} : { limit: 1 }),
    ...(strings === undefined ? {} : { strings }),
  })
  checkTableScan(host, plan, hint)
  const executor = executePlan(
    plan,
    ownership === null ? {} : { rowFilter: (document) => isFound(ownership, kind, document) },
  )
  const documents: Uint8Array[] = []
  for (let record = executor.next(); record !== null; record = executor.next()) {
    documents.push(record.document)
    if (!multi) break
  }
  host.statistics.queries.addCompleted(plan.root, executor)
  return documents
}

function isFound(ownership: OwnershipFilter | null, kind: ModifyKind, document: Uint8Array): boolean {
  if (ownership === null) return true
  return kind === 'delete' ? ownership.deletes(document) : ownership.owns(document)
}

function onlyId({ root }: Filter, strings: StringComparator | undefined): RawValue | null {
  if (root.kind !== 'comparison' || root.operator !== 'eq' || root.path !== '_id') return null
  return matchesOne(root.value, strings) ? root.value : null
}

/**
 * Whether an equality on this value matches at most one document by its bytes: not a pattern, and
 * not subject to a collation.
 */
function matchesOne(value: RawValue, strings: StringComparator | undefined): boolean {
  return (
    value.isNumber() || value.type === BsonType.objectId || (value.type === BsonType.string && strings === undefined)
  )
}

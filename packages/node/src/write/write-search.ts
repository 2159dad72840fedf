/** Server: get_executor.cpp, getExecutorUpdate and getExecutorDelete. */
import {
  BsonType,
  documentValue,
  isEmptyDocument,
  sameBytes,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import { compileFilter, soleEquality, type EvaluationContext, type Filter } from '@shardlab/query'
import type { OwnershipFilter } from '@shardlab/sharding'
import { executePlan, planQuery, type Collection, type LogSession, type StoredRecord } from '@shardlab/storage'
import { parseQuerySort, type ModifyStatement } from '@shardlab/member'
import { SourceReads } from '../cursors/source-reads.js'
import type { Transaction } from '../transactions/transaction.js'
import { TransactionConflict } from '../transactions/write-keys.js'
import { checkTableScan } from '../read/table-scan.js'
import { sliceOf, type WriteScope } from './write-scope.js'
import { yieldWithin } from './yield-write.js'

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

export interface ModifiedDocuments<T> {
  readonly scope: WriteScope
  readonly collection: Collection
  readonly statement: ModifyStatement
  readonly filter: StatementFilter
  readonly context: EvaluationContext
  readonly session: LogSession | null
  /** Changes one document. */
  readonly modify: (document: Uint8Array) => void
  /** Called in the turn of the last change. */
  readonly complete: () => T
}

/**
 * Modifies the documents that match, or the first one. All are collected before the first change,
 * so that a changed document is not found again.
 * @returns a promise only if the statement gives up its turn
 * @throws CommandError errors of a hint or a sort, and those of {@link yieldWithin}
 * @throws StatementExecutedError
 */
export function modifyDocuments<T>(options: ModifiedDocuments<T>): Promise<T> | T {
  const { scope, collection, statement, filter } = options
  const { hint, sort } = statement
  const id = hint === undefined && sort === undefined ? filter.id : null
  if (id === null) return modifyFound(options)
  const document = collection.findById(id)?.document
  if (document !== undefined) {
    scope.invocation.host.statistics.queries.addLookupById()
    if (isFound(scope.access.ownership, document)) options.modify(document)
  }
  return options.complete()
}

function modifyFound<T>(options: ModifiedDocuments<T>): Promise<T> | T {
  const run = new FoundDocuments(options)
  return run.advance() ? options.complete() : run.finish()
}

/** One search and its changes, over as many turns as they take. */
class FoundDocuments<T> {
  readonly #options: ModifiedDocuments<T>
  readonly #executor
  readonly #plan
  readonly #found: StoredRecord[] = []
  #isFound = false
  #next = 0
  #modified = 0
  /** Whether documents may have changed since they were found. */
  #isOld = false
  /** The transaction that has written the next document; null: none is known. */
  #holder: Transaction | null = null

  constructor(options: ModifiedDocuments<T>) {
    this.#options = options
    const { scope, collection, statement, filter, context } = options
    const { multi, hint, sort } = statement
    const { strings } = context
    this.#plan = planQuery(collection, {
      filter: filter.filter,
      ...(hint === undefined ? {} : { hint }),
      ...(sort === undefined || isEmptyDocument(sort) ? {} : { sort: parseQuerySort(sort, context.language) }),
      ...(multi ? {} : { limit: 1 }),
      ...(strings === undefined ? {} : { strings }),
    })
    checkTableScan(scope.invocation.host, this.#plan, hint)
    const { ownership } = scope.access
    this.#executor = executePlan(
      this.#plan,
      ownership === null ? {} : { rowFilter: (document) => isFound(ownership, document) },
      sliceOf(scope),
    )
  }

  /** @returns false: the slice is over before the end */
  advance(): boolean {
    if (!this.#isFound && !this.#search()) return false
    const { scope, statement, modify } = this.#options
    const slice = sliceOf(scope)
    while (this.#next < this.#found.length) {
      if (slice.isOver && statement.multi) return false
      const record = this.#found[this.#next++]!
      const document = this.#isOld ? this.#current(record) : record.document
      if (document === null) continue
      try {
        modify(document)
      } catch (error) {
        // Before its first change the statement is repeated as a whole.
        if (!(error instanceof TransactionConflict) || this.#modified === 0) throw error
        this.#holder = error.holder
        this.#next--
        return false
      }
      this.#modified++
      slice.worked()
      if (!statement.multi) break
    }
    return true
  }

  async finish(): Promise<T> {
    const { scope, statement, session, complete } = this.#options
    const reads = SourceReads.ofPlan(scope.invocation.host, this.#plan)
    do {
      this.#executor.freeze()
      this.#isOld = true
      const isPartial = statement.kind === 'update' && statement.multi && this.#modified > 0
      const holder = this.#holder
      this.#holder = null
      await yieldWithin(scope, { reads, session, isPartial, holder })
    } while (!this.advance())
    // The only document that was found does not match any more: there may be another one.
    const mayFindAnother = !statement.multi && this.#modified === 0 && this.#found.length > 0
    return mayFindAnother ? modifyFound(this.#options) : complete()
  }

  /** @returns false: the slice is over */
  #search(): boolean {
    const { scope, statement } = this.#options
    for (let record = this.#executor.next(); record !== null; record = this.#executor.next()) {
      this.#found.push(record)
      if (!statement.multi) break
    }
    if (sliceOf(scope).isOver && (statement.multi || this.#found.length === 0)) return false
    this.#isFound = true
    scope.invocation.host.statistics.queries.addCompleted(this.#plan.root, this.#executor)
    return true
  }

  /** Null: the document is gone, does not match any more, or belongs to another shard now. */
  #current({ recordId, document: found }: StoredRecord): Uint8Array | null {
    const { scope, collection, filter } = this.#options
    const document = collection.get(recordId)?.document
    if (document === undefined || !isFound(scope.access.ownership, document)) return null
    return sameBytes(document, found) || filter.filter.matches(document) ? document : null
  }
}

function isFound(ownership: OwnershipFilter | null, document: Uint8Array): boolean {
  return ownership === null || ownership.isWritable(document)
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

import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, type RawValue } from '@shardlab/bson'
import {
  cursorOwner,
  sortWithMulti,
  writeRetriedStmtIds,
  bulkWriteBatchSize,
  bulkWriteSpec,
  bulkWriteNs,
  readBulkWrite,
  readStatement,
  type BulkWriteOp,
  countOfFirstBatch,
  emptySummary,
  errorItem,
  resultItem,
  writeSummary,
  type BulkWriteResult,
  type BulkWriteSummary,
  isStaleCode,
} from '@shardlab/member'
import { expectUuid } from '../ddl/collection-uuid.js'
import { checkWrittenName } from '../ddl/namespace.js'
import { fixDocumentForInsert } from '../write/fix-document.js'
import { logSession } from '../write/write-batch.js'
import { prepareDelete, type DeleteOutcome } from '../write/write-delete.js'
import { newSlice } from '../read/new-slice.js'
import { insertDocument } from '../write/write-insert.js'
import { writeScope, type WriteScope } from '../write/write-scope.js'
import { failsBatch } from '../write/fails-batch.js'
import { StatementExecutedError, yieldBetween, yieldToTransaction } from '../write/yield-write.js'
import { TransactionConflict } from '../transactions/write-keys.js'
import { prepareUpdate, type UpdateOutcome } from '../write/write-update.js'
import type { ExecutedStatement } from '../retry/executed-statement.js'
import type { NodeInvocation } from '../host/node-host.js'

export const bulkWrite: CommandRow<NodeInvocation> = {
  ...bulkWriteSpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D504'],
  summary: 'Inserts, updates and deletes documents of several collections in one command.',
  async run(invocation) {
    const { host, retryable } = invocation
    const { ops, namespaces, uuids, ordered, errorsOnly } = readBulkWrite(invocation)
    const scopes: (WriteScope | undefined)[] = []
    // Only a router sends versions, and it names one collection per command, so no version of
    // another collection can be outdated after the await.
    for (const { namespace } of ops) {
      if (scopes[namespace] !== undefined) continue
      const ns = namespaces[namespace]!
      const entered = host.role.enter(ns, invocation)
      scopes[namespace] = writeScope(invocation, ns, entered instanceof Promise ? await entered : entered)
    }
    const summary = emptySummary()
    const items: Uint8Array[] = []
    const retried: number[] = []
    const sampling = host.sampling?.isActive === true ? host.sampling : null
    const slice = newSlice(host)
    for (const scope of scopes) if (scope !== undefined) scope.slice = slice
    for (let index = 0; index < ops.length; index++) {
      const op = ops[index]!
      try {
        const scope = scopes[op.namespace]!
        if (slice.isOver) await yieldBetween(scope)
        expectUuid(host, namespaces[op.namespace]!, uuids[op.namespace]!)
        const stmtId = retryable?.stmtId(index) ?? index
        const executed =
          retryable === null ? undefined : host.retries.executed(retryable.session.key, retryable.txnNumber, stmtId)
        if (executed !== undefined) retried.push(stmtId)
        if (sampling !== null) {
          scope.announce = () => sampling.statementBegins(scope.ns, op.document, invocation)
          scope.announce()
        }
        const running =
          executed === undefined ? run(scope, op, logSession(retryable, stmtId)) : earlierResult(op, executed)
        const result = running instanceof Promise ? await running : running
        slice.worked()
        addToSummary(summary, op, result)
        if (!errorsOnly) items.push(resultItem(index, result))
      } catch (error) {
        if (error instanceof StatementExecutedError) {
          retried.push(retryable!.stmtId(index))
          const result = earlierResult(op, error.executed)
          addToSummary(summary, op, result)
          if (!errorsOnly) items.push(resultItem(index, result))
          continue
        }
        if (!(error instanceof CommandError)) throw error
        if (error instanceof TransactionConflict) {
          await yieldToTransaction(scopes[op.namespace]!, error.holder)
          index--
          continue
        }
        if (failsBatch(error, invocation)) {
          await host.flush()
          throw error
        }
        items.push(errorItem(index, error, op.kind === 'update', summary.nErrors))
        summary.nErrors++
        if (ordered || isStaleCode(error.code)) break
      }
    }
    host.transactions.statistics.retried(retried.length)
    await host.flush()
    return writeRetriedStmtIds(writeSummary(writeItems(invocation, items), summary), retried)
  },
}

function run(
  scope: WriteScope,
  op: BulkWriteOp,
  session: Parameters<typeof insertDocument>[2],
): BulkWriteResult | Promise<BulkWriteResult> {
  const { host, retryable } = scope.invocation
  const statement = readStatement(op)
  checkWrittenName(host, scope.ns)
  host.opcounters[op.kind]++
  if (statement.kind !== 'insert' && statement.multi && retryable !== null)
    throw new CommandError('InvalidOptions', 'Cannot use retryable writes with multi=true')
  switch (statement.kind) {
    case 'insert':
      insertDocument(scope, fixDocumentForInsert(host, statement.document, scope), session)
      return { n: 1 }
    case 'update': {
      if (statement.multi && statement.sort !== undefined) throw sortWithMulti()
      const updating = prepareUpdate(scope, statement).run(session)
      return updating instanceof Promise ? updating.then(resultOfUpdate) : resultOfUpdate(updating)
    }
    case 'delete':
      return resultOfDelete(prepareDelete(scope, statement).run(session))
  }
}

function resultOfUpdate({ matched, modified, upsertedId }: UpdateOutcome): BulkWriteResult {
  return { n: upsertedId === null ? matched : 1, nModified: modified, upsertedId }
}

function resultOfDelete(outcome: DeleteOutcome | Promise<DeleteOutcome>): BulkWriteResult | Promise<BulkWriteResult> {
  return outcome instanceof Promise ? outcome.then(({ deleted }) => ({ n: deleted })) : { n: outcome.deleted }
}

function earlierResult({ kind }: BulkWriteOp, { op, insertedId }: ExecutedStatement): BulkWriteResult {
  if (kind !== 'update') return { n: 1 }
  return { n: 1, nModified: op === 'u' ? 1 : 0, upsertedId: insertedId }
}

function addToSummary(
  summary: BulkWriteSummary,
  { kind }: BulkWriteOp,
  { n, nModified, upsertedId }: BulkWriteResult,
): void {
  if (kind === 'insert') summary.nInserted += n
  else if (kind === 'delete') summary.nDeleted += n
  else {
    summary.nModified += nModified ?? 0
    if (isUpsert(upsertedId)) summary.nUpserted++
    else summary.nMatched += n
  }
}

function isUpsert(upsertedId: RawValue | null | undefined): boolean {
  return upsertedId !== undefined && upsertedId !== null
}

/**
 * `cursor: { id, firstBatch, ns }`. A router gets all items in the first batch, because it keeps
 * its own cursor.
 */
function writeItems(invocation: NodeInvocation, items: readonly Uint8Array[]): DocumentWriter {
  const { host, operation, session, routed, transaction } = invocation
  const fit = routed === null ? countOfFirstBatch(items, bulkWriteBatchSize(invocation)) : items.length
  let id = 0n
  if (fit < items.length) {
    let next = fit
    const source = { next: () => items[next++] ?? null }
    id = host.cursors.open(
      {
        ns: bulkWriteNs,
        source,
        session: session?.key ?? null,
        owner: cursorOwner(operation),
        txnNumber: transaction?.txnNumber ?? null,
        noTimeout: false,
        comment: operation.comment,
      },
      host.context.now(),
    ).id
  }
  return new DocumentWriter(512)
    .startDocument('cursor')
    .int64('id', id)
    .documents('firstBatch', items.slice(0, fit))
    .string('ns', bulkWriteNs)
    .end()
}

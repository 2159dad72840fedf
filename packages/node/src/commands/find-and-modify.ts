import type { CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, isEmptyDocument, type RawValue } from '@shardlab/bson'
import {
  compileFilter,
  compileProjection,
  formatDocument,
  type EvaluationContext,
  type Projection,
} from '@shardlab/query'
import type { LogSession } from '@shardlab/storage'
import {
  withCollation,
  findAndModifySpec,
  parseQuerySort,
  readFindAndModify,
  withExecutorContext,
  type FindAndModifyRequest,
  isStaleCode,
} from '@shardlab/member'
import type { Behaviours } from '@shardlab/sharding'
import { checkWrittenName } from '../ddl/namespace.js'
import { logSession } from '../write/write-batch.js'
import { prepareDelete, type DeleteOutcome } from '../write/write-delete.js'
import { writeScope, type WriteScope } from '../write/write-scope.js'
import { TransactionConflict } from '../transactions/write-keys.js'
import { StatementExecutedError, yieldToTransaction } from '../write/yield-write.js'
import { prepareUpdate, type UpdateOutcome } from '../write/write-update.js'
import type { ExecutedStatement } from '../retry/executed-statement.js'
import type { NodeInvocation } from '../host/node-host.js'

export const findAndModify: CommandRow<NodeInvocation> = {
  ...findAndModifySpec,
  routing: 'shard-key',
  status: 'partial',
  deviations: ['D110', 'D503', 'D504', 'D896'],
  summary: 'Updates, replaces, upserts or deletes one document and returns it.',
  async run(invocation) {
    const { host, args, db, retryable } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const request = readFindAndModify(args)
    checkWrittenName(host, ns)
    const entered = host.role.enter(ns, invocation)
    const scope = writeScope(invocation, ns, entered instanceof Promise ? await entered : entered)
    const projection = projectionOf(scope, request)
    const stmtId = retryable?.stmtId(0) ?? 0
    const executed =
      retryable === null ? undefined : host.retries.executed(retryable.session.key, retryable.txnNumber, stmtId)
    if (host.sampling?.isActive === true) {
      scope.announce = () => host.sampling!.statementBegins(ns, invocation.body, invocation)
      scope.announce()
    }
    let isRepeated = executed !== undefined
    let answer: Answer
    try {
      const modifying =
        executed === undefined
          ? modify(scope, request, logSession(retryable, stmtId))
          : earlierAnswer(invocation, request, executed)
      answer = modifying instanceof Promise ? await modifying : modifying
    } catch (error) {
      if (error instanceof TransactionConflict) {
        await yieldToTransaction(scope, error.holder)
        return findAndModify.run(invocation)
      }
      if (!(error instanceof StatementExecutedError)) throw error
      isRepeated = true
      answer = earlierAnswer(invocation, request, error.executed)
    }
    const value = answer.document === null ? null : projected(answer.document, projection, host.behaviours)
    await host.flush()
    const writer = writeAnswer(answer, value)
    if (isRepeated) host.transactions.statistics.retried(1)
    return isRepeated ? writer.int32('retriedStmtId', stmtId) : writer
  },
}

interface Answer {
  readonly n: number
  /** Null for a removal: its reply has no such field. */
  readonly updatedExisting: boolean | null
  readonly upsertedId: RawValue | null
  readonly document: Uint8Array | null
}

function modify(
  scope: WriteScope,
  { statement, wantsNew }: FindAndModifyRequest,
  session: LogSession | null,
): Answer | Promise<Answer> {
  if (statement.kind === 'delete') {
    const prepared = prepareDelete(scope, statement)
    return withExecutionContext(scope, () => prepared.run(session, true), answerOfDelete)
  }
  const prepared = prepareUpdate(scope, statement)
  return withExecutionContext(
    scope,
    () => prepared.run(session, wantsNew ? 'postImage' : 'preImage'),
    (outcome) => answerOfUpdate(outcome, wantsNew),
  )
}

function answerOfDelete({ deleted, document }: DeleteOutcome): Answer {
  return { n: deleted, updatedExisting: null, upsertedId: null, document }
}

function answerOfUpdate({ matched, upsertedId, before, after }: UpdateOutcome, wantsNew: boolean): Answer {
  return {
    n: upsertedId === null ? matched : 1,
    updatedExisting: matched > 0,
    upsertedId,
    document: wantsNew ? after : before,
  }
}

/** Adds the server's prefix to errors that occur while documents are changed. */
function withExecutionContext<T>(
  { invocation: { host } }: WriteScope,
  work: () => Promise<T> | T,
  use: (outcome: T) => Answer,
): Answer | Promise<Answer> {
  let outcome: Promise<T> | T
  try {
    outcome = work()
  } catch (error) {
    throw inContext(error, host.behaviours)
  }
  if (!(outcome instanceof Promise)) return use(outcome)
  return outcome.then(use, (error: unknown) => {
    throw inContext(error, host.behaviours)
  })
}

function inContext(error: unknown, behaviours: Behaviours): unknown {
  if (!(error instanceof CommandError) || isStaleCode(error.code) || error instanceof TransactionConflict) return error
  return withExecutorContext(error, behaviours, 'Plan executor error during findAndModify')
}

/**
 * @throws CommandError 40606, 40608, 40609, 40611, 40612 when the repeated command differs from the
 *   first one
 */
function earlierAnswer(
  { body }: NodeInvocation,
  request: FindAndModifyRequest,
  { op, insertedId, image }: ExecutedStatement,
): Answer {
  const { statement, wantsNew } = request
  const incompatible = (code: number) =>
    new CommandError(
      code,
      `findAndModify retry request: ${formatDocument(body)} is not compatible with previous write in the transaction of type: ${op}`,
    )
  const document = image?.document ?? null
  if (op === 'd') {
    if (statement.kind !== 'delete') throw incompatible(40606)
    return { n: 1, updatedExisting: null, upsertedId: null, document }
  }
  if (op === 'i') {
    if (statement.kind !== 'update' || !statement.upsert) throw incompatible(40608)
    return { n: 1, updatedExisting: false, upsertedId: insertedId, document: wantsNew ? document : null }
  }
  if (op !== 'u' || statement.kind !== 'update') throw incompatible(40609)
  if (wantsNew !== (image?.kind === 'postImage')) {
    const [wanted, stored] = wantsNew ? ['after', 'before'] : ['before', 'after']
    throw new CommandError(
      wantsNew ? 40611 : 40612,
      `findAndModify retry request: ${formatDocument(body)} wants the document ${wanted} update returned, but only ${stored} update document is stored`,
    )
  }
  return { n: 1, updatedExisting: true, upsertedId: null, document }
}

/**
 * Compiled before anything changes, also when no document matches.
 * @throws CommandError for an invalid sort or projection
 */
function projectionOf(scope: WriteScope, { fields, statement }: FindAndModifyRequest): Projection | null {
  const { evaluation } = scope
  const sort = statement.sort === undefined ? undefined : parseQuerySort(statement.sort, evaluation.language)
  if (fields === undefined || isEmptyDocument(fields)) return null
  const context = contextOf(scope, statement.collation)
  return compileProjection(fields, context, {
    filter: compileFilter(statement.filter, context),
    ...(sort === undefined ? {} : { sort }),
  })
}

/** As on the server, the document has changed when its projection fails. */
function projected(document: Uint8Array, projection: Projection | null, behaviours: Behaviours): Uint8Array {
  if (projection === null) return document
  try {
    return projection.apply(document)
  } catch (error) {
    throw inContext(error, behaviours)
  }
}

function contextOf({ invocation, ns, evaluation }: WriteScope, collation: Uint8Array | undefined): EvaluationContext {
  return withCollation(evaluation, collation, invocation.host.collection(ns)?.defaultCollation ?? null)
}

function writeAnswer({ n, updatedExisting, upsertedId }: Answer, value: Uint8Array | null): DocumentWriter {
  const writer = new DocumentWriter(256 + (value?.length ?? 0)).startDocument('lastErrorObject').int32('n', n)
  if (updatedExisting !== null) writer.bool('updatedExisting', updatedExisting)
  if (upsertedId !== null) writer.value('upserted', upsertedId)
  writer.end()
  return value === null ? writer.null('value') : writer.document('value', value)
}

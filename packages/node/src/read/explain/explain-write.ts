/** Changes nothing. Manual: reference/command/explain, write operations. */
import { CommandError, isEmptyDocument, type DocumentWriter } from '@shardlab/bson'
import { compileFilter } from '@shardlab/query'
import { planQuery } from '@shardlab/storage'
import {
  withCollation,
  withLet,
  withTimeLimit,
  checkedStatements,
  readModify,
  type ModifyKind,
  type ModifyStatement,
  readFindAndModify,
  compileStatement,
  documentsArgument,
  parseQuerySort,
} from '@shardlab/member'
import { collationOf } from './collation.js'
import type { ExplainRequest, ExplainTail } from './explainer.js'
import { writePlanExplanation, type StageAbove } from './plan-explanation.js'

export function explainUpdate(request: ExplainRequest, writer: DocumentWriter): Promise<ExplainTail> {
  return explainStatement(request, writer, onlyStatement(request, 'update', 'updates'), false)
}

export function explainDelete(request: ExplainRequest, writer: DocumentWriter): Promise<ExplainTail> {
  return explainStatement(request, writer, onlyStatement(request, 'delete', 'deletes'), false)
}

export function explainFindAndModify(request: ExplainRequest, writer: DocumentWriter): Promise<ExplainTail> {
  return explainStatement(request, writer, readFindAndModify(request.invocation.args).statement, true)
}

/** @throws CommandError 16 InvalidLength unless the batch has one statement */
function onlyStatement({ invocation }: ExplainRequest, kind: ModifyKind, argument: string): ModifyStatement {
  const statements = documentsArgument(invocation, argument)
  if (statements.length !== 1) throw new CommandError('InvalidLength', 'explained write batches must be of size 1')
  return readModify(kind, checkedStatements(kind, statements, invocation.host.behaviours)[0]!)
}

async function explainStatement(
  { invocation, ns, access, verbosity }: ExplainRequest,
  writer: DocumentWriter,
  statement: ModifyStatement,
  returnsDocument: boolean,
): Promise<ExplainTail> {
  const { host, args } = invocation
  const collection = host.collection(ns) ?? null
  const evaluation = withTimeLimit(withLet(host.evaluation(), args.document('let')), invocation.operation)
  const context = withCollation(evaluation, statement.collation, collection?.defaultCollation ?? null)
  const filter = compileFilter(statement.filter, context)
  const sort =
    statement.sort === undefined || isEmptyDocument(statement.sort)
      ? null
      : parseQuerySort(statement.sort, context.language)
  const plan =
    collection === null
      ? null
      : planQuery(collection, {
          filter,
          ...(statement.hint === undefined ? {} : { hint: statement.hint }),
          ...(sort === null ? {} : { sort }),
          ...(context.strings === undefined ? {} : { strings: context.strings }),
        })
  const counts = { matched: 0, modified: 0 }
  const change = statement.kind === 'update' ? compileStatement(statement, context) : null
  const visit = (document: Uint8Array): boolean => {
    // Plans of writes have no SHARDING_FILTER stage.
    if (access.ownership?.isWritable(document) === false) return true
    counts.matched++
    if (change !== null && change.apply(document, { filter }) !== null) counts.modified++
    return statement.multi
  }
  const isUpsert = statement.kind === 'update' && statement.upsert
  // Without a collection only an upsert has a stage.
  const isNothing = collection === null && !isUpsert
  const collation = collationOf(statement.collation, collection)
  const mayBeExpress =
    !returnsDocument && !statement.multi && !isUpsert && sort === null && statement.hint === undefined
  const above: StageAbove = {
    stage: statement.kind === 'update' ? 'UPDATE' : 'DELETE',
    ...(mayBeExpress ? { express: statement.kind === 'update' ? 'EXPRESS_UPDATE' : 'EXPRESS_DELETE' } : {}),
    outcome: () => ({
      returned: returnsDocument ? Math.min(1, counts.matched) : 0,
      counters: countersOf(statement, counts),
    }),
  }
  await writePlanExplanation(
    writer,
    invocation,
    { ns, collection, plan, filter, sort, projection: null, collation, visit, ...(isNothing ? {} : { above }) },
    verbosity,
  )
  return { isPipeline: false }
}

function countersOf(
  statement: ModifyStatement,
  { matched, modified }: { matched: number; modified: number },
): [string, number][] {
  if (statement.kind === 'delete') return [['nWouldDelete', matched]]
  return [
    ['nMatched', matched],
    ['nWouldModify', modified],
    ['nWouldUpsert', matched === 0 && statement.upsert ? 1 : 0],
  ]
}

/** The filter does not determine the shard. Server: write_without_shard_key_util.cpp. */
import { CommandError, documentValue, DocumentWriter, ErrorCodes, FieldIterator } from '@shardlab/bson'
import type { ModifyStatement } from '@shardlab/member'
import { isStaleCode } from '../../remote/command-reply.js'
import type { ShardedRoute } from '../../routing/route.js'
import { noteStale } from '../../routing/stale-loop.js'
import type { WriteBatch } from '../batch/write-batch.js'
import { codeIn } from '../replies/shard-write-reply.js'
import { runInternally } from '../../transactions/internal-transaction.js'
import { findFirst, narrowedFilter } from './search-first.js'
import type { StatementAnswer } from '../batch/shard-requests.js'
import type { StatementTarget } from '../targeting/statement-target.js'
import { placeOfUpsert } from '../targeting/upsert-shard.js'

type FirstMatchTarget = Extract<StatementTarget, { kind: 'first-match' }>

/**
 * 'stale': the statement has to be routed again.
 * @throws CommandError 50 when maxTimeMS is over; in a transaction of the client all that end it
 */
export async function writeFirstMatch(
  batch: WriteBatch,
  route: ShardedRoute,
  index: number,
  target: FirstMatchTarget,
): Promise<readonly StatementAnswer[] | 'stale'> {
  const { command, invocation } = batch
  if (!target.search || invocation.operation.transaction !== null) return writeFirst(batch, route, index, target)
  try {
    const { result, concernError } = await runInternally(invocation, {
      run: () => writeFirst(batch, route, index, target),
      codeOf: codeOfAnswers,
    })
    return result === 'stale' || concernError === null ? result : withConcernError(result, concernError)
  } catch (error) {
    if (!(error instanceof CommandError) || error.code === ErrorCodes.MaxTimeMSExpired) throw error
    return [{ kind: 'failed', entry: command.errorEntry(index, error) }]
  }
}

function codeOfAnswers(answers: readonly StatementAnswer[] | 'stale'): number | null {
  if (answers === 'stale') return ErrorCodes.StaleConfig
  for (const answer of answers) if (answer.kind === 'failed') return codeIn(answer.entry)
  return null
}

function withConcernError(answers: readonly StatementAnswer[], writeConcernError: Uint8Array): StatementAnswer[] {
  return answers.map((answer) =>
    answer.kind === 'done' ? { ...answer, reply: { ...answer.reply, writeConcernError } } : answer,
  )
}

async function writeFirst(
  batch: WriteBatch,
  route: ShardedRoute,
  index: number,
  target: FirstMatchTarget,
): Promise<readonly StatementAnswer[] | 'stale'> {
  const answers = target.search
    ? await searchAndWrite(batch, route, index, target.shards)
    : await tryEach(batch, route, index, target.shards)
  if (answers === 'stale') return 'stale'
  const missed = answers.every((answer) => answer.kind === 'done' && (answer.reply.n ?? 0) === 0)
  if (!missed || !target.upsert) return answers
  const answer = await upsertWhereItBelongs(batch, route, index)
  return answer.kind === 'stale' ? 'stale' : [answer]
}

async function tryEach(
  batch: WriteBatch,
  route: ShardedRoute,
  index: number,
  shards: readonly string[],
): Promise<StatementAnswer[] | 'stale'> {
  const statement = rewritten(batch, index, filterOf(batch, index))
  const answers: StatementAnswer[] = []
  for (const shard of shards) {
    const answer = await batch.shards.sendStatement(route, index, shard, statement)
    if (answer.kind === 'stale') return 'stale'
    answers.push(answer)
    if (answer.kind === 'failed' || (answer.reply.n ?? 0) > 0) break
  }
  return answers
}

async function searchAndWrite(
  batch: WriteBatch,
  route: ShardedRoute,
  index: number,
  shards: readonly string[],
): Promise<StatementAnswer[] | 'stale'> {
  const { command, invocation } = batch
  const namespace = command.namespaces[command.namespaceOf(index)]!
  const modify = command.read(index) as ModifyStatement
  const stmtId = invocation.txnNumber === null ? null : index
  const found = await findFirst(namespace, route, shards, modify, batch.evaluation, stmtId)
  if (found === null) return []
  if (found instanceof CommandError) {
    // Other errors have ended the transaction.
    if (!isStaleCode(found.code)) throw found
    noteStale(namespace.invocation, namespace.ns, route, found)
    return 'stale'
  }
  const { shard, id } = found
  const statement =
    id === null ? command.statements[index]! : rewritten(batch, index, narrowedFilter(modify.filter, id))
  const answer = await batch.shards.sendStatement(route, index, shard, statement)
  return answer.kind === 'stale' ? 'stale' : [answer]
}

function filterOf({ command }: WriteBatch, index: number): Uint8Array {
  return (command.read(index) as ModifyStatement).filter
}

/** Replaces the filter. The statement inserts nothing unless `upserts` is true. */
function rewritten({ command }: WriteBatch, index: number, filter: Uint8Array, upserts = false): Uint8Array {
  const statement = command.statements[index]!
  const writer = new DocumentWriter(statement.length + filter.length + 32)
  for (const it = new FieldIterator(statement); it.next();) {
    const name = it.name()
    if (name === command.filterField) writer.value(name, documentValue(filter))
    else if (name !== 'sort' && (upserts || (name !== 'upsert' && name !== 'upsertSupplied')))
      writer.value(name, it.value())
  }
  return writer.finish()
}

/** Runs after no shard had a match. */
async function upsertWhereItBelongs(batch: WriteBatch, route: ShardedRoute, index: number): Promise<StatementAnswer> {
  const { command, evaluation } = batch
  const statement = command.read(index)
  if (statement.kind !== 'update') throw new Error('only an update upserts')
  let document = command.statements[index]!
  let shard: string
  try {
    const place = placeOfUpsert(evaluation, route.placement, statement)
    shard = place.shard
    if (place.filter !== null) document = rewritten(batch, index, place.filter, true)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { kind: 'failed', entry: command.errorEntry(index, error) }
  }
  return batch.shards.sendStatement(route, index, shard, document)
}

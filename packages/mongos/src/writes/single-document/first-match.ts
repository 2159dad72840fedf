/** The filter does not determine the shard. Server: write_without_shard_key_util.cpp. */
import { CommandError, documentValue, DocumentWriter, FieldIterator } from '@shardlab/bson'
import type { ModifyStatement } from '@shardlab/member'
import { isStaleCode } from '../../remote/command-reply.js'
import type { ShardedRoute } from '../../routing/route.js'
import { again, retryStale } from '../../routing/retry-stale.js'
import { noteStale } from '../../routing/stale-loop.js'
import type { WriteBatch } from '../batch/write-batch.js'
import { findFirst, matchesNothing, narrowedFilter } from './search-first.js'
import type { StatementAnswer } from '../batch/shard-requests.js'
import type { StatementTarget } from '../targeting/statement-target.js'
import { placeOfUpsert } from '../targeting/upsert-shard.js'

type FirstMatchTarget = Extract<StatementTarget, { kind: 'first-match' }>

/** 'stale': the statement has to be routed again. */
export async function writeFirstMatch(
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
  const { host } = invocation
  const earlier = await executedEarlier(batch, route, index)
  if (earlier !== null) return earlier
  const namespace = command.namespaces[command.namespaceOf(index)]!
  const modify = command.read(index) as ModifyStatement
  return retryStale<StatementAnswer[] | 'stale'>(
    host,
    async () => {
      const found = await findFirst(namespace, route, shards, modify, batch.evaluation)
      if (found === null) return []
      if (found instanceof CommandError && isStaleCode(found.code)) {
        noteStale(namespace.invocation, namespace.ns, route, found)
        return 'stale'
      }
      if (found instanceof CommandError) return [{ kind: 'failed', entry: command.errorEntry(index, found) }]
      const narrowed = rewritten(batch, index, narrowedFilter(modify.filter, found.id))
      const answer = await batch.shards.sendStatement(route, index, found.shard, narrowed)
      if (answer.kind === 'stale') return 'stale'
      if (answer.kind === 'failed' || (answer.reply.n ?? 0) > 0) return [answer]
      // A concurrent write changed the document so that it no longer matches: search again.
      return again
    },
    () => [],
  )
}

/**
 * A retryable statement that a shard has already executed must not search again: it would find
 * another document. Null: no shard has executed it. On the server, the statement ids of such a
 * write belong to a transaction of the whole cluster.
 */
async function executedEarlier(
  batch: WriteBatch,
  route: ShardedRoute,
  index: number,
): Promise<StatementAnswer[] | 'stale' | null> {
  const { host, operation, txnNumber } = batch.invocation
  if (txnNumber === null) return null
  const probe = rewritten(batch, index, matchesNothing)
  const answers = await host.context.all(
    (await host.shards.ids(operation)).map((shard) => batch.shards.sendStatement(route, index, shard, probe, true)),
  )
  if (answers.some((answer) => answer.kind === 'stale')) return 'stale'
  const failed = answers.filter((answer) => answer.kind === 'failed')
  if (failed.length > 0) return failed
  const executed = answers.filter((answer) => answer.kind === 'done' && answer.reply.retriedStmtIds.length > 0)
  return executed.length === 0 ? null : executed
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
  try {
    const { shard, filter } = placeOfUpsert(evaluation, route.placement, statement)
    const document = filter === null ? command.statements[index]! : rewritten(batch, index, filter, true)
    return await batch.shards.sendStatement(route, index, shard, document)
  } catch (error) {
    if (!(error instanceof CommandError) || error.code === 50) throw error
    return { kind: 'failed', entry: command.errorEntry(index, error) }
  }
}

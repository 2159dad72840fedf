/**
 * A single-document write whose filter does not say on which shard the document is: shards are asked one after the other.
 * Server: write_without_shard_key_util.cpp; there the search and the write are one transaction.
 */
import {
  BsonType,
  CommandError,
  documentsOf,
  documentValue,
  DocumentWriter,
  emptyDocument,
  FieldIterator,
  findField,
  type RawValue,
} from '@shardlab/bson'
import { compileFilter, compileUpdate, upsertBase } from '@shardlab/query'
import type { CollectionPlacement } from '@shardlab/sharding'
import { isStaleCode } from '../remote/command-reply.js'
import { routedCommand, type Route } from '../routing/route.js'
import { ask } from '../routing/scatter.js'
import { noteStale } from '../routing/stale-loop.js'
import { readCursorReply } from '../cursors/cursor-reply.js'
import type { BatchWriteExecutor, StatementAnswer } from './batch-write-executor.js'
import type { StatementTarget } from './statement-target.js'
import { writeErrorEntry } from './write-outcome.js'

type ShardedRoute = Extract<Route, { kind: 'sharded' }>
type FirstMatchTarget = Extract<StatementTarget, { kind: 'first-match' }>

/** What the shards made of the statement; 'stale': it has to be routed again. */
export async function writeFirstMatch(
  executor: BatchWriteExecutor,
  route: ShardedRoute,
  index: number,
  target: FirstMatchTarget,
): Promise<readonly StatementAnswer[] | 'stale'> {
  const statement = executor.command.statements[index]!
  const answers = target.search
    ? await searchAndWrite(executor, route, index, target.shards, statement)
    : await tryEach(executor, route, index, target.shards, withoutUpsert(statement))
  if (answers === 'stale') return 'stale'
  const missed = answers.every((answer) => answer.kind === 'done' && (answer.reply.n ?? 0) === 0)
  if (!missed || !target.upsert) return answers
  const answer = await upsertWhereItBelongs(executor, route, index, statement)
  return answer.kind === 'stale' ? 'stale' : [answer]
}

async function tryEach(
  executor: BatchWriteExecutor,
  route: ShardedRoute,
  index: number,
  shards: readonly string[],
  statement: Uint8Array,
): Promise<StatementAnswer[] | 'stale'> {
  const answers: StatementAnswer[] = []
  for (const shard of shards) {
    const answer = await executor.sendStatement(route, index, shard, statement)
    if (answer.kind === 'stale') return 'stale'
    answers.push(answer)
    if (answer.kind === 'failed' || (answer.reply.n ?? 0) > 0) break
  }
  return answers
}

async function searchAndWrite(
  executor: BatchWriteExecutor,
  route: ShardedRoute,
  index: number,
  shards: readonly string[],
  statement: Uint8Array,
): Promise<StatementAnswer[] | 'stale'> {
  const { host } = executor.invocation
  const search = searchCommand(executor, statement)
  for (let attempts = 0; attempts < host.limits.staleAttemptsMax; attempts++) {
    const found = await findFirst(executor, route, shards, search)
    if (found === 'stale') return 'stale'
    if (found === null) return []
    if (found instanceof CommandError) return [{ kind: 'failed', entry: writeErrorEntry(index, found) }]
    const answer = await executor.sendStatement(route, index, found.shard, narrowedTo(statement, found.id))
    if (answer.kind === 'stale') return 'stale'
    if (answer.kind === 'failed' || (answer.reply.n ?? 0) > 0) return [answer]
    // Somebody changed the document so that it matches no more: look for another.
  }
  host.limitReached('staleAttemptsMax', host.limits.staleAttemptsMax)
  return []
}

async function findFirst(
  executor: BatchWriteExecutor,
  route: ShardedRoute,
  shards: readonly string[],
  search: Uint8Array,
): Promise<{ readonly shard: string; readonly id: RawValue } | CommandError | 'stale' | null> {
  const { invocation, command } = executor
  for (const shard of shards) {
    const answer = await ask(invocation, shard, routedCommand(invocation, route, shard, search), true)
    if (answer.error !== null) {
      if (!answer.answered && answer.error.code === 50) throw answer.error
      if (!answer.answered || !isStaleCode(answer.error.code)) return answer.error
      noteStale(invocation, command.ns, route, answer.error)
      return 'stale'
    }
    const document = documentsOf(readCursorReply(answer.body, 'firstBatch').batch)[0]
    if (document !== undefined) return { shard, id: findField(document, '_id')! }
  }
  return null
}

function searchCommand({ invocation, command }: BatchWriteExecutor, statement: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(statement.length + 256)
    .string('find', command.ns.slice(invocation.db.length + 1))
    .document('filter', filterOf(statement))
  for (const name of ['collation', 'hint']) {
    const value = findField(statement, name)
    if (value !== undefined) writer.value(name, value)
  }
  const variables = invocation.args.value('let')
  if (variables !== undefined) writer.value('let', variables)
  writer.startDocument('projection').int32('_id', 1).end().int64('limit', 1n).bool('singleBatch', true)
  if (invocation.session !== null) writer.document('lsid', invocation.session.document)
  return writer.string('$db', invocation.db).finish()
}

/** The statement for this one document, if it still matches. */
function narrowedTo(statement: Uint8Array, id: RawValue): Uint8Array {
  const filter = filterOf(statement)
  const byId = new DocumentWriter(64).value('_id', id).finish()
  return rewritten(statement, new DocumentWriter(filter.length + 128).documents('$and', [byId, filter]).finish())
}

function withoutUpsert(statement: Uint8Array): Uint8Array {
  return findField(statement, 'upsert') === undefined ? statement : rewritten(statement, filterOf(statement))
}

function rewritten(statement: Uint8Array, filter: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(statement.length + 128)
  for (const it = new FieldIterator(statement); it.next();) {
    const name = it.name()
    if (name === 'q') writer.value('q', documentValue(filter))
    else if (name !== 'upsert') writer.value(name, it.value())
  }
  return writer.finish()
}

function filterOf(statement: Uint8Array): Uint8Array {
  const q = findField(statement, 'q')
  return q?.type === BsonType.object ? q.slice() : emptyDocument
}

/** No shard has a match: the shard that the new document belongs to inserts it. */
async function upsertWhereItBelongs(
  executor: BatchWriteExecutor,
  route: ShardedRoute,
  index: number,
  statement: Uint8Array,
): Promise<StatementAnswer> {
  try {
    return await executor.sendStatement(route, index, shardOfUpsert(executor, route.placement, statement), statement)
  } catch (error) {
    if (!(error instanceof CommandError) || error.code === 50) throw error
    return { kind: 'failed', entry: writeErrorEntry(index, error) }
  }
}

function shardOfUpsert({ evaluation }: BatchWriteExecutor, { shardKey, table }: CollectionPlacement, statement: Uint8Array): string {
  const filter = compileFilter(filterOf(statement), evaluation)
  const u = findField(statement, 'u')
  const arrayFilters = findField(statement, 'arrayFilters')
  const update = compileUpdate(
    u?.type === BsonType.array ? { pipeline: documentsOf(u) } : { document: u === undefined ? emptyDocument : u.slice() },
    arrayFilters === undefined ? {} : { arrayFilters: documentsOf(arrayFilters) },
    evaluation,
  )
  const base = upsertBase(filter)
  const key = shardKey.extract(update.apply(base, { isInsert: true, filter }) ?? base)
  if (typeof key === 'string') throw new CommandError('ShardKeyNotFound', 'Shard key cannot contain array values or array descendants.')
  return table.shardOf(key.keyString)
}

/**
 * The search and the write are one transaction. Server: write_without_shard_key_util.cpp,
 * cluster_query_without_shard_key_cmd.cpp.
 */
import {
  CommandError,
  documentsOf,
  DocumentWriter,
  ErrorCodes,
  findField,
  isEmptyDocument,
  type RawValue,
} from '@shardlab/bson'
import { sortKeyField, sortKeyOrder, withCollation, type MergeKey, type ModifyStatement } from '@shardlab/member'
import { parseSort, type EvaluationContext } from '@shardlab/query'
import type { MongosInvocation } from '../../host/mongos-host.js'
import { readCursorReply } from '../../cursors/cursor-reply.js'
import { routedCommand, type ShardedRoute } from '../../routing/route.js'
import { ask, type MemberAnswer } from '../../routing/scatter.js'
import type { WriteNamespace } from '../write-command.js'

export interface FoundDocument {
  readonly shard: string
  /** Null: the shard has executed the statement already, so the client has repeated it. */
  readonly id: RawValue | null
}

/**
 * The first document in the statement's order; without a sort, any match of the first shard with
 * one. Null: no match. An error: a shard's, possibly that the routing is stale.
 * @param stmtId of a retryable write; null: it is not retryable
 * @throws CommandError 50 when maxTimeMS is over; for an invalid sort
 */
export async function findFirst(
  { invocation, ns }: WriteNamespace,
  route: ShardedRoute,
  shards: readonly string[],
  statement: ModifyStatement,
  evaluation: EvaluationContext,
  stmtId: number | null,
): Promise<FoundDocument | CommandError | null> {
  const { sort } = statement
  const search = searchCommand(invocation, ns, statement)
  const stmtIds = stmtId === null ? null : [stmtId]
  const send = (shard: string) =>
    ask(invocation, shard, { ...routedCommand(invocation, route, shard, search), stmtIds }, true)
  // All shards take part, also those after a match: a repetition must not find another document.
  const answers = await invocation.host.context.all(shards.map(send))
  for (const answer of answers) {
    if (answer.error !== null) return failureOf(answer)
    if (findField(findField(answer.body, 'cursor')!.slice(), '$_wasStatementExecuted') !== undefined)
      return { shard: answer.member, id: null }
  }
  const { strings } = withCollation(evaluation, statement.collation, route.placement.defaultCollation)
  const order = sort === undefined || isEmptyDocument(sort) ? null : sortKeyOrder(parseSort(sort), strings)
  let first: (FoundDocument & { readonly key: MergeKey | null }) | null = null
  for (const { member, body } of answers) {
    const found = documentsOf(readCursorReply(body!, 'firstBatch').batch)[0]
    if (found === undefined || (first !== null && order === null)) continue
    const key = order === null ? null : order.keyOf(found)
    if (first === null || order!.isBefore(key!, first.key!))
      first = { shard: member, id: findField(found, '_id')!, key }
  }
  return first
}

function failureOf({ error, answered }: Extract<MemberAnswer, { answered: boolean }>): CommandError {
  if (!answered && error.code === ErrorCodes.MaxTimeMSExpired) throw error
  return error
}

function searchCommand({ args, db, session }: MongosInvocation, ns: string, statement: ModifyStatement): Uint8Array {
  const { filter, collation, hint, sort } = statement
  const writer = new DocumentWriter(filter.length + 256)
    .string('find', ns.slice(db.length + 1))
    .document('filter', filter)
  if (collation !== undefined) writer.document('collation', collation)
  if (typeof hint === 'string') writer.string('hint', hint)
  else if (hint !== undefined) writer.document('hint', hint)
  const variables = args.value('let')
  if (variables !== undefined) writer.value('let', variables)
  const sorted = sort !== undefined && !isEmptyDocument(sort)
  if (sorted) writer.document('sort', sort)
  writer.startDocument('projection').int32('_id', 1)
  if (sorted) writer.startDocument(sortKeyField).string('$meta', 'sortKey').end()
  writer.end().int64('limit', 1n).bool('singleBatch', true)
  if (session !== null) writer.document('lsid', session.document)
  return writer.string('$db', db).finish()
}

/** The filter still applies, because the statement may use what it matches. */
export function narrowedFilter(filter: Uint8Array, id: RawValue): Uint8Array {
  const byId = new DocumentWriter(64).value('_id', id).finish()
  return new DocumentWriter(filter.length + 128).documents('$and', [byId, filter]).finish()
}

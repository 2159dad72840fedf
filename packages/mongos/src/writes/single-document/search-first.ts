/**
 * Server: write_without_shard_key_util.cpp, cluster_query_without_shard_key_cmd.cpp; there the
 * search and the write are one transaction.
 */
import { CommandError, documentsOf, DocumentWriter, findField, isEmptyDocument, type RawValue } from '@shardlab/bson'
import { sortKeyField, sortKeyOrder, withCollation, type MergeKey, type ModifyStatement } from '@shardlab/member'
import { parseSort, type EvaluationContext } from '@shardlab/query'
import type { MongosInvocation } from '../../host/mongos-host.js'
import { readCursorReply } from '../../cursors/cursor-reply.js'
import { routedCommand, type ShardedRoute } from '../../routing/route.js'
import { ask, type MemberAnswer } from '../../routing/scatter.js'
import type { WriteNamespace } from '../write-command.js'

export interface FoundDocument {
  readonly shard: string
  readonly id: RawValue
}

/**
 * The first document in the statement's order; without a sort, any match of the first shard with
 * one. Null: no match. An error: a shard's, possibly that the routing is stale.
 * @throws CommandError 50 when maxTimeMS is over; for an invalid sort
 */
export async function findFirst(
  { invocation, ns }: WriteNamespace,
  route: ShardedRoute,
  shards: readonly string[],
  statement: ModifyStatement,
  evaluation: EvaluationContext,
): Promise<FoundDocument | CommandError | null> {
  const { sort } = statement
  const search = searchCommand(invocation, ns, statement)
  const send = (shard: string) => ask(invocation, shard, routedCommand(invocation, route, shard, search), true)
  if (sort === undefined || isEmptyDocument(sort)) {
    for (const shard of shards) {
      const found = firstDocument(await send(shard))
      if (found !== null) return found instanceof Uint8Array ? { shard, id: findField(found, '_id')! } : found
    }
    return null
  }
  const { strings } = withCollation(evaluation, statement.collation, route.placement.defaultCollation)
  const order = sortKeyOrder(parseSort(sort), strings)
  let first: (FoundDocument & { readonly key: MergeKey }) | null = null
  for (const answer of await invocation.host.context.all(shards.map(send))) {
    const found = firstDocument(answer)
    if (found === null) continue
    if (!(found instanceof Uint8Array)) return found
    const key = order.keyOf(found)
    if (first === null || order.isBefore(key, first.key))
      first = { shard: answer.member, id: findField(found, '_id')!, key }
  }
  return first
}

function firstDocument(answer: MemberAnswer): Uint8Array | CommandError | null {
  const { error } = answer
  if (error === null) return documentsOf(readCursorReply(answer.body, 'firstBatch').batch)[0] ?? null
  if (!answer.answered && error.code === 50) throw error
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

/** The document may have changed since it was found, so the filter still applies. */
export function narrowedFilter(filter: Uint8Array, id: RawValue): Uint8Array {
  const byId = new DocumentWriter(64).value('_id', id).finish()
  return new DocumentWriter(filter.length + 128).documents('$and', [byId, filter]).finish()
}

/** A shard can only reply to this filter from its history of retryable writes. */
export const matchesNothing = new DocumentWriter(64).startDocument('_id').startArray('$in').end().end().finish()

/**
 * An update in a transaction that gives a document a shard key value of another shard becomes a
 * delete and an insert in the same transaction. Server: document_shard_key_update_util.cpp,
 * updateShardKeyForDocument.
 */
import { noStatementId } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { splitNamespace } from '@shardlab/member'
import { commandErrorFrom, isStaleCode } from '../../remote/command-reply.js'
import type { RemoteCommand } from '../../remote/remote.js'
import { routedCommand, type ShardedRoute } from '../../routing/route.js'
import { ask } from '../../routing/scatter.js'
import { readShardWriteReply } from '../replies/shard-write-reply.js'
import type { WriteNamespace } from '../write-command.js'
import type { OwnershipChange } from './ownership-change.js'

/**
 * Null: the document has moved. An error: it was not moved, for example because its `_id` is taken,
 * or because the routing is stale.
 * @throws CommandError of the transaction, which is over
 */
export async function moveInTransaction(
  namespace: WriteNamespace,
  route: ShardedRoute,
  shard: string,
  { before, after }: OwnershipChange,
): Promise<CommandError | null> {
  const { shardKey, table } = route.placement
  const key = shardKey.extract(after, { missingIsNull: true })
  if (typeof key === 'string') throw new Error('a shard has moved a document without a shard key')
  if (before !== null) {
    const statement = new DocumentWriter(before.length + 64)
      .startDocument('q')
      .fields(shardKey.documentKey(before) ?? idOf(before))
      .end()
      .int32('limit', 1)
      .finish()
    const deleted = await send(namespace, route, shard, 'delete', 'deletes', statement)
    if (deleted instanceof CommandError) return deleted
    if (deleted !== 1)
      throw new CommandError(
        'WouldChangeOwningShardDeletedNoDocument',
        'When handling WouldChangeOwningShard error, the delete matched no documents and should not upsert',
      )
  }
  const inserted = await send(namespace, route, table.shardOf(key.keyString), 'insert', 'documents', after)
  return inserted instanceof CommandError ? inserted : null
}

const idOf = (document: Uint8Array): Uint8Array =>
  new DocumentWriter(64).value('_id', findField(document, '_id')!).finish()

/** @returns the number of changed documents, or the error of the write */
async function send(
  { invocation, ns }: WriteNamespace,
  route: ShardedRoute,
  shard: string,
  command: 'delete' | 'insert',
  argument: string,
  statement: Uint8Array,
): Promise<number | CommandError> {
  const [db, name] = splitNamespace(ns)
  const body = new DocumentWriter(128).string(command, name).string('$db', db).finish()
  const routed: RemoteCommand = routedCommand(invocation, route, shard, body, [[argument, [statement]]])
  // The shard that has the old document records the statement.
  const answer = await ask(invocation, shard, { ...routed, stmtIds: [noStatementId] }, false)
  if (answer.error !== null) {
    // The caller routes the statement again.
    if (answer.answered && isStaleCode(answer.error.code)) return answer.error
    throw answer.error
  }
  const { n, writeErrors } = readShardWriteReply(answer.body)
  const failed = writeErrors[0]
  return failed === undefined ? (n ?? 0) : commandErrorFrom(failed)
}

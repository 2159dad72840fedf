import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { CommandError, findField, sameBytes } from '@shardlab/bson'
import { checkDocument } from '@shardlab/node'
import type { DocumentMoveHost } from './document-move-host.js'

/**
 * Resolves when the hidden document is on the disk.
 * @throws CommandError 13388 StaleConfig, 11000 DuplicateKey, 121 DocumentValidationFailure; 366
 *   when another shard has become the owner of the document
 */
export async function prepareInsert(
  host: DocumentMoveHost,
  { attemptId, coordinator, ns, collectionUuid, document, shardVersion, session }: RequestOf<'shard.prepare-insert'>,
): Promise<ReplyOf<'shard.prepare-insert'>> {
  const { node, versions, documentMoves } = host
  const { preparedInserts } = documentMoves
  await node.context.reach('shard.document-move.preparing', { ns })
  for (;;) {
    const { ownership } = await versions.enter(ns, { shardVersion, databaseVersion: null })
    const collection = node.collection(ns)
    const key = ownership?.placement.shardKey.extract(document)
    const isOwn = typeof key === 'object' && ownership!.placement.table.shardOf(key.keyString) === node.context.address
    if (!isOwn || collection === undefined || !sameBytes(collection.uuid, collectionUuid))
      throw new CommandError(
        'WouldChangeOwningShardDeletedNoDocument',
        `the document does not belong to shard ${node.context.address}`,
      )
    checkDocument(node, collection, document, {})
    try {
      preparedInserts.prepare(
        { attemptId, coordinator, ns, collectionUuid, id: findField(document, '_id')!.detached(), session },
        document,
      )
      break
    } catch (error) {
      // The key may belong to a hidden document, whose move will be decided soon.
      const drained =
        error instanceof CommandError && error.code === 11000 ? preparedInserts.drained(collectionUuid) : undefined
      if (drained === undefined) throw error
      await drained
    }
  }
  documentMoves.arm()
  await node.flushToMajority()
  await node.context.reach('shard.document-move.insert-prepared', { ns })
  return { error: null }
}

export async function decideInsert(
  { node, documentMoves }: DocumentMoveHost,
  { attemptId, committed, clusterTime }: RequestOf<'shard.decide-insert'>,
): Promise<ReplyOf<'shard.decide-insert'>> {
  const detail = { ns: documentMoves.preparedInserts.get(attemptId)?.ns, committed }
  await node.context.reach('shard.document-move.deciding', detail)
  node.clock.advance(clusterTime)
  documentMoves.preparedInserts.decide(attemptId, committed)
  await node.flushToMajority()
  await node.context.reach('shard.document-move.insert-decided', detail)
  return { error: null, clusterTime: node.clock.time }
}

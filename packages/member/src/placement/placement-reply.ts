import { attachedObject, Attachment, type ReplyOf } from '@shardlab/actor'
import { applyPlacementAnswer, TableUpdate, type CollectionPlacement } from '@shardlab/sharding'

/**
 * null: the collection is not in the catalog
 * @param known the placement whose version the request sent as `since`
 * @throws CommandError 117 ConflictingOperationInProgress: the chunks leave a gap or overlap
 */
export function applyPlacementReply(
  ns: string,
  known: CollectionPlacement | null,
  { collection, chunks, full }: ReplyOf<'config.get-collection'>,
): CollectionPlacement | null {
  const given = chunks instanceof Attachment ? attachedObject(chunks, TableUpdate) : chunks
  return applyPlacementAnswer(ns, known, { collection, chunks: given, full })
}

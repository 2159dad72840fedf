/**
 * Documents before changes, for change streams. Every member derives them from the entries of its
 * log. Server: change_stream_pre_images_collection_manager.cpp.
 */
import { DocumentWriter, findField } from '@shardlab/bson'
import type { LogEntry } from '../log/log-entry.js'
import { MemoryCollection } from './memory-collection.js'

export const preImagesNs = 'config.system.preimages'

/** The same on every member. */
const preImagesUuid = new Uint8Array([0x70, 0x72, 0x65, 0x69, 0x6d, 0x61, 0x40, 0x67, 0x80, 0x65, 0x73, 0, 0, 0, 0, 1])

const options = new DocumentWriter(64)
  .startDocument('clusteredIndex')
  .int32('v', 2)
  .startDocument('key')
  .int32('_id', 1)
  .end()
  .string('name', '_id_')
  .bool('unique', true)
  .end()
  .finish()

/** @param uuid of the changed collection */
export function recordPreImage(
  collections: Map<string, MemoryCollection>,
  { ts, wallMs, applyOpsIndex = 0 }: LogEntry,
  uuid: Uint8Array,
  document: Uint8Array,
): void {
  let images = collections.get(preImagesNs)
  if (images === undefined) {
    images = MemoryCollection.create(preImagesNs, preImagesUuid, options, wallMs)
    collections.set(preImagesNs, images)
  }
  images.insert(
    new DocumentWriter(document.length + 128)
      .startDocument('_id')
      .uuid('nsUUID', uuid)
      .timestamp('ts', ts[0], ts[1])
      .int64('applyOpsIndex', applyOpsIndex)
      .end()
      .date('operationTime', wallMs)
      .document('preImage', document)
      .finish(),
  )
}

/** Deletes the oldest ones. @param isExpired of a stored document */
export function removePreImages(images: MemoryCollection | undefined, isExpired: (image: Uint8Array) => boolean): void {
  if (images === undefined) return
  const expired = [...images.scan()].filter(({ document }) => isExpired(document))
  for (const { document } of expired) images.delete(findField(document, '_id')!)
}

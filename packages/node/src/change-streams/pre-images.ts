/**
 * Reads and expires documents before changes, which the engine records in
 * `config.system.preimages`. Server: change_stream_expired_pre_image_remover.cpp.
 */
import { compareTimestamps, timestampPair, type TimestampPair } from '@shardlab/actor'
import { documentValue, DocumentWriter, findField, findPath } from '@shardlab/bson'
import { preImagesNs } from '@shardlab/storage'
import type { NodeHost } from '../host/node-host.js'
import { storedClusterParameter } from '../parameters/cluster-parameter.js'

/** Null: none is stored, or it has expired. @param index of the operation in its transaction */
export function preImageOf(host: NodeHost, uuid: Uint8Array, ts: TimestampPair, index: number): Uint8Array | null {
  const images = host.engine.collection(preImagesNs)
  if (images === undefined) return null
  const id = new DocumentWriter(64)
    .uuid('nsUUID', uuid)
    .timestamp('ts', ...ts)
    .int64('applyOpsIndex', index)
    .finish()
  const found = images.findById(documentValue(id))?.document
  return found === undefined || isExpired(host, found) ? null : findField(found, 'preImage')!.slice()
}

/** Now and then; until then expired ones are not shown. */
export function removeExpiredPreImages(host: NodeHost): void {
  if (host.engine.collection(preImagesNs) !== undefined) host.engine.removePreImages((image) => isExpired(host, image))
}

/** After expireAfterSeconds, or with its entry in the oplog. */
function isExpired(host: NodeHost, image: Uint8Array): boolean {
  const parameter = storedClusterParameter(host, 'changeStreamOptions')
  const seconds = parameter === undefined ? undefined : findPath(parameter, 'preAndPostImages.expireAfterSeconds')
  if (seconds?.isNumber() === true)
    return Number(findField(image, 'operationTime')!.asBigInt()) + 1000 * seconds.asNumber() < host.context.now()
  const { first } = host.oplog
  return first !== null && compareTimestamps(timestampPair(findPath(image, '_id.ts')!), first.optime.ts) < 0
}

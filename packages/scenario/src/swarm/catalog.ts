import type { Document } from '@shardlab/bson'

/** Filter for config.chunks: by namespace in versions without timestamps, otherwise by UUID. */
export function chunksOf(collection: Document): Document {
  return collection['timestamp'] === undefined ? { ns: collection['_id'] } : { uuid: collection['uuid'] }
}

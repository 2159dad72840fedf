import type { Document } from '@shardlab/bson'

/**
 * Which documents of config.chunks are those of a collection: by its name, where the version has no
 * timestamps, or by its UUID.
 */
export function chunksOf(collection: Document): Document {
  return collection['timestamp'] === undefined ? { ns: collection['_id'] } : { uuid: collection['uuid'] }
}

import { BsonType, findField, readUint32 } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'

/** A chunk as config.chunks has it: a range of the key space on one shard. */
export interface Chunk {
  readonly min: Uint8Array
  readonly max: Uint8Array
  readonly shard: string
  readonly major: number
  readonly minor: number
}

/** Reads the parts of a config.chunks document that routing needs. Throws when one is missing: the catalog is ours. */
export function parseChunk(document: Uint8Array): Chunk {
  const min = findField(document, 'min')
  const max = findField(document, 'max')
  const shard = findField(document, 'shard')
  const lastmod = findField(document, 'lastmod')
  if (min === undefined || max === undefined || shard === undefined || lastmod?.type !== BsonType.timestamp) {
    throw new Error('a config.chunks document lacks min, max, shard or lastmod')
  }
  return {
    min: min.slice(),
    max: max.slice(),
    shard: shard.asString(),
    major: readUint32(lastmod.bytes, lastmod.start + 4),
    minor: readUint32(lastmod.bytes, lastmod.start),
  }
}

/** `[{ a: 1 }, { a: 2 })`, as the server prints ranges of keys. */
export function formatRange(min: Uint8Array, max: Uint8Array): string {
  return `[${formatDocument(min)}, ${formatDocument(max)})`
}

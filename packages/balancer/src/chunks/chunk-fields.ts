/**
 * Reads all fields that the balancer needs of a chunk in one pass: there may be a million chunks.
 */
import { BsonType, FieldFinder, readName, readUint32 } from '@shardlab/bson'

export interface ChunkFields {
  readonly bytes: Uint8Array
  /** Offset of the lower bound's document. */
  readonly minAt: number
  readonly maxAt: number
  readonly shard: string
  readonly major: number
  readonly minor: number
  readonly isJumbo: boolean
  /** Null: not measured. */
  readonly estimatedBytes: number | null
}

const field = { min: 0, max: 1, shard: 2, lastmod: 3, jumbo: 4, estimatedDataSizeBytes: 5 } as const
const finder = new FieldFinder(Object.keys(field))

/** @throws Error when a field is missing: the catalog returns only complete documents */
export function readChunk(bytes: Uint8Array): ChunkFields {
  finder.locate(bytes)
  if (
    finder.typeOf(field.min) !== BsonType.object ||
    finder.typeOf(field.max) !== BsonType.object ||
    finder.typeOf(field.shard) !== BsonType.string ||
    finder.typeOf(field.lastmod) !== BsonType.timestamp
  )
    throw new Error('a config.chunks document lacks min, max, shard or lastmod')
  const lastmodAt = finder.startOf(field.lastmod)
  const size = finder.valueOf(field.estimatedDataSizeBytes)
  return {
    bytes,
    minAt: finder.startOf(field.min),
    maxAt: finder.startOf(field.max),
    shard: readName(bytes, finder.startOf(field.shard) + 4, finder.endOf(field.shard) - 1),
    major: readUint32(bytes, lastmodAt + 4),
    minor: readUint32(bytes, lastmodAt),
    isJumbo: finder.valueOf(field.jumbo)?.isTruthy() === true,
    estimatedBytes: size?.isNumber() === true ? size.asNumber() : null,
  }
}

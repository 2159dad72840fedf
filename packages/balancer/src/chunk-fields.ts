/** What the balancer reads of a config.chunks document, in one pass: there may be a million. */
import { BsonType, FieldIterator, readName, readUint32 } from '@shardlab/bson'

export interface ChunkFields {
  readonly bytes: Uint8Array
  /** Where the document of the lower bound begins. */
  readonly minAt: number
  readonly maxAt: number
  readonly shard: string
  readonly major: number
  readonly minor: number
  readonly isJumbo: boolean
  /** Null: it has not been measured. */
  readonly estimatedBytes: number | null
}

/** @throws Error when a part is missing: the catalog gives away only documents that have all of them */
export function readChunk(bytes: Uint8Array): ChunkFields {
  let minAt = -1
  let maxAt = -1
  let shard: string | null = null
  let lastmodAt = -1
  let isJumbo: boolean | null = null
  let estimatedBytes: number | null = null
  for (const it = new FieldIterator(bytes); it.next();) {
    const { type, valueStart } = it
    switch (it.name()) {
      case 'min':
        if (minAt < 0 && type === BsonType.object) minAt = valueStart
        break
      case 'max':
        if (maxAt < 0 && type === BsonType.object) maxAt = valueStart
        break
      case 'shard':
        if (type === BsonType.string) shard ??= readName(bytes, valueStart + 4, it.valueEnd - 1)
        break
      case 'lastmod':
        if (lastmodAt < 0 && type === BsonType.timestamp) lastmodAt = valueStart
        break
      case 'jumbo':
        isJumbo ??= it.value().isTruthy()
        break
      case 'estimatedDataSizeBytes':
        if (it.value().isNumber()) estimatedBytes ??= it.value().asNumber()
        break
      default:
    }
  }
  if (minAt < 0 || maxAt < 0 || shard === null || lastmodAt < 0)
    throw new Error('a config.chunks document lacks min, max, shard or lastmod')
  const [major, minor] = [readUint32(bytes, lastmodAt + 4), readUint32(bytes, lastmodAt)]
  return { bytes, minAt, maxAt, shard, major, minor, isJumbo: isJumbo === true, estimatedBytes }
}

import { BsonType, FieldIterator, readUint32 } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'

/** A chunk as config.chunks has it: a range of the key space on one shard. */
export interface Chunk {
  readonly min: Uint8Array
  readonly max: Uint8Array
  readonly shard: string
  readonly major: number
  readonly minor: number
}

/** What routing needs of a config.chunks document, its bounds where they lie in it. */
export interface ChunkFields {
  readonly minStart: number
  readonly minEnd: number
  readonly maxStart: number
  readonly maxEnd: number
  readonly shard: string
  readonly major: number
  readonly minor: number
}

/** Reads them in one go through the document: of fields of one name the first counts. Throws when one is missing: the catalog is ours. */
export function readChunkFields(document: Uint8Array): ChunkFields {
  let [minStart, minEnd, maxStart, maxEnd, versionAt] = [-1, -1, -1, -1, -1]
  let shard: string | null = null
  for (const it = new FieldIterator(document); it.next() && !(minStart >= 0 && maxStart >= 0 && shard !== null && versionAt >= 0);) {
    const { nameStart, valueStart } = it
    switch (valueStart - nameStart - 1) {
      case 3:
        if (minStart < 0 && isNamed(document, nameStart, 'min')) [minStart, minEnd] = [valueStart, it.valueEnd]
        else if (maxStart < 0 && isNamed(document, nameStart, 'max')) [maxStart, maxEnd] = [valueStart, it.valueEnd]
        break
      case 5:
        if (shard === null && isNamed(document, nameStart, 'shard')) shard = it.value().asName()
        break
      case 7:
        if (versionAt >= 0 || !isNamed(document, nameStart, 'lastmod')) break
        if (it.type !== BsonType.timestamp) throw incomplete()
        versionAt = valueStart
        break
      default:
    }
  }
  if (minStart < 0 || maxStart < 0 || shard === null || versionAt < 0) throw incomplete()
  return { minStart, minEnd, maxStart, maxEnd, shard, major: readUint32(document, versionAt + 4), minor: readUint32(document, versionAt) }
}

/** Names are compared where they lie: there may be a million documents. */
function isNamed(bytes: Uint8Array, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name.charCodeAt(i)) return false
  return true
}

function incomplete(): Error {
  return new Error('a config.chunks document lacks min, max, shard or lastmod')
}

/** Reads the parts of a config.chunks document that routing needs. Throws when one is missing: the catalog is ours. */
export function parseChunk(document: Uint8Array): Chunk {
  const { minStart, minEnd, maxStart, maxEnd, shard, major, minor } = readChunkFields(document)
  return { min: document.subarray(minStart, minEnd), max: document.subarray(maxStart, maxEnd), shard, major, minor }
}

/** `[{ a: 1 }, { a: 2 })`, as the server prints ranges of keys. */
export function formatRange(min: Uint8Array, max: Uint8Array): string {
  return `[${formatDocument(min)}, ${formatDocument(max)})`
}

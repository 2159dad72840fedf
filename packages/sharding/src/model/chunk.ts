import { BsonType, FieldFinder, RawValue, readUint32 } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'

export interface Chunk {
  readonly min: Uint8Array
  readonly max: Uint8Array
  readonly shard: string
  readonly major: number
  readonly minor: number
}

/** The fields of a config.chunks document that routing needs; bounds as offsets in the document. */
export interface ChunkFields {
  readonly minStart: number
  readonly minEnd: number
  readonly maxStart: number
  readonly maxEnd: number
  readonly shard: string
  readonly major: number
  readonly minor: number
}

const field = { min: 0, max: 1, shard: 2, lastmod: 3 } as const
const finder = new FieldFinder(Object.keys(field))

/**
 * Of repeated fields the first counts.
 * @throws Error if a field is missing
 */
export function readChunkFields(document: Uint8Array): ChunkFields {
  if (finder.locate(document) > 0 || finder.typeOf(field.lastmod) !== BsonType.timestamp) throw incomplete()
  const shard = new RawValue(
    finder.typeOf(field.shard),
    document,
    finder.startOf(field.shard),
    finder.endOf(field.shard),
  ).asName()
  const versionAt = finder.startOf(field.lastmod)
  return {
    minStart: finder.startOf(field.min),
    minEnd: finder.endOf(field.min),
    maxStart: finder.startOf(field.max),
    maxEnd: finder.endOf(field.max),
    shard,
    major: readUint32(document, versionAt + 4),
    minor: readUint32(document, versionAt),
  }
}

function incomplete(): Error {
  return new Error('a config.chunks document lacks min, max, shard or lastmod')
}

/** @throws Error if a field that routing needs is missing from this config.chunks document */
export function parseChunk(document: Uint8Array): Chunk {
  const { minStart, minEnd, maxStart, maxEnd, shard, major, minor } = readChunkFields(document)
  return { min: document.subarray(minStart, minEnd), max: document.subarray(maxStart, maxEnd), shard, major, minor }
}

/** `[{ a: 1 }, { a: 2 })`, as the server prints ranges of keys. */
export function formatRange(min: Uint8Array, max: Uint8Array): string {
  return `[${formatDocument(min)}, ${formatDocument(max)})`
}

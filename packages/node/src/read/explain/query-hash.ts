/**
 * A hash of a query's shape, without its values: queries with the same hash share a plan on a
 * server. Server: canonical_query_encoder.cpp, whose hashes are different numbers.
 */
import { queryShapeText, type Collection, type QueryShape } from '@shardlab/storage'

export interface ShapeWithCollation extends QueryShape {
  readonly collation: Uint8Array | null
}

/** Eight hexadecimal digits. */
export function queryHash(shape: ShapeWithCollation): string {
  return hash(textOf(shape))
}

export function planCacheKey(shape: ShapeWithCollation, collection: Collection): string {
  return hash(
    `${textOf(shape)}|${collection
      .indexes()
      .map(({ name }) => name)
      .join()}`,
  )
}

function textOf(shape: ShapeWithCollation): string {
  return `${queryShapeText(shape)}|${shape.collation === null ? '' : Buffer.from(shape.collation).toString('latin1')}`
}

/** FNV-1a with 32 bits. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0
  return value.toString(16).toUpperCase().padStart(8, '0')
}

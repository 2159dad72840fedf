/**
 * A hash of a query's shape, without its values: queries with the same hash share a plan on a
 * server. Server: canonical_query_encoder.cpp, whose hashes are different numbers.
 */
import { BsonType, FieldIterator, type RawValue } from '@shardlab/bson'
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

/**
 * For query settings: 64 hexadecimal digits.
 * @param shape of a query, or the stages of a pipeline
 */
export function queryShapeHash(command: string, ns: string, shape: ShapeWithCollation | readonly Uint8Array[]): string {
  const text = `${command} ${ns} ${isStages(shape) ? shape.map((stage) => shapeOfFields(new FieldIterator(stage))).join() : textOf(shape)}`
  return Array.from({ length: 8 }, (_, i) => hash(`${i}${text}`)).join('')
}

function isStages(shape: ShapeWithCollation | readonly Uint8Array[]): shape is readonly Uint8Array[] {
  return Array.isArray(shape)
}

/** Names, operators and paths; other values are replaced by their type. */
function shapeOfFields(it: FieldIterator): string {
  const parts: string[] = []
  while (it.next()) parts.push(`${it.name()}:${shapeOfValue(it.value())}`)
  return `{${parts.join()}}`
}

function shapeOfValue(value: RawValue): string {
  if (value.type === BsonType.object || value.type === BsonType.array)
    return shapeOfFields(new FieldIterator(value.bytes, value.start))
  if (value.type !== BsonType.string) return `?${value.type}`
  const text = value.asString()
  return text.startsWith('$') ? text : '?'
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

/**
 * Literals of a query shape: their types instead of their values. Server:
 * serialization_options.cpp.
 */
import { BsonType, elementsOf, type RawValue } from '@shardlab/bson'

const texts: Readonly<Record<number, string>> = {
  [BsonType.double]: '?number',
  [BsonType.string]: '?string',
  [BsonType.object]: '?object',
  [BsonType.array]: '?array',
  [BsonType.binary]: '?binData',
  [BsonType.undefined]: '?undefined',
  [BsonType.objectId]: '?objectId',
  [BsonType.bool]: '?bool',
  [BsonType.date]: '?date',
  [BsonType.null]: '?null',
  [BsonType.regex]: '?regex',
  [BsonType.dbPointer]: '?dbPointer',
  [BsonType.code]: '?javascript',
  [BsonType.symbol]: '?string',
  [BsonType.codeWithScope]: '?javascriptWithScope',
  [BsonType.int32]: '?number',
  [BsonType.timestamp]: '?timestamp',
  [BsonType.int64]: '?number',
  [BsonType.decimal128]: '?number',
  [BsonType.minKey]: '?minKey',
  [BsonType.maxKey]: '?maxKey',
}

export function literalText(value: RawValue): string {
  return value.type === BsonType.array ? listText(elementsOf(value)) : texts[value.type]!
}

/** Elements of one BSON type share it; integers and doubles do not, as on the server. */
export function listText(values: readonly RawValue[]): string {
  const [first] = values
  if (first === undefined) return '[]'
  return values.every(({ type }) => type === first.type) ? `?array<${texts[first.type]!}>` : '?array<>'
}

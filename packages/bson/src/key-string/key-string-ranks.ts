/** Manual page: reference/bson-type-comparison-order. */
import { BsonType } from '../values/types.js'

/** The rank byte of each BSON type byte; 0: not a type. */
export const ranks = new Uint8Array(256)
const ascendingRanks: readonly (readonly number[])[] = [
  [BsonType.minKey],
  [BsonType.undefined],
  [BsonType.null],
  [BsonType.int32, BsonType.double, BsonType.int64, BsonType.decimal128],
  [BsonType.string, BsonType.symbol],
  [BsonType.object],
  [BsonType.array],
  [BsonType.binary],
  [BsonType.objectId],
  [BsonType.bool],
  [BsonType.date],
  [BsonType.timestamp],
  [BsonType.regex],
  [BsonType.dbPointer],
  [BsonType.code],
  [BsonType.codeWithScope],
]
ascendingRanks.forEach((types, i) => {
  for (const type of types) ranks[type] = 0x10 + i * 8
})
ranks[BsonType.maxKey] = 0xe0

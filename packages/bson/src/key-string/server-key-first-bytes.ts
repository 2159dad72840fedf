/** The first bytes of values in the server's KeyString. Server: key_string.cpp, `CType`. */
import { BsonType } from '../values/types.js'

/** Of a value by its BSON type. Those of numbers depend on the number, too. */
export const firstBytes: Readonly<Record<number, number>> = {
  [BsonType.minKey]: 10,
  [BsonType.undefined]: 15,
  [BsonType.null]: 20,
  [BsonType.int32]: 30,
  [BsonType.int64]: 30,
  [BsonType.double]: 30,
  [BsonType.decimal128]: 30,
  [BsonType.string]: 60,
  [BsonType.symbol]: 60,
  [BsonType.object]: 70,
  [BsonType.array]: 80,
  [BsonType.binary]: 90,
  [BsonType.objectId]: 100,
  [BsonType.bool]: 110,
  [BsonType.date]: 120,
  [BsonType.timestamp]: 130,
  [BsonType.regex]: 140,
  [BsonType.dbPointer]: 150,
  [BsonType.code]: 160,
  [BsonType.codeWithScope]: 170,
  [BsonType.maxKey]: 240,
}

export const nan = 30
export const negativeLarge = 31
export const negative8Bytes = 32
export const negative1Byte = 39
export const negativeSmall = 40
export const zero = 41
export const positiveSmall = 42
export const positive1Byte = 43
export const positive8Bytes = 50
export const positiveLarge = 51

export const endOfKey = 4
/** What follows the first byte of an infinite number, as an integer. */
export const infinity = 0xffff_ffff_ffff_ffffn

/** Tables by type byte: walks look up each field, and a `switch` compares types one by one. */
import { BsonType } from './types.js'

/** -1: the length varies. */
export const fixedValueBytes = new Int8Array(256).fill(-1)
fixedValueBytes[BsonType.double] = 8
fixedValueBytes[BsonType.undefined] = 0
fixedValueBytes[BsonType.objectId] = 12
fixedValueBytes[BsonType.bool] = 1
fixedValueBytes[BsonType.date] = 8
fixedValueBytes[BsonType.null] = 0
fixedValueBytes[BsonType.int32] = 4
fixedValueBytes[BsonType.timestamp] = 8
fixedValueBytes[BsonType.int64] = 8
fixedValueBytes[BsonType.decimal128] = 16
fixedValueBytes[BsonType.minKey] = 0
fixedValueBytes[BsonType.maxKey] = 0

/**
 * For types whose values begin with an int32 length: the bytes that this length does not count. -1:
 * the type has no length.
 */
export const lengthHeaderBytes = new Int8Array(256).fill(-1)
lengthHeaderBytes[BsonType.string] = 4
lengthHeaderBytes[BsonType.code] = 4
lengthHeaderBytes[BsonType.symbol] = 4
lengthHeaderBytes[BsonType.object] = 0
lengthHeaderBytes[BsonType.array] = 0
lengthHeaderBytes[BsonType.codeWithScope] = 0
lengthHeaderBytes[BsonType.binary] = 5
lengthHeaderBytes[BsonType.dbPointer] = 16

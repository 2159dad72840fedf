/** How long values are, by their type byte: whoever walks a document asks for each of its fields, and a `switch` compares one type after the other. */
import { BsonType } from './types.js'

/** Bytes of the values of a type; -1: they differ. */
export const sizes = new Int8Array(256).fill(-1)
sizes[BsonType.double] = 8
sizes[BsonType.undefined] = 0
sizes[BsonType.objectId] = 12
sizes[BsonType.bool] = 1
sizes[BsonType.date] = 8
sizes[BsonType.null] = 0
sizes[BsonType.int32] = 4
sizes[BsonType.timestamp] = 8
sizes[BsonType.int64] = 8
sizes[BsonType.decimal128] = 16
sizes[BsonType.minKey] = 0
sizes[BsonType.maxKey] = 0

/** Bytes of a value that its length, an int32 at its beginning, does not count; -1: it has none. */
export const headers = new Int8Array(256).fill(-1)
headers[BsonType.string] = 4
headers[BsonType.code] = 4
headers[BsonType.symbol] = 4
headers[BsonType.object] = 0
headers[BsonType.array] = 0
headers[BsonType.codeWithScope] = 0
headers[BsonType.binary] = 5
headers[BsonType.dbPointer] = 16

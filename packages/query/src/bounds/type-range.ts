/** Server: appendMinForType, appendMaxForType. */
import {
  BsonType,
  boolValue,
  doubleValue,
  emptyDocument,
  emptyDocumentValue,
  maxKeyValue,
  minKeyValue,
  nullValue,
  RawValue,
  stringValue,
  undefinedValue,
} from '@shardlab/bson'
import type { Interval } from './interval.js'

const emptyString = stringValue('')
const emptyArray = new RawValue(BsonType.array, emptyDocument, 0, 5)
const emptyBinary = fixed(BsonType.binary, [0, 0, 0, 0, 0])
const lowObjectId = fixed(BsonType.objectId, new Array<number>(12).fill(0))
const highObjectId = fixed(BsonType.objectId, new Array<number>(12).fill(255))
const lowDate = fixed(BsonType.date, [0, 0, 0, 0, 0, 0, 0, 0x80])
const highDate = fixed(BsonType.date, [255, 255, 255, 255, 255, 255, 255, 0x7f])
const lowTimestamp = fixed(BsonType.timestamp, [0, 0, 0, 0, 0, 0, 0, 0])
const highTimestamp = fixed(BsonType.timestamp, new Array<number>(8).fill(255))
const emptyRegex = fixed(BsonType.regex, [0, 0])
const lowDbPointer = fixed(BsonType.dbPointer, [1, 0, 0, 0, 0, ...new Array<number>(12).fill(0)])
const emptyCode = fixed(BsonType.code, [1, 0, 0, 0, 0])
const emptyCodeWithScope = fixed(BsonType.codeWithScope, [14, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0])

function fixed(type: number, bytes: readonly number[]): RawValue {
  return new RawValue(type, new Uint8Array(bytes), 0, bytes.length)
}

function closed(low: RawValue, high: RawValue): Interval {
  return { low, lowInclusive: true, high, highInclusive: true }
}

/** `next`, the first value of the next bracket, is excluded. */
function below(low: RawValue, next: RawValue): Interval {
  return { low, lowInclusive: true, high: next, highInclusive: false }
}

/** All values of the same canonical type; NaN is a number. */
export function typeRange(type: number): Interval {
  switch (type) {
    case BsonType.minKey:
      return closed(minKeyValue, minKeyValue)
    case BsonType.undefined:
      return closed(undefinedValue, undefinedValue)
    case BsonType.null:
      return closed(nullValue, nullValue)
    case BsonType.double:
    case BsonType.int32:
    case BsonType.int64:
    case BsonType.decimal128:
      return closed(doubleValue(Number.NaN), doubleValue(Infinity))
    case BsonType.string:
    case BsonType.symbol:
      return below(emptyString, emptyDocumentValue)
    case BsonType.object:
      return below(emptyDocumentValue, emptyArray)
    case BsonType.array:
      return below(emptyArray, emptyBinary)
    case BsonType.binary:
      return below(emptyBinary, lowObjectId)
    case BsonType.objectId:
      return closed(lowObjectId, highObjectId)
    case BsonType.bool:
      return closed(boolValue(false), boolValue(true))
    case BsonType.date:
      return closed(lowDate, highDate)
    case BsonType.timestamp:
      return closed(lowTimestamp, highTimestamp)
    case BsonType.regex:
      return below(emptyRegex, lowDbPointer)
    case BsonType.dbPointer:
      return below(lowDbPointer, emptyCode)
    case BsonType.code:
      return below(emptyCode, emptyCodeWithScope)
    case BsonType.codeWithScope:
      return below(emptyCodeWithScope, maxKeyValue)
    default:
      return closed(maxKeyValue, maxKeyValue)
  }
}

/** The start of one-sided ranges of numbers. NaN, which sorts below it, is not in them. */
export const lowestNumber = doubleValue(-Infinity)
